// Waiting by looking, and ending what was started.
import { setTimeout as delay } from "node:timers/promises";

/** Polls `probe` until it gives something truthy, and returns that. */
export async function until(what, probe, { timeout = 15_000, every = 20 } = {}) {
  const end = performance.now() + timeout;
  for (;;) {
    const value = await probe();
    if (value) return value;
    if (performance.now() > end) throw new Error(`waited ${timeout} ms in vain: ${what}`);
    await delay(every);
  }
}

/** Makes sure that a child does not outlive this program, however that ends. */
export function bound(child) {
  process.once("exit", () => child.kill("SIGKILL"));
  return child;
}

/** Ends a child: politely first, then for good. */
export async function stopped(child, exit) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  const gone = await Promise.race([exit.then(() => true), delay(2_000, false, { ref: false })]);
  if (!gone) {
    child.kill("SIGKILL");
    await exit;
  }
}
