// The first line of the official TypeScript package, 1.32, as a client:
// `node client-v1.mjs <folder with packages> <stdio|http|sse> <version> <program and arguments, or address>`
import { areas, elicit, report, sample } from "./areas.mjs";
import { load } from "./load.mjs";

const [transport, version, target, ...args] = process.argv.slice(3);
const sdk = "@modelcontextprotocol/sdk";
const { Client } = await load(`${sdk}/client/index.js`);
const { StdioClientTransport } = await load(`${sdk}/client/stdio.js`);
const { StreamableHTTPClientTransport } = await load(`${sdk}/client/streamableHttp.js`);
const { SSEClientTransport } = await load(`${sdk}/client/sse.js`);
const types = await load(`${sdk}/types.js`);

const client = new Client({ name: "interop", version: "1.0.0" }, { capabilities: { elicitation: {}, sampling: {} } });
client.setRequestHandler(types.ElicitRequestSchema, elicit);
client.setRequestHandler(types.CreateMessageRequestSchema, sample);
let updates = 0;
client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, () => void (updates += 1));
let negotiated;
const connections = {
  stdio: () => new StdioClientTransport({ command: target, args }),
  http: () => new StreamableHTTPClientTransport(new URL(target)),
  sse: () => new SSEClientTransport(new URL(target)),
};
const connection = connections[transport]();
// This transport is told the version; the client itself tells nobody.
const told = connection.setProtocolVersion?.bind(connection);
connection.setProtocolVersion = (version) => {
  negotiated = version;
  told?.(version);
};
try {
  await client.connect(connection);
} catch (error) {
  await report("negotiate", () => Promise.reject(error));
  process.exit();
}
await areas({
  client,
  version,
  negotiated: () => negotiated,
  call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
  subscribe: async (uri) => {
    await client.subscribeResource({ uri });
    return () => client.unsubscribeResource({ uri });
  },
  updated: () => updates,
});
if (transport === "http") await connection.terminateSession();
await client.close();
