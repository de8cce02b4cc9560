// The file that says what is weighed, and which methods each weighed module exports.
import { readFileSync } from "node:fs";

const FILE = new URL("../../crates/sandwire-js/size.toml", import.meta.url);

/** The `methods` of every module in the size file, by the module's name. */
export function exportedMethods() {
  const found = new Map();
  for (const part of readFileSync(FILE, "utf8").split(/^\[/m).slice(1)) {
    const [module] = part.split("]", 1);
    const list = /^methods\s*=\s*\[([^\]]*)\]/m.exec(part);
    found.set(module, [...(list?.[1] ?? "").matchAll(/"([^"]+)"/g)].map(([, name]) => name));
  }
  return found;
}
