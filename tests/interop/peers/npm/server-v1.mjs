// The first line of the official TypeScript package, 1.32, as a server: `node server-v1.mjs <folder with packages> <stdio|http|sse>`
import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { listen } from "./listen.mjs";
import { load } from "./load.mjs";

const sdk = "@modelcontextprotocol/sdk";
const { McpServer, ResourceTemplate } = await load(`${sdk}/server/mcp.js`);
const { StdioServerTransport } = await load(`${sdk}/server/stdio.js`);
const { StreamableHTTPServerTransport } = await load(`${sdk}/server/streamableHttp.js`);
const { SSEServerTransport } = await load(`${sdk}/server/sse.js`);
const types = await load(`${sdk}/types.js`);
const { z } = await load("zod");

const NOTE = "note://today";
let waited = 0;
const text = (said) => ({ content: [{ type: "text", text: said }] });

function build() {
  const server = new McpServer(
    { name: "interop", version: "1.0.0" },
    { capabilities: { resources: { subscribe: true } }, instructions: "A server for tests." },
  );
  const tool = (name, inputSchema, run, more = {}) => server.registerTool(name, { inputSchema, ...more }, run);
  tool("echo", { message: z.string() }, ({ message }) => text(message));
  tool("add", { a: z.number().int(), b: z.number().int() }, ({ a, b }) => ({
    ...text(String(a + b)),
    structuredContent: { sum: a + b },
  }), { outputSchema: { sum: z.number().int() } });
  tool("fail", {}, () => ({ ...text("as it was asked to"), isError: true }));
  const report = (extra, params) => extra.sendNotification({
    method: "notifications/progress",
    params: { progressToken: extra._meta?.progressToken, ...params },
  });
  tool("count", { steps: z.number().int() }, async ({ steps }, extra) => {
    for (let step = 1; step <= steps; step += 1) {
      await report(extra, { progress: step, total: steps, message: `step ${step}` });
      await delay(30);
    }
    return text(`counted to ${steps}`);
  });
  tool("wait", {}, async (_, extra) => {
    const aborted = new Promise((resolve) => extra.signal.addEventListener("abort", resolve));
    await report(extra, { progress: 1 });
    await aborted;
    waited += 1;
    return text("given up");
  });
  tool("waited", {}, () => text(String(waited)));
  tool("greet", { question: z.string() }, async ({ question }, extra) => {
    const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const params = { mode: "form", message: question, requestedSchema };
    const answer = await extra.sendRequest({ method: "elicitation/create", params }, types.ElicitResultSchema);
    return text(`Hello, ${answer.action === "accept" ? answer.content.name : "stranger"}.`);
  });
  tool("ask_model", {}, async (_, extra) => {
    const messages = [{ role: "user", content: { type: "text", text: "What grows?" } }];
    const params = { messages, maxTokens: 100 };
    const answer = await extra.sendRequest(
      { method: "sampling/createMessage", params },
      types.CreateMessageResultSchema,
    );
    return text(`The model ${answer.model} says: ${answer.content.text}`);
  });
  const subscribed = new Set();
  tool("touch", {}, async () => {
    if (subscribed.has(NOTE)) await server.server.sendResourceUpdated({ uri: NOTE });
    return text("touched");
  });
  server.server.setRequestHandler(types.SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler(types.UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  const contents = (uri, text) => ({ contents: [{ uri: uri.href, text }] });
  server.registerResource("today", NOTE, {}, (uri) => contents(uri, "Water the plants."));
  const days = new ResourceTemplate("day://{name}", {
    list: undefined,
    complete: { name: (typed) => ["monday", "tuesday"].filter((day) => day.startsWith(typed)) },
  });
  server.registerResource("day", days, {}, (uri, { name }) => contents(uri, `It is ${name}.`));
  server.registerPrompt("summary", { argsSchema: { topic: z.string() } }, ({ topic }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Summarise ${topic}.` } }],
  }));
  return server;
}

if (process.argv[3] === "stdio") {
  await build().connect(new StdioServerTransport());
} else if (process.argv[3] === "sse") {
  const sessions = new Map();
  const server = http.createServer(async (request, response) => {
    const { searchParams } = new URL(request.url, "http://localhost");
    if (request.method === "POST") {
      const session = sessions.get(searchParams.get("sessionId"));
      return session?.handlePostMessage(request, response) ?? response.writeHead(404).end();
    }
    const transport = new SSEServerTransport("/messages", response);
    sessions.set(transport.sessionId, transport);
    await build().connect(transport);
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/sse`));
} else {
  listen(async (options) => {
    const transport = new StreamableHTTPServerTransport(options);
    await build().connect(transport);
    return transport;
  });
}
