// A server on an origin of its own that lets a page send and see what the protocol needs, and nothing else.
import http from "node:http";

const ALLOWED = ["content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id", "last-event-id"];
const REGION = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
const BAD = { type: "object", properties: { n: { type: "number", "x-mcp-header": "N" } } };
const TOOLS = [{ name: "where", inputSchema: REGION }, { name: "bad", inputSchema: BAD }];

/**
 * Starts the server for pages of `origin`. `params` says whether they may send `Mcp-Param-*`; `era` which one it speaks.
 */
export async function startStrict(origin, { params = true, era = "modern" } = {}) {
  const preflights = [];
  const requests = [];
  const legacy = era === "legacy";

  const results = {
    "server/discover": () => !legacy && { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
    initialize: ({ protocolVersion }) => legacy && { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "strict", version: "1" } },
    "tools/list": () => ({ tools: TOOLS }),
    "tools/call": ({ arguments: { region } }, headers) => ({ content: [{ type: "text", text: `${region} ${headers["mcp-param-region"]}` }] }),
  };

  const server = http.createServer((request, response) => {
    response.setHeader("access-control-allow-origin", origin);
    response.setHeader("access-control-expose-headers", "mcp-session-id, www-authenticate");
    if (request.method === "OPTIONS") {
      const asked = (request.headers["access-control-request-headers"] ?? "").split(/, */).filter(Boolean);
      preflights.push(asked);
      const allowed = asked.filter((name) => ALLOWED.includes(name) || (params && name.startsWith("mcp-param-")));
      response.setHeader("access-control-allow-headers", allowed.join(", "));
      response.setHeader("access-control-allow-methods", "GET, POST, DELETE");
      return response.writeHead(204).end();
    }
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const message = request.method === "POST" ? JSON.parse(Buffer.concat(chunks)) : {};
      requests.push({ method: request.method, headers: request.headers, message });
      answer(response, request, message);
    });
  });

  function answer(response, request, { id, method, params: given = {} }) {
    if (request.method !== "POST") return response.writeHead(405).end();
    if (id === undefined) return response.writeHead(202).end();
    if (legacy && method === "initialize") response.setHeader("mcp-session-id", "s-1");
    else if (legacy && method !== "server/discover" && request.headers["mcp-session-id"] !== "s-1") return response.writeHead(400).end();
    const result = results[method]?.(given, request.headers);
    const hints = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
    const body = result
      ? { jsonrpc: "2.0", id, result: { ...(legacy ? {} : hints), ...result } }
      : { jsonrpc: "2.0", id, error: { code: -32601, message: "method not found" } };
    response.writeHead(result ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body));
  }

  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    preflights,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
