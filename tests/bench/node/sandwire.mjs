// Ours: the packed client over HTTP and over a port, and a pair of both ends in one wasm module.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { Client } from "sandwire/client";
import * as edge from "./edge-server.glue.js";
import * as pair from "./bench-pair.glue.js";
import { httpRows } from "./peers.mjs";
import * as stub from "./stub.mjs";

async function start(glue, name) {
  const bytes = await readFile(new URL(`./${name}.wasm`, import.meta.url));
  const { instance } = await WebAssembly.instantiate(bytes, glue.imports());
  glue.start(instance);
}

async function overHttp(key, who, options) {
  const client = await Client.connect(stub.URL, { fetch: stub.fetch, ...options });
  return httpRows(key, who, {
    callTool: (params) => client.callTool(params),
    listTools: () => client.listTools(),
  });
}

async function overPort() {
  await start(edge, "edge-server");
  const { port1, port2 } = new MessageChannel();
  edge.serve(port2);
  const client = await Client.connect(port1);
  return {
    key: "wasm_port",
    what: "ours, JavaScript client to wasm server over a MessagePort: callTool",
    async once(number) {
      const result = await client.callTool({ name: "add", arguments: { a: number, b: 1 } });
      assert.equal(result.content[0].text, `${number + 1}`);
    },
  };
}

async function inMemory() {
  await start(pair, "bench-pair");
  const both = new pair.Pair();
  return {
    key: "wasm_memory",
    what: "ours, client and server in one wasm module, JSON text in and out: callTool",
    async once(number) {
      const result = JSON.parse(both.callTool(JSON.stringify({ name: "add", arguments: { a: number, b: 1 } })));
      assert.equal(result.content[0].text, `{"sum":${number + 1}}`);
    },
  };
}

/** Every row that is ours. */
export async function ourRows() {
  return [
    ...(await overHttp("js", "ours")),
    ...(await overHttp("js_legacy", "ours, 2025-11-25", { version: stub.LEGACY_VERSION })),
    await overPort(),
    await inMemory(),
  ];
}
