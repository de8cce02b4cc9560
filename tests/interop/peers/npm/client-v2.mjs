// The official TypeScript package, 2.4, as a client:
// `node client-v2.mjs <folder with packages> <stdio|http|sse> <version> <program and arguments, or address>`
import { areas, elicit, report, sample } from "./areas.mjs";
import { load } from "./load.mjs";

const [transport, version, target, ...args] = process.argv.slice(3);
const { Client, SSEClientTransport, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");

const modern = version >= "2026";
const negotiation = modern
  ? { versionNegotiation: { mode: { pin: version } } }
  : { versionNegotiation: { mode: "legacy" }, supportedProtocolVersions: [version] };
const client = new Client(
  { name: "interop", version: "1.0.0" },
  { capabilities: { elicitation: {}, sampling: {} }, ...negotiation },
);
client.setRequestHandler("elicitation/create", elicit);
client.setRequestHandler("sampling/createMessage", sample);
let updates = 0;
client.setNotificationHandler("notifications/resources/updated", () => void (updates += 1));
const connections = {
  stdio: () => new StdioClientTransport({ command: target, args }),
  http: () => new StreamableHTTPClientTransport(new URL(target)),
  sse: () => new SSEClientTransport(new URL(target)),
};
const connection = connections[transport]();
try {
  await client.connect(connection);
} catch (error) {
  await report("negotiate", () => Promise.reject(error));
  process.exit();
}
await areas({
  client,
  version,
  negotiated: () => client.getNegotiatedProtocolVersion(),
  call: (name, args, options) => client.callTool({ name, arguments: args }, options),
  subscribe: async (uri) => {
    if (modern) {
      const subscription = await client.listen({ resourceSubscriptions: [uri] });
      return () => subscription.close();
    }
    await client.subscribeResource({ uri });
    return () => client.unsubscribeResource({ uri });
  },
  updated: () => updates,
});
if (transport === "http" && !modern) await connection.terminateSession();
await client.close();
