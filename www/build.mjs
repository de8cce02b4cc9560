// Builds the page from a packed package and a compiled built-in server:
//   node www/build.mjs --package <sandwire.tgz> --server <folder> [--out <folder>]
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { hashOfFolder, hashOfTarball } from "./content-hash.mjs";

const { values } = parseArgs({
  options: { package: { type: "string" }, server: { type: "string" }, out: { type: "string" } },
});
if (!values.package || !values.server) {
  console.error("usage: node build.mjs --package <sandwire.tgz> --server <folder> [--out <folder>]");
  process.exit(2);
}

const here = path.dirname(fileURLToPath(import.meta.url));
const tarball = path.resolve(values.package);
const server = path.resolve(values.server);
const out = path.resolve(values.out ?? path.join(here, "dist"));
const modules = path.join(here, "node_modules");

installTools();
installPackage();
run(process.execPath, [path.join(modules, "typescript/bin/tsc"), "--project", "."]);
run(process.execPath, [path.join(modules, "vite/bin/vite.js"), "build", "--outDir", out, "--emptyOutDir"]);
console.log(`built ${out}`);

/** Installs what the lock names, unless it is there already. */
function installTools() {
  const lock = readFileSync(path.join(here, "package-lock.json"), "utf8");
  const stamp = path.join(modules, ".lock");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  npm("ci", "--no-audit", "--no-fund");
  writeFileSync(stamp, lock);
}

/** Installs the tarball beside the lock: a lock would give an older tarball of the same version again. */
function installPackage() {
  const folder = path.join(modules, "sandwire");
  const wanted = hashOfTarball(tarball);
  if (existsSync(folder) && hashOfFolder(folder) === wanted) return;
  rmSync(folder, { recursive: true, force: true });
  npm("install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", tarball);
  const found = hashOfFolder(folder);
  if (found !== wanted) throw new Error(`npm installed other contents than the tarball's: ${found}, not ${wanted}`);
}

function npm(...args) {
  run("npm", args, { shell: process.platform === "win32" });
}

function run(command, args, options = {}) {
  const env = { ...process.env, WORKBENCH_SERVER: server };
  const { status, error } = spawnSync(command, args, { cwd: here, stdio: "inherit", env, ...options });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
