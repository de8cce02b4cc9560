import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { Client, McpError } from "sandwire/client";
import * as tools from "sandwire/tools";

import { events, json, stub } from "./stub.mjs";

const URL_ = "https://mcp.example/mcp";
const rejects = async (promise, expected) => {
  const error = await promise.then(() => assert.fail("it did not fail"), (error) => error);
  assert.ok(error instanceof McpError, `${error}`);
  for (const [key, value] of Object.entries(expected)) assert.deepEqual(error[key], value, key);
  return error;
};
const until = async (condition) => {
  for (let turn = 0; !condition(); turn++) {
    assert.ok(turn < 1000, "it never happened");
    await new Promise((resolve) => setImmediate(resolve));
  }
};

/** The names of what a client's users see. Those for the package's own use are shortened. */
function members(Class) {
  const names = [];
  for (let at = Class.prototype; at !== Object.prototype; at = Object.getPrototypeOf(at)) names.push(...Object.getOwnPropertyNames(at));
  return [...new Set(names)].filter((name) => name.length > 2 && name !== "constructor");
}

/** A client that notes which of its members were used. */
function watched(client, used) {
  return new Proxy(client, {
    get(target, name) {
      used.add(name);
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

for (const era of ["legacy", "modern"]) {
  describe(era, () => {
    test("every method does what its name says", async () => {
      const used = new Set();
      const listen = events();
      const server = stub(era, {
        answers: {
          "subscriptions/listen": (_, { message: { id } }) => {
            const _meta = { "io.modelcontextprotocol/subscriptionId": id };
            listen.send({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params: { _meta, notifications: { toolsListChanged: true } } });
            listen.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { _meta } });
            listen.send({ jsonrpc: "2.0", id, result: { resultType: "complete", _meta } });
            listen.end();
            return listen.response;
          },
        },
      });
      const client = watched(await Client.connect(URL_, { fetch: server.fetch, name: "test", handlers: { "roots/list": () => ({ roots: [] }) } }), used);
      assert.equal(client.era, era);
      assert.equal(client.protocolVersion, era === "modern" ? "2026-07-28" : "2025-11-25");
      assert.equal(client.getServerVersion().name, "stub");
      assert.equal(client.getInstructions(), "Be kind.");
      assert.deepEqual(Object.keys(client.getServerCapabilities()).sort(), ["completions", "logging", "prompts", "resources", "tools"]);

      const page = await client.listTools();
      assert.deepEqual(page.tools.map(({ name }) => name), ["echo", "count"]);
      assert.equal((await client.listTools({ cursor: page.nextCursor })).tools[0].name, "last");
      assert.deepEqual((await client.listAllTools()).map(({ name }) => name), ["echo", "count", "last"]);
      assert.equal((await client.callTool({ name: "echo", arguments: { a: 1 } })).content[0].text, 'echo {"a":1}');
      assert.equal((await client.callToolOrBeginTask({ name: "echo" })).content.length, 1);
      for (const asked of [client.getTask("1"), client.updateTask("1", {}), client.cancelTask("1")]) {
        // Neither server has tasks.
        await rejects(asked, {});
      }
      assert.equal((await client.finishTask({ taskId: "1", status: "completed", result: { content: [] } })).content.length, 0);
      assert.equal((await client.listResources()).resources[0].uri, "note://1");
      assert.equal((await client.listAllResources()).length, 1);
      assert.equal((await client.listResourceTemplates()).resourceTemplates[0].name, "note");
      assert.equal((await client.listAllResourceTemplates()).length, 1);
      assert.equal((await client.readResource({ uri: "note://1" })).contents[0].text, "text");
      assert.equal((await client.listPrompts()).prompts[0].name, "explain");
      assert.equal((await client.listAllPrompts()).length, 1);
      assert.equal((await client.getPrompt({ name: "explain" })).messages.length, 1);
      const ref = { type: "ref/prompt", name: "explain" };
      assert.deepEqual((await client.complete({ ref, argument: { name: "topic", value: "o" } })).completion.values, ["one"]);
      await client.ping();
      await client.setLoggingLevel("warning");
      await client.callTool({ name: "echo" });
      const level = server.calls.at(-1).message.params._meta?.["io.modelcontextprotocol/logLevel"];
      assert.equal(level, era === "modern" ? "warning" : undefined);
      client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///a" }] }));
      assert.equal((await client.request("tools/call", { name: "any" })).content.length, 1);
      assert.match(await client.requestText("tools/call", { name: "any" }), /^\{.*"any undefined".*\}$/);

      const seen = [];
      if (era === "modern") {
        await client.listen({ toolsListChanged: true }, (method) => seen.push(method));
        assert.deepEqual(seen, ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"]);
        await rejects(client.subscribeResource({ uri: "note://1" }), { code: "incompatible" });
        used.add("subscribe");
        await rejects(client.unsubscribeResource({ uri: "note://1" }), { code: "incompatible" });
      } else {
        await client.subscribeResource({ uri: "note://1" });
        await client.unsubscribeResource({ uri: "note://1" });
        await rejects(client.listen({}, () => {}), { code: "incompatible" });
        assert.equal((await client.subscribe({}, () => {}).ended).code, "incompatible");
        client.notification("notifications/roots/list_changed");
        await until(() => server.notifications.some(({ method }) => method === "notifications/roots/list_changed"));
      }
      used.add("notification");
      await client.close();
      await rejects(client.listTools(), { code: "closed" });
      assert.deepEqual(members(Client).filter((name) => !used.has(name)), []);
    });

    test("the small client lists and calls", async () => {
      const used = new Set();
      const server = stub(era);
      const client = watched(await tools.Client.connect(new URL(URL_), { fetch: server.fetch }), used);
      assert.deepEqual([client.era, client.protocolVersion.length], [era, 10]);
      assert.equal((await client.listTools()).tools.length, 2);
      assert.equal((await client.listAllTools()).length, 3);
      assert.equal((await client.callTool({ name: "echo" })).content.length, 1);
      assert.equal((await client.request("tools/list", {})).tools.length, 2);
      assert.match(await client.requestText("tools/list"), /"echo"/);
      if (era === "legacy") client.notification("notifications/roots/list_changed");
      used.add("notification");
      // Those that the connection sends itself are refused, and it goes on.
      assert.throws(() => client.notification("notifications/cancelled", { requestId: 1 }), { code: "misuse" });
      assert.equal((await client.listTools()).tools.length, 2);
      client.getServerCapabilities(), client.getServerVersion(), client.getInstructions();
      await client.close();
      assert.deepEqual(members(tools.Client).filter((name) => !used.has(name)), []);
    });

    test("a list that does not end is given up", async () => {
      let next = (cursor) => (cursor === "a" ? "b" : "a");
      let pages = 0;
      const server = stub(era, {
        answers: {
          "tools/list": ({ cursor }) => {
            pages += 1;
            return server.result({ tools: [], nextCursor: next(cursor), ttlMs: 0, cacheScope: "private" });
          },
        },
      });
      const client = await Client.connect(URL_, { fetch: server.fetch });
      await rejects(client.listAllTools(), { code: "misbehaved" });
      assert.equal(pages, 3, "a, b, and a again");
      pages = 0;
      next = () => `${pages}`;
      await rejects(client.listAllTools(), { code: "misbehaved" });
      assert.equal(pages, 1000);
      await client.close();
    });

    test("progress arrives while the call is open", async () => {
      let stream;
      let token;
      let id;
      const server = stub(era, {
        answers: {
          "tools/call": (params, { message, signal }) => {
            ({ id } = message);
            token = params._meta.progressToken;
            return (stream = events(signal)).response;
          },
        },
      });
      const client = await Client.connect(URL_, { fetch: server.fetch });
      const told = [];
      let over = false;
      const call = client.callTool({ name: "count" }, { onProgress: (progress) => told.push(progress.progress) });
      call.then(() => (over = true));
      await until(() => stream);
      for (const progress of [1, 2.5]) {
        stream.send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: token, progress } });
        await until(() => told.at(-1) === progress);
        assert.equal(over, false);
      }
      stream.send({ jsonrpc: "2.0", id, result: server.result({ content: [] }) });
      stream.end();
      assert.deepEqual((await call).content, []);
      assert.deepEqual(server.aborted, []);
      await client.close();
    });

    test("an abort and a timeout reach the server", async () => {
      const server = stub(era, { answers: { "tools/call": (_, { signal }) => events(signal).response } });
      const client = await Client.connect(URL_, { fetch: server.fetch });
      const abort = new AbortController();
      const call = client.callTool({ name: "slow" }, { signal: abort.signal });
      await until(() => server.calls.at(-1).message?.method === "tools/call");
      await new Promise((resolve) => setImmediate(resolve));
      abort.abort(new Error("enough"));
      const error = await rejects(call, { code: "cancelled" });
      assert.equal(error.cause.message, "enough");
      const told = () => (era === "modern" ? server.aborted : server.notifications.filter(({ method }) => method === "notifications/cancelled")).length;
      await until(() => told() === 1);
      const alive = setInterval(() => {}, 1000);
      await rejects(client.callTool({ name: "slow" }, { timeout: 5 }), { code: "timeout" });
      clearInterval(alive);
      await until(() => told() === 2);
      await rejects(client.callTool({ name: "slow" }, { signal: AbortSignal.abort() }), { code: "cancelled" });
      await client.close();
    });

    test("errors keep what the server said", async () => {
      const error = { code: -32602, message: "no such tool", data: { name: "gone" } };
      const server = stub(era, {
        answers: {
          "tools/call": ({ name }, { message: { id } }) => {
            if (name === "gone") return json({ jsonrpc: "2.0", id, error });
            if (name === "secret") return new Response("", { status: 401, headers: { "www-authenticate": 'Bearer scope="a"' } });
            if (name === "broken") return new Response("oops", { status: 500 });
            if (name === "html") return new Response("<p>", { headers: { "content-type": "text/html" } });
            if (name === "throws") throw "a string";
            if (name === "offline") throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } });
            return json('{"jsonrpc":"2.0"');
          },
        },
      });
      const client = await Client.connect(URL_, { fetch: server.fetch });
      const call = (name) => client.callTool({ name });
      await rejects(call("gone"), { code: -32602, message: "no such tool", data: { name: "gone" }, name: "McpError" });
      await rejects(call("secret"), { code: "unauthorized", status: 401, data: 'Bearer scope="a"' });
      await rejects(call("broken"), { code: "status", status: 500 });
      await rejects(call("html"), { code: "misbehaved" });
      await rejects(call("throws"), { code: "transport", cause: "a string" });
      await rejects(call("offline"), { code: "unreachable" });
      await rejects(call("truncated"), { code: "misbehaved" });
      assert.equal((await client.listTools()).tools.length, 2);
      await client.close();
    });
  });
}

// B37 of tests/cases: exact where that is asked for, and by default a value that can be written again.
test("integers beyond 2^53 survive where they are asked for", async () => {
  const text = '{"content":[],"structuredContent":{"n":12345678901234567890,"x":1.10}}';
  const server = stub("legacy", {
    answers: { "tools/call": (_, { message: { id } }) => json(`{"jsonrpc":"2.0","id":${id},"result":${text}}`) },
  });
  const parse = (text) => JSON.parse(text.replace(/([:[,])(\d{16,})/g, '$1"$2"'), (key, value) => (/^\d{16,}$/.test(value) ? BigInt(value) : value));
  const client = await Client.connect(URL_, { fetch: server.fetch, version: "legacy" });
  assert.equal((await client.callTool({ name: "big" }, { parse })).structuredContent.n, 12345678901234567890n);
  assert.equal(await client.requestText("tools/call", { name: "big" }), text);
  assert.equal(typeof JSON.stringify(await client.callTool({ name: "big" })), "string");
  await client.close();
});

test("headers and credentials go with every request", async () => {
  const server = stub("modern");
  let turn = 0;
  const headers = async () => ({ Authorization: `Bearer ${++turn}`, "Content-Type": "text/plain" });
  const client = await Client.connect(URL_, { fetch: server.fetch, headers, credentials: "include" });
  await client.listTools();
  assert.deepEqual(server.calls.map(({ headers }) => headers.authorization), ["Bearer 1", "Bearer 2"]);
  assert.deepEqual(server.calls.map(({ headers }) => headers["content-type"]), ["application/json", "application/json"]);
  assert.equal(server.calls[1].init.credentials, "include");
  await client.close();
  const fixed = await Client.connect(URL_, { fetch: server.fetch, headers: new Headers({ "x-key": "1" }) });
  assert.equal(server.calls.at(-1).headers["x-key"], "1");
  await fixed.close();
});

test("connecting can be given up, and can fail", async () => {
  const abort = new AbortController();
  const waiting = Client.connect(URL_, { fetch: () => new Promise(() => {}), signal: abort.signal });
  setImmediate(() => abort.abort());
  await rejects(waiting, { code: "cancelled" });
  await rejects(Client.connect(URL_, { fetch: async () => new Response("", { status: 401 }) }), { code: "unauthorized", status: 401 });
  await rejects(Client.connect(URL_, { fetch: stub("modern").fetch, version: "2025-06-18" }), {});
  await rejects(Client.connect(URL_, { wasm: new Uint8Array(4), fetch: stub("modern").fetch }).then(() => {
    // The module is loaded once for the program, so an earlier test may have loaded it.
    throw new McpError("wasm", "");
  }), { code: "wasm" });
});

test("messages can be watched, and a connection disposes of itself", async () => {
  const seen = [];
  const server = stub("modern");
  let closed = 0;
  {
    const client = await Client.connect(URL_, { fetch: server.fetch, onraw: (way, text) => seen.push([way, JSON.parse(text).method]), onclose: () => closed++ });
    await client.listTools();
    await client[Symbol.asyncDispose]();
    await until(() => closed === 1);
  }
  assert.deepEqual(seen, [["sent", "server/discover"], ["received", undefined], ["sent", "tools/list"], ["received", undefined]]);
});

test("what the caller puts beside the parameters arrives", async () => {
  const server = stub("modern");
  const client = await Client.connect(URL_, { fetch: server.fetch });
  await client.callTool({ name: "echo", arguments: {}, _meta: { "example/trace": [1] } });
  assert.deepEqual(server.calls.at(-1).message.params._meta["example/trace"], [1]);
  await client.close();
});

test("callbacks may call the client, and cancel", async () => {
  const answers = {
    "tools/call": (params, { message: { id } }) => {
      const stream = events();
      stream.send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: params._meta.progressToken, progress: 1 } });
      stream.send({ jsonrpc: "2.0", id, result: server.result({ content: [] }) });
      stream.end();
      return stream.response;
    },
  };
  const server = stub("legacy", { answers });
  const calls = [];
  const onraw = (way, text) => {
    if (way === "received" && text.includes("notifications/progress")) calls.push(client.listTools());
  };
  const client = await Client.connect(URL_, { fetch: server.fetch, version: "legacy", onraw });
  const abort = new AbortController();
  const nested = [];
  const onProgress = () => {
    nested.push(client.listTools(), client.requestText("tools/list"));
    client.notification("notifications/roots/list_changed");
    abort.abort();
  };
  await rejects(client.callTool({ name: "a" }, { onProgress, signal: abort.signal }), { code: "cancelled" });
  assert.deepEqual((await Promise.all([...nested, ...calls])).length, 3);
  // One that is aborted while it is being sent.
  const early = new AbortController();
  const other = await Client.connect(URL_, { fetch: server.fetch, version: "legacy", onraw: (_, text) => text.includes("now") && early.abort() });
  await rejects(other.callTool({ name: "now" }, { signal: early.signal }), { code: "cancelled" });
  await other.close();
  await client.close();
});

test("the server may ask while a call is open", async () => {
  const server = stub("modern", {
    answers: {
      "tools/call": ({ inputResponses, requestState }) =>
        inputResponses
          ? { resultType: "complete", content: [{ type: "text", text: `${inputResponses.who.content.name} ${requestState}` }] }
          : { resultType: "input_required", requestState: "s", inputRequests: { who: { method: "elicitation/create", params: { mode: "form", message: "Name?", requestedSchema: { type: "object", properties: {} } } } } },
    },
  });
  const handlers = { "elicitation/create": async ({ message }) => ({ action: "accept", content: { name: message } }) };
  const client = await Client.connect(URL_, { fetch: server.fetch, handlers });
  assert.equal((await client.callTool({ name: "ask" })).content[0].text, "Name? s");
  await client.close();
});

test("many calls at once do not mix", async () => {
  const server = stub("modern", {
    answers: {
      "tools/call": async ({ name }) => {
        await new Promise((resolve) => setTimeout(resolve, name.length % 3));
        return { resultType: "complete", content: [{ type: "text", text: name }] };
      },
    },
  });
  const client = await Client.connect(URL_, { fetch: server.fetch });
  const names = Array.from({ length: 200 }, (_, index) => "n".repeat(index % 7) + index);
  const results = await Promise.all(names.map((name) => client.callTool({ name })));
  assert.deepEqual(results.map(({ content }) => content[0].text), names);
  await client.close();
});

