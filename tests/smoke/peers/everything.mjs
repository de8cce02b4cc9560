// The official reference server of the legacy era, as a child process on a free loopback port.
import { spawn } from "node:child_process";
import http from "node:http";
import net from "node:net";
import path from "node:path";
import { bound, stopped, until } from "../wait.mjs";

/** Starts the server found in the tools folder's `node_modules`. */
export async function startEverythingServer(tools) {
  const entry = path.join(tools, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const child = bound(spawn(process.execPath, [entry, "streamableHttp"], { env, stdio: ["ignore", "ignore", "pipe"] }));
  let complaints = "";
  child.stderr.on("data", (chunk) => (complaints += chunk));
  const exit = new Promise((resolve) => child.once("exit", resolve));

  await until("the reference server listens", async () => {
    if (child.exitCode !== null) throw new Error(`the reference server ended: ${complaints}`);
    return await answers(port);
  });
  return { origin: `http://127.0.0.1:${port}`, close: () => stopped(child, exit) };
}

async function freePort() {
  const server = net.createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function answers(port) {
  return new Promise((resolve) => {
    const request = http.get({ host: "127.0.0.1", port, path: "/mcp" }, (response) => {
      response.resume();
      resolve(true);
    });
    request.on("error", () => resolve(false));
  });
}
