// Runs named checks one after another and counts them.
import { performance } from "node:perf_hooks";

/** A report that prints each check as it ends. */
export function createReport() {
  let passed = 0;
  let failed = 0;
  return {
    /** Runs one check; a thrown error is a failure, and text it returns is printed as a detail. */
    async check(name, body) {
      const start = performance.now();
      const time = () => `${((performance.now() - start) / 1000).toFixed(2)} s`;
      try {
        const detail = await body();
        passed += 1;
        console.log(`ok ${name} (${time()})${detail ? `: ${detail}` : ""}`);
      } catch (error) {
        failed += 1;
        console.log(`not ok ${name} (${time()})`);
        console.log(indent(error instanceof Error ? (error.stack ?? error.message) : String(error)));
      }
    },
    /** Runs what makes checks; when that itself fails, it is one failure. */
    async guard(name, body) {
      try {
        await body();
      } catch (error) {
        await this.check(name, () => Promise.reject(error));
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
