// Calls what the server modules of the package and of an edge isolate export, with a client of the package.
import { must, namesOf, nonEmpty, watched } from "./checks.js";

/** A server made in this page with `sandwire/server`. */
export async function exerciseServer({ entry, client }) {
  const { Server } = await import(entry);
  const { Client } = await import(client);
  const used = new Set();
  const server = watched(new Server({ name: "page", version: "1" }, { hosts: "any", origins: "any" }), used);
  const whole = { type: "integer" };
  const inputSchema = { type: "object", properties: { a: whole, b: whole }, required: ["a", "b"] };
  server.tool("add", { description: "Adds.", inputSchema }, ({ a, b }) => a + b);
  server.tool("wait", {}, async (_, context) => {
    context.progress(1, 2, "half");
    await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
    heard.push("aborted");
  });
  server.resource("note://{id}", { name: "note" }, (_, { id }) => `note ${id}`);
  server.prompt("explain", { arguments: [{ name: "topic", required: true }] }, ({ topic }) => `Explain ${topic}.`);
  server.completion("explain", "topic", (value) => ["wires", "sand"].filter((topic) => topic.startsWith(value)));
  server.method("notes/measure", ({ note }) => ({ length: note.length }), { extension: "com.example/notes" });
  const heard = [];

  const near = await Client.connect({ serve: (port) => server.serve(port) });
  await everyFeature(near);
  const refusal = await near.request("notes/measure", { note: "four" }).catch((error) => error);
  must(refusal.code === -32021, `${refusal.code} ${refusal.message}`);
  await abort(near, heard);
  await changes(near, server);
  await near.close();

  const scope = new EventTarget();
  server.listen(scope);
  const { port1, port2 } = new MessageChannel();
  scope.dispatchEvent(new MessageEvent("message", { ports: [port2] }));
  const far = await Client.connect(port1);
  nonEmpty(await far.listAllPrompts(), "the list over a port");
  await far.close();

  await overFetch(Client, (request) => server.fetch(request), async (over) => {
    must((await over.getPrompt({ name: "explain", arguments: { topic: "sand" } })).messages.length === 1, "no message");
  });
  return { used: [...used], exported: namesOf(Server) };
}

/** The Rust server of an edge isolate, in this page and in a worker. */
export async function exerciseEdge({ entry, worker, client }) {
  const { default: edge } = await import(entry);
  const { Client } = await import(client);
  await overFetch(Client, (request) => edge.fetch(request), adds);
  const thread = new Worker(worker, { type: "module" });
  const served = await Client.connect(thread);
  await adds(served);
  await served.close();
  thread.terminate();
  return { used: ["fetch"], exported: Object.keys(edge) };
}

async function everyFeature(client) {
  await adds(client);
  nonEmpty(await client.listAllTools(), "the list of tools");
  nonEmpty(await client.listAllResourceTemplates(), "the list of templates");
  const { contents } = await client.readResource({ uri: "note://7" });
  must(contents[0].text === "note 7", JSON.stringify(contents));
  const { messages } = await client.getPrompt({ name: "explain", arguments: { topic: "wires" } });
  must(messages[0].content.text === "Explain wires.", JSON.stringify(messages));
  const ref = { type: "ref/prompt", name: "explain" };
  const { completion } = await client.complete({ ref, argument: { name: "topic", value: "w" } });
  must(completion.values.join() === "wires", JSON.stringify(completion));
}

async function abort(client, heard) {
  const end = new AbortController();
  const options = { signal: end.signal, onProgress: () => end.abort() };
  const refusal = await client.callTool({ name: "wait" }, options).catch((error) => error);
  must(refusal.code === "cancelled", `${refusal.code} ${refusal.message}`);
  await client.ping();
  must(heard.includes("aborted"), "the handler did not see the abort");
}

async function changes(client, server) {
  const end = new AbortController();
  const told = [];
  const wanted = { toolsListChanged: true, resourceSubscriptions: ["note://7"] };
  const enough = new Promise((resolve, reject) => {
    const hear = (method) => {
      told.push(method);
      if (method === "notifications/subscriptions/acknowledged") {
        server.resourceUpdated("note://7");
        must(server.remove("tools", "add") === true, "there was no tool to remove");
      }
      if (told.length === 3) resolve();
    };
    client.listen(wanted, hear, { signal: end.signal }).catch(reject);
  });
  await enough;
  end.abort();
  must(told.includes("notifications/resources/updated"), told.join());
  must(told.includes("notifications/tools/list_changed"), told.join());
  must(!(await client.listAllTools()).some(({ name }) => name === "add"), "the tool is still there");
}

async function overFetch(Client, answer, check) {
  for (const version of [undefined, "legacy"]) {
    const fetch = (url, init) => answer(new Request(url, init));
    const client = await Client.connect("http://localhost/mcp", { fetch, ...(version && { version }) });
    must(client.era === (version ?? "modern"), client.era);
    await check(client);
    await client.close();
  }
}

async function adds(client) {
  const result = await client.callTool({ name: "add", arguments: { a: 17, b: 25 } });
  must(result.content[0].text === "42", JSON.stringify(result));
}
