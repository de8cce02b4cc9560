// The official TypeScript package, 2.4, as a server: `node server-v2.mjs <folder with packages> <stdio|http>`
import { setTimeout as delay } from "node:timers/promises";
import { listen } from "./listen.mjs";
import { load } from "./load.mjs";

const { McpServer, ResourceTemplate, createMcpHandler, inputRequired, inputResponse, isLegacyRequest } = await load(
  "@modelcontextprotocol/server",
);
const { serveStdio } = await load("@modelcontextprotocol/server/stdio");
const { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } = await load("@modelcontextprotocol/node");
const { z } = await load("zod");

const NOTE = "note://today";
let waited = 0;
const text = (said) => ({ content: [{ type: "text", text: said }] });
let handler;

function build({ era } = { era: "legacy" }) {
  const server = new McpServer(
    { name: "interop", version: "1.0.0" },
    { capabilities: { resources: { subscribe: true } }, instructions: "A server for tests." },
  );
  const tool = (name, fields, run, more = {}) =>
    server.registerTool(name, { inputSchema: z.object(fields), ...more }, run);
  tool("echo", { message: z.string() }, ({ message }) => text(message));
  tool("add", { a: z.number().int(), b: z.number().int() }, ({ a, b }) => ({
    ...text(String(a + b)),
    structuredContent: { sum: a + b },
  }), { outputSchema: z.object({ sum: z.number().int() }) });
  tool("fail", {}, () => ({ ...text("as it was asked to"), isError: true }));
  const report = ({ mcpReq }, params) => mcpReq.notify({
    method: "notifications/progress",
    params: { progressToken: mcpReq._meta?.progressToken, ...params },
  });
  tool("count", { steps: z.number().int() }, async ({ steps }, context) => {
    for (let step = 1; step <= steps; step += 1) {
      await report(context, { progress: step, total: steps, message: `step ${step}` });
      await delay(30);
    }
    return text(`counted to ${steps}`);
  });
  tool("wait", {}, async (_, context) => {
    const aborted = new Promise((resolve) => context.mcpReq.signal.addEventListener("abort", resolve));
    await report(context, { progress: 1 });
    await aborted;
    waited += 1;
    return text("given up");
  });
  tool("waited", {}, () => text(String(waited)));
  tool("greet", { question: z.string() }, ({ question }, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "who");
    if (answer.kind === "missing") {
      const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
      return inputRequired({ inputRequests: { who: inputRequired.elicit({ message: question, requestedSchema }) } });
    }
    return text(`Hello, ${answer.action === "accept" ? answer.content.name : "stranger"}.`);
  });
  tool("ask_model", {}, (_, { mcpReq }) => {
    const answer = mcpReq.inputResponses?.model;
    if (answer === undefined) {
      const messages = [{ role: "user", content: { type: "text", text: "What grows?" } }];
      return inputRequired({ inputRequests: { model: inputRequired.createMessage({ messages, maxTokens: 100 }) } });
    }
    return text(`The model ${answer.model} says: ${answer.content.text}`);
  });
  const subscribed = new Set();
  tool("touch", {}, async () => {
    if (handler !== undefined && era === "modern") handler.notify.resourceUpdated(NOTE);
    else if (era === "modern" || subscribed.has(NOTE)) await server.server.sendResourceUpdated({ uri: NOTE });
    return text("touched");
  });
  server.server.setRequestHandler("resources/subscribe", ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler("resources/unsubscribe", ({ params }) => {
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
  server.registerPrompt("summary", { argsSchema: z.object({ topic: z.string() }) }, ({ topic }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Summarise ${topic}.` } }],
  }));
  return server;
}

if (process.argv[3] === "stdio") {
  serveStdio(build, { onerror: console.error });
} else {
  handler = createMcpHandler(build, { legacy: "reject", onerror: console.error });
  const handle = toNodeHandler(handler);
  const open = async (options) => {
    const transport = new NodeStreamableHTTPServerTransport(options);
    await build().connect(transport);
    return transport;
  };
  listen(open, async (request, response, body) => {
    if (await isLegacyRequest(await toWebRequest(request, body), body)) return false;
    await handle(request, response, body);
    return true;
  });
}
