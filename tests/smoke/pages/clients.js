// Calls the methods of a client of the package, and says which ones and what went wrong.
import { must, namesOf, nonEmpty, watched } from "./checks.js";

/**
 * Connects with the client that `entry` exports and runs the named calls against the server at `url`.
 * @param {{ entry: string, url: string, era: string, calls: string[], facts: object }} task
 */
export async function exercise({ entry, url, era, calls, facts }) {
  const { Client, McpError } = await import(entry);
  const heard = [];
  const raw = [];
  const options = {
    name: "smoke",
    headers: async () => ({ "X-Smoke": "yes" }),
    onNotification: (method) => heard.push(method),
    onraw: (direction) => raw.push(direction),
    handlers: { "elicitation/create": () => ({ action: "accept", content: { name: "nobody" } }) },
  };
  const used = new Set(["connect"]);
  const client = watched(await Client.connect(url, options), used);
  const failures = [];
  for (const name of calls) {
    const call = CALLS[name];
    if (!call) {
      failures.push(`${name}: the smoke test does not know how to call it`);
      continue;
    }
    try {
      await call(client, facts, { McpError, era, heard, raw });
    } catch (error) {
      failures.push(`${name}: ${error.message}`);
    }
  }
  return { used: [...used], failures, exported: namesOf(Client) };
}

const CALLS = {
  protocolVersion: (client, facts) => must(client.protocolVersion === facts.version, client.protocolVersion),
  era: (client, _, { era }) => must(client.era === era, client.era),
  getServerCapabilities: (client) => must(client.getServerCapabilities().tools, "no tools"),
  getServerVersion: (client, facts) => must(client.getServerVersion().name === facts.server, "another server"),
  getInstructions: (client) => must(client.getInstructions().length > 0, "no instructions"),

  listTools: async (client) => nonEmpty((await client.listTools()).tools, "the list"),
  listAllTools: async (client) => nonEmpty(await client.listAllTools(), "the list"),
  async callTool(client, facts) {
    const { name, arguments: args, text } = facts.tool;
    const result = await client.callTool({ name, arguments: args });
    must(result.content[0].text === text, JSON.stringify(result));
    const slow = await client.callTool(facts.slow, { onProgress: (step) => must(step.progress > 0, "no progress") });
    must(!slow.isError, JSON.stringify(slow));
  },
  async request(client, facts, { McpError }) {
    const { tools } = await client.request("tools/list");
    nonEmpty(tools, "the list");
    const refusal = await client.request("no/such/method").catch((error) => error);
    must(refusal instanceof McpError && refusal.code === -32601, `${refusal.code} ${refusal.message}`);
  },
  requestText: async (client) => nonEmpty(JSON.parse(await client.requestText("tools/list")).tools, "the list"),

  listResources: async (client) => nonEmpty((await client.listResources()).resources, "the list"),
  listAllResources: async (client) => nonEmpty(await client.listAllResources(), "the list"),
  listResourceTemplates: async (client) => nonEmpty((await client.listResourceTemplates()).resourceTemplates, "the list"),
  listAllResourceTemplates: async (client) => nonEmpty(await client.listAllResourceTemplates(), "the list"),
  readResource: async (client, facts) => nonEmpty((await client.readResource({ uri: facts.uri })).contents, "the resource"),
  listPrompts: async (client) => nonEmpty((await client.listPrompts()).prompts, "the list"),
  listAllPrompts: async (client) => nonEmpty(await client.listAllPrompts(), "the list"),
  getPrompt: async (client, facts) => nonEmpty((await client.getPrompt(facts.prompt)).messages, "the prompt"),
  complete: async (client, facts) => nonEmpty((await client.complete(facts.complete)).completion.values, "the completion"),

  ping: (client) => client.ping(),
  setLoggingLevel: (client) => client.setLoggingLevel("warning"),
  subscribeResource: (client, facts) => client.subscribeResource({ uri: facts.uri }),
  unsubscribeResource: (client, facts) => client.unsubscribeResource({ uri: facts.uri }),
  notification: (client) => client.notification("notifications/progress", { progressToken: "none", progress: 1 }),

  async setRequestHandler(client, facts) {
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "somebody" } }));
    const result = await client.callTool({ name: facts.asking });
    must(JSON.stringify(result).includes("somebody"), JSON.stringify(result));
  },
  async callToolOrBeginTask(client, facts) {
    const { name, arguments: args, text } = facts.tool;
    const result = await client.callToolOrBeginTask({ name, arguments: args });
    must(result.content[0].text === text, JSON.stringify(result));
  },
  // These servers have no tasks.
  getTask: (client, _, { McpError }) => refused(client.getTask("none"), McpError),
  updateTask: (client, _, { McpError }) => refused(client.updateTask("none", {}), McpError),
  cancelTask: (client, _, { McpError }) => refused(client.cancelTask("none"), McpError),
  async finishTask(client) {
    const content = [{ type: "text", text: "done" }];
    const result = await client.finishTask({ taskId: "1", status: "completed", result: { content } });
    must(result.content[0].text === "done", JSON.stringify(result));
  },
  async listen(client) {
    const end = new AbortController();
    const told = [];
    await new Promise((resolve, reject) => {
      const hear = (method) => resolve(told.push(method));
      client.listen({ toolsListChanged: true }, hear, { signal: end.signal }).catch(reject);
    });
    end.abort();
    must(told[0] === "notifications/subscriptions/acknowledged", told.join());
  },

  async subscribe(client) {
    const changes = client.subscribe({ toolsListChanged: true, promptsListChanged: true }, () => {});
    const agreed = await changes.acknowledged;
    must(agreed?.toolsListChanged === true, JSON.stringify(agreed));
    changes.close();
    must((await changes.ended).code === "cancelled", "it did not end");
  },

  async close(client, _, { McpError, raw }) {
    must(raw.includes("sent") && raw.includes("received"), "the messages were not seen");
    await client.close();
    const refusal = await client.listTools().catch((error) => error);
    must(refusal instanceof McpError && refusal.code === "closed", `${refusal.code} ${refusal.message}`);
  },
};

async function refused(call, McpError) {
  const refusal = await call.then(() => undefined, (error) => error);
  must(refusal instanceof McpError, `${refusal}`);
}
