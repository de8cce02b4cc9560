// Runs named checks one after another and counts them.
import { performance } from "node:perf_hooks";

/** A report that prints each check as it ends. */
export function createReport() {
  let passed = 0;
  let failed = 0;
  return {
    /** Runs one check; a thrown error is a failure. Returns what the check returned. */
    async check(name, body) {
      const start = performance.now();
      const time = () => `${((performance.now() - start) / 1000).toFixed(2)} s`;
      try {
        const value = await body();
        passed += 1;
        console.log(`ok ${name} (${time()})`);
        return value;
      } catch (error) {
        failed += 1;
        console.log(`not ok ${name} (${time()})`);
        console.log(indent(error instanceof Error ? (error.stack ?? error.message) : String(error)));
        return undefined;
      }
    },
    /** Prints the last line and gives the exit code. */
    finish() {
      console.log(`${passed} passed, ${failed} failed`);
      return failed === 0 && passed > 0 ? 0 : 1;
    },
  };
}

function indent(text) {
  return text.replace(/^/gm, "    ");
}
