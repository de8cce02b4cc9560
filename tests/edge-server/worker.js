// A web worker that serves every port it is sent.
import { imports, serve, start } from "./worker.glue.js";

const ready = WebAssembly.instantiateStreaming(fetch(new URL("./worker.wasm", import.meta.url)), imports())
  .then(({ instance }) => start(instance));

addEventListener("message", async ({ ports: [port] }) => {
  await ready;
  if (port) serve(port);
});
