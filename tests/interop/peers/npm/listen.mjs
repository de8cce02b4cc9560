// An HTTP server with sessions of the legacy era, on a free port that it prints.
import { randomUUID } from "node:crypto";
import http from "node:http";

/**
 * `open` makes the transport of a session from its options and connects a server to it; `modern` answers a request of
 * the modern era and says so, if there is one.
 */
export function listen(open, modern = async () => false) {
  const sessions = new Map();
  const answer = async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const body = text === "" ? undefined : JSON.parse(text);
    if (await modern(request, response, body)) return;
    const id = request.headers["mcp-session-id"];
    if (id !== undefined && !sessions.has(id)) {
      response.writeHead(404, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } }));
      return;
    }
    const session = sessions.get(id) ?? (await open({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => void sessions.delete(id),
    }));
    await session.handleRequest(request, response, body);
  };
  const server = http.createServer((request, response) => {
    answer(request, response).catch((error) => {
      console.error(error);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}
