// A server of either era behind a function that looks like `fetch`.

const SERVER = { name: "stub", version: "1.0.0" };
const CAPABILITIES = {
  tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {},
};
const META = { "io.modelcontextprotocol/serverInfo": SERVER };

/** Answers by method; a `calls` array keeps what came, `aborted` the tools whose requests were aborted. */
export function stub(era, { answers = {} } = {}) {
  const calls = [];
  const aborted = [];
  const notifications = [];
  const modern = era === "modern";

  const result = (members) => (modern ? { resultType: "complete", _meta: META, ...members } : members);
  const cached = (members) => result(modern ? { ttlMs: 0, cacheScope: "private", ...members } : members);
  const known = {
    "server/discover": () => modern && cached({ supportedVersions: ["2026-07-28"], capabilities: CAPABILITIES, instructions: "Be kind." }),
    initialize: ({ protocolVersion }) => !modern && { protocolVersion, capabilities: CAPABILITIES, serverInfo: SERVER, instructions: "Be kind." },
    ping: () => !modern && {},
    "logging/setLevel": () => !modern && {},
    "resources/subscribe": () => !modern && {},
    "resources/unsubscribe": () => !modern && {},
    "tools/list": ({ cursor }) => cached(cursor ? { tools: [tool("last")] } : { tools: [tool("echo"), tool("count")], nextCursor: "2" }),
    "tools/call": ({ name, arguments: args }) => result({ content: [{ type: "text", text: `${name} ${JSON.stringify(args)}` }] }),
    "resources/list": () => cached({ resources: [{ uri: "note://1", name: "one" }] }),
    "resources/templates/list": () => cached({ resourceTemplates: [{ uriTemplate: "note://{id}", name: "note" }] }),
    "resources/read": ({ uri }) => cached({ contents: [{ uri, text: "text" }] }),
    "prompts/list": () => cached({ prompts: [{ name: "explain" }] }),
    "prompts/get": () => result({ messages: [{ role: "user", content: { type: "text", text: "Explain." } }] }),
    "completion/complete": () => result({ completion: { values: ["one"] } }),
    ...answers,
  };

  const fetch = async (url, init) => {
    const { method, headers, body, signal } = init;
    const message = body ? JSON.parse(body) : undefined;
    calls.push({ url, method, headers, message, init });
    if (method !== "POST") return new Response(null, { status: 405 });
    if (message.id === undefined) {
      notifications.push(message);
      return new Response(null, { status: 202 });
    }
    const params = message.params ?? {};
    signal.addEventListener("abort", () => aborted.push(params.name ?? message.method));
    const answer = await known[message.method]?.(params, { message, signal });
    if (answer instanceof Response) return answer;
    if (!answer) {
      const error = { code: -32601, message: `method not found: ${message.method}` };
      return json({ jsonrpc: "2.0", id: message.id, error }, modern ? 404 : 400);
    }
    return json({ jsonrpc: "2.0", id: message.id, result: answer });
  };
  return { fetch, calls, aborted, notifications, result };
}

export function tool(name) {
  return { name, inputSchema: { type: "object" } };
}

export function json(value, status = 200) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return new Response(text, { status, headers: { "content-type": "application/json" } });
}

/** An event stream that the test writes to: `send(message)`, `end()`. */
export function events(signal) {
  let controller;
  const stream = new ReadableStream({ start: (made) => void (controller = made) });
  signal?.addEventListener("abort", () => {
    try {
      controller.error(signal.reason);
    } catch {
      // It has ended already.
    }
  });
  const encoder = new TextEncoder();
  return {
    response: new Response(stream, { headers: { "content-type": "text/event-stream" } }),
    send: (message) => controller.enqueue(encoder.encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`)),
    end: () => controller.close(),
  };
}
