// Imports packages from a folder that this file is not in.
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

/** Imports a package of the folder's `node_modules`. */
export function from(folder) {
  const require = createRequire(pathToFileURL(path.join(folder, "package.json")));
  return async (name) => require(name);
}
