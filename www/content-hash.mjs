// One hash for the contents of an npm package, the same for its tarball and for its installed folder:
// SHA-256 over the sorted lines `<path> <sha256 of the file>`.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";

const BLOCK = 512;

/** The hash of a package as npm unpacked it. */
export function hashOfFolder(folder) {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  return combined(names.map((name) => [name.split(path.sep).join("/"), readFileSync(path.join(folder, name))]));
}

/** The hash of a packed package. */
export function hashOfTarball(file) {
  return combined([...filesOfTarball(file)]);
}

/** The files of a packed package by path, without npm's leading folder. */
export function filesOfTarball(file) {
  const archive = gunzipSync(readFileSync(file));
  const files = new Map();
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0; ) {
    const header = archive.subarray(at, at + BLOCK);
    const size = parseInt(text(header, 124, 12), 8);
    const kind = String.fromCharCode(header[156] || 48);
    const name = [text(header, 345, 155), text(header, 0, 100)].filter(Boolean).join("/");
    if (kind === "0") files.set(name.replace(/^[^/]+\//, ""), archive.subarray(at + BLOCK, at + BLOCK + size));
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

function combined(files) {
  const lines = files.map(([name, bytes]) => `${name} ${sha256(bytes)}\n`).sort();
  return sha256(lines.join(""));
}

function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

function text(header, start, length) {
  const field = header.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.subarray(0, end < 0 ? length : end).toString().trim();
}
