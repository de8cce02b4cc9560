// A server of the modern era, made with the official TypeScript packages, which records what its handlers see.
import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";

const ALLOWED_HEADERS =
  "Content-Type, Authorization, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, X-Smoke";

/** Starts the server on a free loopback port. `load` imports a module from the tools folder. */
export async function startModernServer(load) {
  const { createMcpHandler } = await load("@modelcontextprotocol/server");
  const { toNodeHandler } = await load("@modelcontextprotocol/node");
  const { buildServer } = await toolsOf(load);
  /** @type {{ tool: string, started: number, cancelled?: number, finished?: number }[]} */
  const calls = [];

  const handler = createMcpHandler(() => buildServer(calls), { legacy: "reject", keepAliveMs: 0 });
  const serve = toNodeHandler(handler);
  const server = http.createServer((request, response) => {
    response.setHeader("Access-Control-Allow-Origin", request.headers.origin ?? "*");
    response.setHeader("Access-Control-Expose-Headers", "WWW-Authenticate");
    if (request.method === "OPTIONS") {
      response.setHeader("Access-Control-Allow-Methods", "POST");
      response.setHeader("Access-Control-Allow-Headers", ALLOWED_HEADERS);
      return response.writeHead(204).end();
    }
    serve(request, response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    calls,
    notify: handler.notify,
    async close() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function toolsOf(load) {
  const { McpServer, ResourceTemplate, fromJsonSchema, inputRequired } = await load("@modelcontextprotocol/server");
  const object = (properties, required = Object.keys(properties)) =>
    fromJsonSchema({ type: "object", properties, required });
  const text = (value) => ({ content: [{ type: "text", text: value }] });

  function buildServer(calls) {
    const server = new McpServer(
      { name: "modern-peer", version: "1.0.0" },
      { instructions: "A peer for tests.", capabilities: { logging: {}, resources: { subscribe: true } } },
    );
    server.registerTool(
      "echo",
      { description: "Returns the message.", inputSchema: object({ message: { type: "string" } }) },
      ({ message }) => text(message),
    );
    server.registerTool(
      "add",
      {
        description: "Adds two numbers.",
        inputSchema: object({ a: { type: "number" }, b: { type: "number" } }),
        outputSchema: object({ sum: { type: "number" } }),
      },
      ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
    );
    server.registerTool(
      "slow",
      {
        description: "Reports progress step by step.",
        inputSchema: object({ steps: { type: "integer" }, pause: { type: "integer", description: "Milliseconds" } }),
      },
      ({ steps, pause }, context) => slow(calls, steps, pause, context),
    );
    server.registerTool("ask", { description: "Asks for a name." }, (context) => {
      const answer = context.mcpReq.inputResponses?.who;
      if (answer) return text(`Hello, ${answer.content.name}.`);
      const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
      return inputRequired({ inputRequests: { who: inputRequired.elicit({ message: "Who are you?", requestedSchema }) } });
    });
    server.registerResource("note", "note://today", { mimeType: "text/plain" }, (uri) => ({
      contents: [{ uri: uri.href, mimeType: "text/plain", text: "Water the plants." }],
    }));
    server.registerResource(
      "day",
      new ResourceTemplate("day://{name}", { list: undefined, complete: { name: () => ["monday", "tuesday"] } }),
      {},
      (uri, { name }) => ({ contents: [{ uri: uri.href, text: `It is ${name}.` }] }),
    );
    server.registerPrompt("summary", { argsSchema: object({ topic: { type: "string" } }) }, ({ topic }) => ({
      messages: [{ role: "user", content: { type: "text", text: `Summarise ${topic}.` } }],
    }));
    return server;
  }

  async function slow(calls, steps, pause, context) {
    const call = { tool: "slow", started: performance.now() };
    calls.push(call);
    const { signal, _meta, notify } = context.mcpReq;
    // The package also aborts the signal once the answer is out; only an earlier one is a cancellation.
    signal.addEventListener("abort", () => {
      if (call.finished === undefined) call.cancelled = performance.now();
    });
    for (let progress = 1; progress <= steps && !signal.aborted; progress += 1) {
      await delay(pause);
      if (_meta?.progressToken === undefined || signal.aborted) continue;
      await notify({
        method: "notifications/progress",
        params: { progressToken: _meta.progressToken, progress, total: steps, message: `step ${progress}` },
      });
    }
    call.finished = performance.now();
    return text(`${steps} steps done`);
  }

  return { buildServer };
}
