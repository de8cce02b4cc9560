// A Rust client in this page.
import * as glue from "/rust/page-client.glue.js";

/**
 * Runs tests/page-client against the server at `url`; its slow tool is called twice, and the second time dropped at
 * the first progress.
 */
export async function exerciseRust({ url, quick, slow, steps }) {
  const { instance, module } = await WebAssembly.instantiateStreaming(fetch("/rust/page-client.wasm"), glue.imports());
  glue.start(instance, module);
  const progress = [];
  let enough;
  const dropped = new Promise((resolve) => (enough = resolve));
  const outcome = await glue.exercise(
    { url, quick, slow },
    (step) => {
      progress.push({ step, at: performance.now() });
      if (progress.length > steps) enough();
    },
    dropped,
  );
  return { ...outcome, progress };
}
