// Imports packages from the folder that the first argument names.
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(path.join(process.argv[2], "package.json")));

/** Imports a package of the folder's `node_modules`. */
export const load = async (name) => require(name);
