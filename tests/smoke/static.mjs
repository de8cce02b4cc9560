// Serves folders and in-memory files to the browser, the way a plain web host would.
import { readFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};

/**
 * Starts a server on a free loopback port. `mounts` maps a URL prefix to a folder (a string) or to a function from
 * the rest of the path (and the request) to the bytes, to `{ type, bytes }`, or to nothing.
 */
export async function startStatic(mounts) {
  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const found = await find(mounts, decodeURIComponent(pathname), request);
    if (!found) return response.writeHead(404).end();
    const { type, bytes } = Buffer.isBuffer(found) ? { type: typeOf(pathname), bytes: found } : found;
    response.writeHead(200, { "content-type": type, "cache-control": "no-store" });
    response.end(bytes);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function typeOf(pathname) {
  return TYPES[path.extname(pathname)] ?? (pathname.endsWith("/") ? TYPES[".html"] : "application/octet-stream");
}

async function find(mounts, pathname, request) {
  const prefix = Object.keys(mounts)
    .filter((mount) => pathname.startsWith(mount))
    .sort((a, b) => b.length - a.length)[0];
  if (prefix === undefined) return undefined;
  const rest = pathname.slice(prefix.length) || "index.html";
  const source = mounts[prefix];
  if (typeof source === "function") return source(rest, request);
  const file = path.join(source, rest);
  if (!file.startsWith(path.resolve(source) + path.sep)) return undefined;
  return await readFile(file).catch(() => undefined);
}
