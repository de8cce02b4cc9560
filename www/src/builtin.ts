/** The server that comes with the page: Rust in a web worker, no network. */

/** Starts the worker and gives the port to connect to, and the way to end it. */
export function startBuiltin(): { port: MessagePort; stop: () => void } {
  const worker = new Worker(new URL("./builtin-worker.ts", import.meta.url), { type: "module", name: "built-in server" });
  const { port1, port2 } = new MessageChannel();
  worker.postMessage({ port: port2 }, [port2]);
  return { port: port1, stop: () => worker.terminate() };
}
