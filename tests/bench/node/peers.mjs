// What stands beside us: the official TypeScript client, both lines of it, and the bare platform.

import assert from "node:assert/strict";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as ClientV2, InMemoryTransport, StreamableHTTPClientTransport as TransportV2 } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import * as stub from "./stub.mjs";

const INFO = { name: "bench", version: "1.0.0" };
const MODERN = { versionNegotiation: { mode: { pin: stub.MODERN_VERSION } } };

/** The two rows every HTTP client gets: a call whose text is asserted, and a list of all tools. */
export function httpRows(key, who, { callTool, listTools }) {
  return [
    {
      key: `${key}_call`,
      what: `${who}: callTool`,
      async once(number) {
        const text = `text ${number}`;
        const result = await callTool({ name: "tool_7", arguments: { text } });
        assert.equal(result.content[0].text, text);
      },
    },
    {
      key: `${key}_list`,
      what: `${who}: listTools, ${stub.TOOL_COUNT} tools`,
      weight: 8,
      async once() {
        const { tools } = await listTools();
        assert.equal(tools.length, stub.TOOL_COUNT);
        assert.equal(tools[99].inputSchema.properties.text.type, "string");
      },
    },
  ];
}

async function post(method, params) {
  const response = await stub.fetch(stub.URL, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return JSON.parse(await response.text()).result;
}

async function officialRows(key, who, Client, Transport, options) {
  const client = new Client(INFO, options);
  await client.connect(new Transport(new URL(stub.URL), { fetch: stub.fetch }));
  return httpRows(key, who, {
    callTool: (params) => client.callTool(params),
    listTools: () => client.listTools(),
  });
}

async function memoryRow(key, what, options) {
  const server = new McpServer(INFO);
  server.registerTool(
    "add",
    {
      description: "Adds two integers.",
      inputSchema: z.object({ a: z.number().int(), b: z.number().int() }),
      outputSchema: z.object({ sum: z.number().int() }),
    },
    ({ a, b }) => {
      const structuredContent = { sum: a + b };
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
    },
  );
  const [clientEnd, serverEnd] = InMemoryTransport.createLinkedPair();
  await server.connect(serverEnd);
  const client = new ClientV2(INFO, options);
  await client.connect(clientEnd);
  return {
    key,
    what,
    async once(number) {
      const result = await client.callTool({ name: "add", arguments: { a: number, b: 1 } });
      assert.equal(result.content[0].text, `{"sum":${number + 1}}`);
    },
  };
}

/** A message to a port and the answer to it, with nothing in between. */
function rawPortRow() {
  const { port1, port2 } = new MessageChannel();
  port2.onmessage = ({ data }) => port2.postMessage(data);
  let arrived;
  port1.onmessage = ({ data }) => arrived(data);
  port1.unref();
  port2.unref();
  return {
    key: "floor_port",
    what: "bare MessagePort: a text there and back",
    async once(number) {
      const text = `{"number":${number}}`;
      const back = new Promise((resolve) => (arrived = resolve));
      port1.postMessage(text);
      port1.ref();
      assert.equal(await back, text);
      port1.unref();
    },
  };
}

/** Every row that is not ours. */
export async function peerRows() {
  const floor = httpRows("floor", "bare fetch and JSON.parse", {
    callTool: (params) => post("tools/call", params),
    listTools: () => post("tools/list", {}),
  });
  return [
    ...floor,
    ...(await officialRows("ts1", "TypeScript v1", ClientV1, TransportV1)),
    ...(await officialRows("ts2", "TypeScript v2", ClientV2, TransportV2)),
    ...(await officialRows("ts2_modern", "TypeScript v2, 2026-07-28", ClientV2, TransportV2, MODERN)),
    rawPortRow(),
    await memoryRow("ts2_memory", "TypeScript v2, in-memory pair: callTool"),
  ];
}
