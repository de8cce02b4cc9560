import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { Client } from "sandwire/client";
import { McpError, Server } from "sandwire/server";

const numbers = { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } }, required: ["a", "b"] };

function server(seen = {}) {
  return new Server({ name: "made-here", version: "1.0.0" }, { instructions: "Add.", hosts: "any", origins: ["https://app.example"] })
    .tool("add", { description: "Adds.", inputSchema: numbers }, ({ a, b }) => `${a + b}`)
    .tool("count", {}, async (_, context) => {
      context.progress(1, 2, "half");
      context.log("info", { at: 1 });
      context.progress(2, 2);
      return { counted: 2 };
    })
    .tool("ask", {}, async (_, context) => (await context.elicit("name", { message: "Name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } })).content.name)
    .tool("wait", {}, (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve((seen.aborted = true)))))
    .tool("fail", {}, () => { throw new Error("it broke"); })
    .tool("refuse", {}, () => { throw new McpError(-32000, "not now", { data: { later: true } }); })
    .tool("throw", {}, () => { throw "a string"; })
    .resource("note://{id}", { name: "note", mimeType: "text/plain" }, (uri, { id }) => `note ${id}`)
    .resource("bytes://all", { name: "bytes" }, () => new Uint8Array([1, 2, 255]))
    .prompt("explain", { arguments: [{ name: "topic", required: true }] }, ({ topic }) => `Explain ${topic}.`)
    .completion("explain", "topic", (start) => ["one", "two"].filter((word) => word.startsWith(start)));
}

const text = ({ content }) => content[0].text;
const alive = setInterval(() => {}, 1000);
test.after(() => clearInterval(alive));

for (const [name, options] of [["modern", {}], ["legacy", { version: "2025-11-25" }]]) {
  describe(name, () => {
    for (const [way, connect] of [
      ["in this program", (server, options) => Client.connect(server, options)],
      ["over a MessagePort", async (server, options) => {
        const { port1, port2 } = new MessageChannel();
        await server.serve(port2);
        return Client.connect(port1, options);
      }],
      ["over fetch", (server, options) => Client.connect("http://mcp.example/mcp", { ...options, fetch: (url, init) => server.fetch(new Request(url, init)) })],
    ]) {
      test(way, async () => {
        const seen = {};
        const notes = [];
        const client = await connect(server(seen), {
          ...options,
          handlers: { "elicitation/create": () => ({ action: "accept", content: { name: "Ada" } }) },
          onNotification: (method) => notes.push(method),
        });
        assert.equal(client.era, name);
        assert.equal(client.getInstructions(), "Add.");
        assert.equal((await client.listTools()).tools.length, 7);
        assert.equal(text(await client.callTool({ name: "add", arguments: { a: 2, b: 3 } })), "5");
        const told = [];
        const counted = await client.callTool({ name: "count" }, { onProgress: ({ progress, message }) => told.push([progress, message]) });
        assert.deepEqual(counted.structuredContent, { counted: 2 });
        assert.deepEqual(told, [[1, "half"], [2, undefined]]);
        if (way === "over fetch" && name === "legacy") {
          // Without a session no question can go to the client.
          assert.ok((await client.callTool({ name: "ask" }).catch((error) => error)).code < 0);
        } else {
          assert.equal(text(await client.callTool({ name: "ask" })), "Ada");
        }
        const failed = await client.callTool({ name: "fail" });
        assert.deepEqual([failed.isError, text(failed)], [true, "it broke"]);
        assert.equal(text(await client.callTool({ name: "throw" })), "a string");
        const refused = await client.callTool({ name: "refuse" }).catch((error) => error);
        assert.deepEqual([refused.code, refused.message, refused.data], [-32000, "not now", { later: true }]);
        assert.equal((await client.callTool({ name: "gone" }).catch((error) => error)).code, -32602);
        assert.equal((await client.readResource({ uri: "note://7" })).contents[0].text, "note 7");
        assert.equal((await client.readResource({ uri: "bytes://all" })).contents[0].blob, "AQL/");
        assert.ok((await client.readResource({ uri: "none://" }).catch((error) => error)).code < 0);
        assert.equal((await client.getPrompt({ name: "explain", arguments: { topic: "MCP" } })).messages[0].content.text, "Explain MCP.");
        assert.equal((await client.getPrompt({ name: "explain" }).catch((error) => error)).code, -32602);
        const ref = { type: "ref/prompt", name: "explain" };
        assert.deepEqual((await client.complete({ ref, argument: { name: "topic", value: "t" } })).completion.values, ["two"]);

        const abort = new AbortController();
        const waiting = client.callTool({ name: "wait" }, { signal: abort.signal }).catch((error) => error.code);
        setTimeout(() => abort.abort(), 5);
        assert.equal(await waiting, "cancelled");
        for (let turn = 0; !seen.aborted && turn < 100; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
        // A legacy exchange has nothing that a cancellation could name.
        if (way !== "over fetch" || name === "modern") assert.equal(seen.aborted, true);
        await client.close();
      });
    }
  });
}

test("tables change while clients are connected", async () => {
  const changing = server();
  const heard = [];
  const client = await Client.connect(changing, { version: "2025-11-25", onNotification: (method) => heard.push(method) });
  changing.tool("new", {}, () => "new");
  assert.equal((await client.listTools()).tools.length, 8);
  assert.equal(changing.remove("tools", "new"), true);
  assert.equal(changing.remove("tools", "new"), false);
  assert.equal((await client.listTools()).tools.length, 7);
  await client.subscribeResource({ uri: "note://1" });
  changing.resourceUpdated("note://1");
  await client.ping();
  assert.deepEqual(heard, ["notifications/tools/list_changed", "notifications/tools/list_changed", "notifications/resources/updated"]);
  await client.close();
});

test("the HTTP entry checks who asks", async () => {
  const served = server();
  const ask = (headers, body = "{") => served.fetch(new Request("http://mcp.example/mcp", { method: "POST", body, headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers } }));
  assert.equal((await ask({})).status, 400);
  assert.equal((await ask({ origin: "https://evil.example" })).status, 403);
  const allowed = await ask({ origin: "https://app.example" });
  assert.equal(allowed.headers.get("access-control-allow-origin"), "https://app.example");
  assert.equal((await served.fetch(new Request("http://mcp.example/mcp"))).status, 405);
  const guarded = new Server({ name: "local", version: "1" });
  assert.equal((await guarded.fetch(new Request("http://mcp.example/", { method: "POST", headers: { host: "mcp.example" } }))).status, 421);
});

test("an older client is told nothing that its version does not know", async () => {
  const audio = { type: "audio", data: "AA==", mimeType: "audio/wav" };
  const link = { type: "resource_link", uri: "note://1", name: "note" };
  const told = server()
    .tool("all", {
      title: "All", icons: [{ src: "https://app.example/i.png" }], outputSchema: { type: "object" }, annotations: { readOnlyHint: true },
    }, () => ({ content: [{ type: "text", text: "1" }, audio, link], structuredContent: { a: 1 } }))
    .prompt("hear", { title: "Hear", icons: [] }, () => ({ messages: [{ role: "user", content: audio }, { role: "user", content: link }] }));
  const ask = async (version, method, params) => {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": version };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    return (await (await told.fetch(new Request("http://mcp.example/mcp", { method: "POST", headers, body }))).json()).result;
  };
  const listed = async (version) => Object.keys((await ask(version, "tools/list")).tools.find(({ name }) => name === "all")).sort();
  assert.deepEqual(await listed("2025-11-25"), ["annotations", "icons", "inputSchema", "name", "outputSchema", "title"]);
  assert.deepEqual(await listed("2025-06-18"), ["annotations", "inputSchema", "name", "outputSchema", "title"]);
  assert.deepEqual(await listed("2025-03-26"), ["annotations", "inputSchema", "name"]);
  assert.deepEqual(await listed("2024-11-05"), ["inputSchema", "name"]);
  const called = async (version) => {
    const result = await ask(version, "tools/call", { name: "all" });
    assert.equal("structuredContent" in result, version > "2025-06");
    return result.content.map(({ type }) => type);
  };
  assert.deepEqual(await called("2025-06-18"), ["text", "audio", "resource_link"]);
  assert.deepEqual(await called("2025-03-26"), ["text", "audio", "text"]);
  assert.deepEqual(await called("2024-11-05"), ["text", "text", "text"]);
  const heard = async (version) => (await ask(version, "prompts/get", { name: "hear" })).messages.map(({ content }) => content.type);
  assert.deepEqual(await heard("2025-03-26"), ["audio", "text"]);
  assert.deepEqual(Object.keys((await ask("2025-03-26", "prompts/list")).prompts[1]), ["name"]);
});

test("a server without a name is refused where it is made", () => {
  for (const info of [undefined, "name", { version: "1" }]) assert.throws(() => new Server(info), { code: "misuse" });
});

test("a worker's scope gives its ports to the server", async () => {
  const scope = new EventTarget();
  server().listen(scope);
  const { port1, port2 } = new MessageChannel();
  scope.dispatchEvent(Object.assign(new Event("message"), { ports: [port2] }));
  const client = await Client.connect(port1);
  assert.equal(text(await client.callTool({ name: "add", arguments: { a: 1, b: 1 } })), "2");
  await client.close();
});

test("a template that cannot be read is refused when it is registered", () => {
  for (const uri of ["a://{?q}", "a://{x}/{x}", "a://{}"]) assert.throws(() => new Server({ name: "n", version: "1" }).resource(uri, { name: "r" }, () => ""), TypeError);
});

test("a handler sees what the caller put beside the parameters", async () => {
  const metas = [];
  const server = new Server({ name: "s", version: "1" }).tool("t", {}, (_, { meta }) => void metas.push(meta));
  for (const version of ["2025-11-25", "2026-07-28"]) {
    const client = await Client.connect(server, { version });
    await client.callTool({ name: "t", _meta: { "example/trace": 7 } });
    await client.close();
  }
  assert.deepEqual(metas.map((meta) => meta["example/trace"]), [7, 7]);
});

test("methods of extensions are for those who declared them", async () => {
  const notes = "com.example/notes";
  const measure = ({ noteId, _meta }) => ({ length: noteId.length, bare: _meta === undefined });
  const server = new Server({ name: "s", version: "1" })
    .method("notes/measure", measure, { extension: notes })
    .method("echo/fail", () => { throw new McpError(-32602, "no"); });
  for (const version of ["2025-11-25", "2026-07-28"]) {
    const client = await Client.connect(server, { version, extensions: { [notes]: {} } });
    assert.deepEqual(client.getServerCapabilities().extensions, { [notes]: {} });
    const { length, bare } = await client.request("notes/measure", { noteId: "four" });
    assert.deepEqual([length, bare], [4, true]);
    assert.equal((await client.request("echo/fail").catch((error) => error)).code, -32602);
    assert.equal((await client.request("notes/other").catch((error) => error)).code, -32601);
    await client.close();
    const other = await Client.connect(server, { version });
    const refusal = await other.request("notes/measure", { noteId: "four" }).catch((error) => error);
    if (version === "2026-07-28") {
      assert.equal(refusal.code, -32021);
      assert.deepEqual(refusal.data, { requiredCapabilities: { extensions: { [notes]: {} } } });
    } else {
      assert.ok(refusal instanceof McpError);
    }
    assert.equal((await other.request("echo/fail").catch((error) => error)).code, -32602);
    await other.close();
  }
});
