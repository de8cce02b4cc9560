// The official TypeScript client, 2.4, against our server:
// `node client.mjs <folder with packages> <stdio|http|sse> <legacy|modern> <program or address>`
import assert from "node:assert/strict";
import { converse } from "./converse.mjs";
import { from } from "./load.mjs";

const [folder, transport, era, target] = process.argv.slice(2);
const load = from(folder);
const { Client, StreamableHTTPClientTransport, SSEClientTransport } = await load("@modelcontextprotocol/client");
const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");

const transports = {
  stdio: () => new StdioClientTransport({ command: target, args: ["stdio"] }),
  http: () => new StreamableHTTPClientTransport(new URL(target)),
  sse: () => new SSEClientTransport(new URL(target)),
};

async function connect(mode) {
  const client = new Client(
    { name: "peer", version: "1.0.0" },
    { capabilities: { elicitation: {}, sampling: {} }, versionNegotiation: { mode } },
  );
  client.setRequestHandler("elicitation/create", (request) => {
    assert.equal(request.params.message, "Who are you?");
    return { action: "accept", content: { name: "Ada" } };
  });
  client.setRequestHandler("sampling/createMessage", () => ({
    role: "assistant",
    content: { type: "text", text: "Trees." },
    model: "oak",
  }));
  await client.connect(transports[transport]());
  return client;
}

const client = await connect(era === "legacy" ? "legacy" : { pin: "2026-07-28" });
await converse(client);
await client.close();
if (era === "modern") {
  const client = await connect("auto");
  const { structuredContent } = await client.callTool({ name: "add", arguments: { a: 1, b: 1 } });
  assert.deepEqual(structuredContent, { sum: 2 });
  assert.equal(client.getNegotiatedProtocolVersion?.() ?? "2026-07-28", "2026-07-28");
  await client.close();
}
console.log("done");
