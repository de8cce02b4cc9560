// A web worker that serves every port it is sent.
import { imports, serve, start } from "./edge.glue.js";

const ready = WebAssembly.instantiateStreaming(fetch(new URL("./edge.wasm", import.meta.url)), imports())
  .then(({ instance }) => start(instance));

addEventListener("message", async ({ ports: [port] }) => {
  await ready;
  if (port) serve(port);
});
