// A server behind a stubbed `fetch`: both eras, no socket, answers as text like a real one.

export const LEGACY_VERSION = "2025-11-25";
export const MODERN_VERSION = "2026-07-28";
export const TOOL_COUNT = 100;
export const URL = "https://bench.example/mcp";

const INFO = { name: "bench", version: "1.0.0" };
const CAPABILITIES = { tools: {} };

const TOOLS = Array.from({ length: TOOL_COUNT }, (_, index) => ({
  name: `tool_${index}`,
  description: `Tool ${index}: gives its text back.`,
  inputSchema: {
    type: "object",
    properties: {
      text: { type: "string", description: "What to echo" },
      count: { type: "integer" },
    },
    required: ["text"],
  },
}));

/** The tools as the server writes them, for the floor and for the note about their size. */
export const TOOLS_JSON = JSON.stringify(TOOLS);

// Results are put together as text: the server's share of a call, the same for every row, is kept small.
const STAMP = `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":${JSON.stringify(INFO)}},`;
const CACHED = `${STAMP}"ttlMs":0,"cacheScope":"private",`;
const LIST = { legacy: `{"tools":${TOOLS_JSON}}`, modern: `{${CACHED}"tools":${TOOLS_JSON}}` };

function result(request) {
  const modern = request.params?._meta?.["io.modelcontextprotocol/protocolVersion"] !== undefined;
  switch (request.method) {
    case "initialize":
      return JSON.stringify({
        protocolVersion: LEGACY_VERSION,
        capabilities: CAPABILITIES,
        serverInfo: INFO,
      });
    case "server/discover":
      return `{${CACHED}"supportedVersions":["${MODERN_VERSION}"],"capabilities":${JSON.stringify(CAPABILITIES)}}`;
    case "tools/list":
      return modern ? LIST.modern : LIST.legacy;
    case "tools/call": {
      const text = JSON.stringify(request.params.arguments.text);
      return `{${modern ? STAMP : ""}"content":[{"type":"text","text":${text}}]}`;
    }
    default:
      return undefined;
  }
}

/** The text that answers one request's text, or undefined for a notification. */
export function answer(body) {
  const request = JSON.parse(body);
  if (request.id === undefined) return undefined;
  const id = JSON.stringify(request.id);
  const text = result(request);
  return text === undefined
    ? `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"unknown method"}}`
    : `{"jsonrpc":"2.0","id":${id},"result":${text}}`;
}

const JSON_HEADERS = { "content-type": "application/json" };

/** A `fetch` that reaches no network. */
export async function fetch(url, init) {
  const method = init?.method ?? url.method ?? "GET";
  if (method !== "POST") return new Response(null, { status: 405 });
  const body = init?.body ?? (await url.text());
  const text = answer(typeof body === "string" ? body : new TextDecoder().decode(body));
  return text === undefined
    ? new Response(null, { status: 202 })
    : new Response(text, { headers: JSON_HEADERS });
}
