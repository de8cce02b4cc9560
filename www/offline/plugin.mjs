import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Writes `offline.js`, the service worker that keeps every file of the build and those of `also`. */
export function offline(also) {
  return {
    name: "offline",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const files = ["./", ...also, ...Object.keys(bundle).filter((name) => name !== "index.html")].sort();
      const version = createHash("sha256").update(files.join()).digest("hex").slice(0, 16);
      const head = `const VERSION = "workbench-${version}";\nconst FILES = ${JSON.stringify(files)};\n`;
      const source = head + readFileSync(new URL("worker.js", import.meta.url), "utf8");
      this.emitFile({ type: "asset", fileName: "offline.js", source });
    },
  };
}
