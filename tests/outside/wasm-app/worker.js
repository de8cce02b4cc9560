import init, { serve } from "./pkg/adder.js";

const ready = init();
addEventListener("message", async ({ ports: [port] }) => {
  await ready;
  serve(port);
});
