// A server of both eras on Node's plain HTTP, whose one tool gives its arguments back. Its port is its first line.
import { createServer } from "node:http";

const info = { name: "plain", version: "1" };
const modern = "2026-07-28";

function answer({ method, params }) {
  switch (method) {
    case "initialize":
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: info };
    case "server/discover":
      return {
        resultType: "complete", supportedVersions: [modern], capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private",
        _meta: { "io.modelcontextprotocol/serverInfo": info },
      };
    case "tools/call": {
      const text = JSON.stringify(params.arguments);
      return { resultType: "complete", content: [{ type: "text", text }], structuredContent: params.arguments };
    }
    default:
      return undefined;
  }
}

const server = createServer((request, response) => {
  if (request.method !== "POST") return response.writeHead(405).end();
  const chunks = [];
  request.on("error", () => response.destroy());
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const message = JSON.parse(Buffer.concat(chunks).toString());
    if (message.id === undefined) return response.writeHead(202).end();
    const result = answer(message);
    const error = { code: -32601, message: "no such method" };
    const said = JSON.stringify({ jsonrpc: "2.0", id: message.id, ...(result ? { result } : { error }) });
    // Every other response is a stream, in two writes.
    if (message.id % 2 === 0) return response.writeHead(200, { "content-type": "application/json" }).end(said);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": one moment\n\n");
    setImmediate(() => response.end(`data: ${said}\n\n`));
  });
});
server.on("clientError", (_, socket) => socket.destroy());
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
