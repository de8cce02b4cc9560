// The first line of the official TypeScript client, 1.32, against our server:
// `node client-v1.mjs <folder with packages> <stdio|http|sse> legacy <program or address>`
import { from } from "./load.mjs";
import { converse } from "./converse.mjs";

const [folder, transport, , target] = process.argv.slice(2);
const load = from(folder);
const sdk = "@modelcontextprotocol/sdk";
const { Client } = await load(`${sdk}/client/index.js`);
const { StdioClientTransport } = await load(`${sdk}/client/stdio.js`);
const { StreamableHTTPClientTransport } = await load(`${sdk}/client/streamableHttp.js`);
const { SSEClientTransport } = await load(`${sdk}/client/sse.js`);
const { CreateMessageRequestSchema, ElicitRequestSchema } = await load(`${sdk}/types.js`);

const transports = {
  stdio: () => new StdioClientTransport({ command: target, args: ["stdio"] }),
  http: () => new StreamableHTTPClientTransport(new URL(target)),
  sse: () => new SSEClientTransport(new URL(target)),
};
const client = new Client({ name: "peer", version: "1.0.0" }, { capabilities: { elicitation: {}, sampling: {} } });
client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "Ada" } }));
client.setRequestHandler(CreateMessageRequestSchema, () => ({
  role: "assistant",
  content: { type: "text", text: "Trees." },
  model: "oak",
}));
const connection = transports[transport]();
await client.connect(connection);
await converse(client, { first: true });
if (transport === "http") await connection.terminateSession();
await client.close();
console.log("done");
