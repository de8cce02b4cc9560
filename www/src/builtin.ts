/** The server that comes with the page: Rust in a web worker, no network. */

/** Starts the worker. It is listening from the first moment on, and answers when its module is there. */
export function startBuiltin(): Worker {
  return new Worker(new URL("./builtin-worker.ts", import.meta.url), { type: "module", name: "built-in server" });
}
