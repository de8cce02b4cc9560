/** Runs the built-in server on every port that the page sends. */
import { imports, serve, start } from "workbench-server/workbench-server.glue.js";
import address from "workbench-server/workbench-server.wasm?url";

const ready = WebAssembly.instantiateStreaming(fetch(address), imports()).then(({ instance }) => start(instance));

addEventListener("message", async ({ ports: [port] }: MessageEvent) => {
  if (!port) return;
  await ready;
  serve(port);
});
