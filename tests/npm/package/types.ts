// Compiled, not run: what a user writes must fit the declarations.
import { Client, elicitationsOf, formDefaults, McpError, type CallToolResult, type Progress, type Tool } from "sandwire/client";
import { ResultCache } from "sandwire/cache";
import { Schema, validator, type Violation } from "sandwire/schema";
import { Server } from "sandwire/server";
import { Client as ToolClient, setWasm } from "sandwire/tools";

export async function full(port: MessagePort, worker: Worker): Promise<void> {
  await using client = await Client.connect("https://example.com/mcp", {
    headers: async () => ({ authorization: "Bearer token" }),
    credentials: "include",
    signal: AbortSignal.timeout(1000),
    version: "2026-07-28",
    handlers: { "elicitation/create": ({ message }) => ({ action: "accept", content: { message } }) },
    onNotification: (method, params) => console.log(method.length, params?.["level"]),
    onraw: (direction, text) => console.log(direction === "sent", text.length),
  });
  const tools: Tool[] = (await client.listTools({ cursor: "a" }, { timeout: 1 })).tools;
  const result: CallToolResult = await client.callTool(
    { name: tools[0]?.name ?? "", arguments: { a: 1 } },
    { onProgress: ({ progress, total }: Progress) => console.log(progress / (total ?? 1)), signal: new AbortController().signal },
  );
  for (const block of result.content) if (block.type === "text") block.text satisfies string;
  const custom = await client.request<{ mine: number }>("vendor/method", { a: 1 });
  custom.mine satisfies number;
  client.era satisfies "legacy" | "modern";
  await (await Client.connect(port)).close();
  await (await Client.connect(worker)).close();
  const changes = client.subscribe({ toolsListChanged: true }, (method) => console.log(method.length));
  (await changes.acknowledged)?.toolsListChanged satisfies boolean | undefined;
  const cache = new ResultCache({ store: new Map(), partition: "me", maxTtl: 1000 });
  await Client.connect(port, { cache, maxRounds: 3, applyDefaults: true, onWarning: ({ message }) => console.log(message.length) });
  for (const { url } of elicitationsOf(null)) url satisfies string;
  formDefaults({}) satisfies object;
  // @ts-expect-error A tool needs a name.
  await client.callTool({ arguments: {} });
  // @ts-expect-error There is no such question.
  client.setRequestHandler("ping", () => ({}));
}

export function code(error: unknown): number | string {
  return error instanceof McpError ? error.code : 0;
}

export async function small(): Promise<void> {
  setWasm(new URL("https://example.com/tools.wasm"));
  const client = await ToolClient.connect(new URL("https://example.com/mcp"));
  await client.listAllTools();
  // @ts-expect-error The small client has no prompts.
  await client.listPrompts();
}

export const server = new Server({ name: "adder", version: "1.0.0" })
  .tool("add", { description: "Adds.", inputSchema: { type: "object" } }, async ({ a, b }: { a: number; b: number }, context) => {
    context.progress(1, 2);
    return `${a + b}`;
  })
  .resource("note://{id}", { name: "note" }, (_uri, { id }) => `note ${id}`)
  .prompt("explain", { arguments: [{ name: "topic" }] }, ({ topic }) => `Explain ${topic}`);

export default { fetch: server.fetch };

export async function checked(): Promise<Violation[]> {
  await using client = await Client.connect("https://example.com/mcp", { validator });
  const schema = await Schema.compile({ type: client.era }, { formats: true });
  return [...schema.validate(1), ...schema.validateText("1")];
}
