// Peers, handlers and hosts without goodwill: a typed error each time, and nothing lost in silence.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { Client, McpError } from "sandwire/client";
import { Server } from "sandwire/server";

import { stub } from "./stub.mjs";

const URL_ = "https://mcp.example/mcp";
const alive = setInterval(() => {}, 1000);
test.after(() => clearInterval(alive));

test("an address matches a template in little time and climbs nowhere", async () => {
  const server = new Server({ name: "s", version: "1" })
    .resource("repo://{+owner}/blob/{+path}", { name: "r" }, () => "x")
    .resource("q://{a}.{b}.{c}", { name: "q" }, () => "x")
    .resource("file:///data/{+path}", { name: "f" }, (_, { path }) => path);
  const client = await Client.connect(server);
  const read = async (uri) => (await client.readResource({ uri })).contents[0].text;
  assert.equal(await read("file:///data/a%20b/..c"), "a b/..c");
  const start = performance.now();
  const climbing = ["file:///data/../x", "file:///data/a/%2e%2e/%2E%2e/x", "file:///data/a%2F..%2Fx"];
  const long = [`repo://x${"/blob/".repeat(8000)}`, `repo://x${"/blob/".repeat(600)}/..`, `q://${".".repeat(800)}/`];
  for (const uri of [...climbing, ...long]) await assert.rejects(client.readResource({ uri }), { code: -32602 }, uri.slice(0, 40));
  assert.ok(performance.now() - start < 2000, `${performance.now() - start} ms`);
});

for (const era of ["legacy", "modern"]) {
  test(`${era}: a list that is none is a typed error, and a long one is read`, async () => {
    const connect = (page) => Client.connect(URL_, { fetch: stub(era, { answers: { "tools/list": () => page } }).fetch });
    for (const page of [{}, { tools: null }, { tools: "abc" }]) {
      const client = await connect(page);
      await assert.rejects(client.listAllTools(), (error) => error instanceof McpError, JSON.stringify(page));
    }
    for (const page of [{ tools: [], nextCursor: null }, { tools: Array(200_000).fill(0) }]) {
      assert.equal((await (await connect(page)).listAllTools()).length, page.tools.length);
    }
  });
}

test("a fetch that gives no Response fails its call and no other", async () => {
  const good = await Client.connect(URL_, { fetch: stub("modern").fetch });
  const read = new Response("{}", { headers: { "content-type": "application/json" } });
  await read.text();
  const headers = new Headers({ "content-type": "application/json" });
  for (const response of [undefined, null, 5, {}, { status: 200, headers: {}, body: null }, { status: 200, headers, body: "{}" }, read]) {
    await assert.rejects(Client.connect(URL_, { fetch: async () => response, timeout: 20_000 }), (error) => {
      return error instanceof McpError && error.code === "transport";
    });
  }
  assert.ok(await good.callTool({ name: "echo", arguments: {} }));
});

test("what cannot be connected to, or not like this, is a typed error", async () => {
  const { fetch } = stub("modern");
  const throws = () => {
    throw new Error("no");
  };
  const members = { postMessage() {}, addEventListener() {}, removeEventListener() {} };
  const targets = [undefined, 5, {}, { postMessage() {} }, { serve: throws }, { ...members, addEventListener: throws }, { ...members, start: throws }, "::"];
  for (const target of targets) await assert.rejects(Client.connect(target), (error) => error instanceof McpError && error.code === "misuse");
  const circular = {};
  circular.self = circular;
  const odd = ["", "{", "5", "\0", '{"a":"\0"}', "\ufeff{}", undefined].map((text) => ({ stringify: () => text }));
  const misuse = [...odd, { clientInfo: () => 1 }, { clientInfo: circular }, { capabilities: [] }, { capabilities: 1n }, { timeout: 1n }, { signal: {} }];
  for (const options of misuse) await assert.rejects(Client.connect(URL_, { fetch, ...options }), (error) => error instanceof McpError && error.code === "misuse");
  await assert.rejects(Client.connect(URL_, { fetch, parse: throws }), (error) => error.code === "malformed" && error.cause.message === "no");
  await (await Client.connect(URL_, { fetch, clientInfo: null, capabilities: null, parse: () => null })).close();
});

/** A client whose calls are answered by `answer`, which gets the request and gives the reads of a body. */
async function reading(answer) {
  const server = stub("modern");
  const read = (init) => {
    const reads = answer(init);
    return { status: 200, ok: true, headers: new Headers({ "content-type": "application/json" }), body: { getReader: () => reads }, bodyUsed: false };
  };
  const fetch = async (url, init) => (init.headers["mcp-method"] === "tools/call" ? read(init) : server.fetch(url, init));
  return Client.connect(URL_, { fetch });
}

test("a body comes in whatever views its reader gives", async () => {
  for (const View of [Uint8Array, DataView, Uint16Array, Int8Array]) {
    const client = await reading(({ body }) => {
      const text = JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id, result: { resultType: "complete", content: [] } });
      const { buffer } = Uint8Array.from(` ${text}${" ".repeat(1 + (text.length % 2))}`, (char) => char.charCodeAt());
      const views = [new Uint8Array(0), new View(buffer)];
      return { read: async () => ({ value: views[0], done: !views.shift() }) };
    });
    assert.deepEqual((await client.callTool({ name: "x" })).content, [], View.name);
  }
});

test("a body that nobody wants any more is not read on, even if fetch does not heed its signal", async () => {
  let reads = 0;
  let cancelled;
  const over = new Promise((resolve) => (cancelled = resolve));
  const value = new Uint8Array(65_536).fill(32);
  const client = await reading(() => ({ read: async () => ({ value, reads: ++reads }), cancel: cancelled }));
  await assert.rejects(client.callTool({ name: "x" }), { code: "too-large" });
  await over;
  assert.ok(reads < 70, `${reads}`);
});

test("what is thrown and cannot be looked at fails its call alone", async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const fail = () => {
    throw proxy;
  };
  await assert.rejects(Client.connect(URL_, { fetch: fail, timeout: 20_000 }), { code: "transport" });
  const server = new Server({ name: "s", version: "1" }).prompt("p", {}, fail).tool("t", {}, fail);
  const client = await Client.connect(server);
  await assert.rejects(client.getPrompt({ name: "p" }), { code: -32603 });
  assert.ok(await client.callTool({ name: "t" }).catch((error) => error.code === -32603));
});

for (const version of ["2025-11-25", "2026-07-28"]) {
  test(`${version}: whatever a handler throws is answered`, async () => {
    const circular = {};
    circular.self = circular;
    const thrown = [
      undefined, null, 5, Symbol("s"), Object.create(null), { message: 42 }, Object.assign(new Error("zero"), { code: 0 }),
      new McpError(-32000, "data", { data: circular }), new McpError(-32000, "data", { data: 1n }), new McpError(NaN, "NaN"),
      new McpError(1.5, "fraction"), { code: -32000, message: "no McpError" }, { get message() { throw new Error("no"); } }, new DOMException("late", "TimeoutError"),
    ];
    const server = new Server({ name: "s", version: "1" }).prompt("none", {}, () => null);
    thrown.forEach((value, at) => {
      const fail = () => {
        throw value;
      };
      server.prompt(`${at}`, {}, fail).tool(`${at}`, {}, fail);
    });
    const client = await Client.connect(server, { version });
    await assert.rejects(client.getPrompt({ name: "none" }), { code: -32603 });
    for (const [at, value] of thrown.entries()) {
      const name = `${at}`;
      const wanted = value instanceof McpError && Number.isInteger(value.code) ? value.code : -32603;
      await assert.rejects(client.getPrompt({ name }), { code: wanted }, name);
      if (value instanceof McpError) await assert.rejects(client.callTool({ name }), { code: wanted }, name);
      else assert.equal((await client.callTool({ name })).isError, true, name);
    }
  });

  test(`${version}: whatever a client's handler does is answered`, async () => {
    const server = new Server({ name: "s", version: "1" }).tool("ask", {}, async (_, context) => {
      return JSON.stringify(await context.elicit("k", { message: "?", requestedSchema: { type: "object", properties: {} } }));
    });
    const throwing = (value) => () => {
      throw value;
    };
    const handlers = [() => undefined, ...[undefined, null, { message: 5 }, Object.assign(new Error("x"), { code: 0 }), Symbol("s")].map(throwing)];
    for (const handler of handlers) {
      const client = await Client.connect(server, { version, handlers: { "elicitation/create": handler } });
      const answer = await client.callTool({ name: "ask" }).catch((error) => error);
      assert.ok(answer.isError || typeof answer.code === "number", `${handler} ${JSON.stringify(answer)}`);
      await client.close();
    }
  });
}

test("what a request lacks is -32602", async () => {
  const server = new Server({ name: "s", version: "1" })
    .prompt("needs", { arguments: [{ name: "toString", required: true }] }, () => "x")
    .completion("needs", "x", () => ["a"])
    .resource("{+any}", { name: "any" }, () => "x");
  const client = await Client.connect(server);
  for (const [method, params] of [
    ["completion/complete", {}], ["completion/complete", { ref: null, argument: null }], ["resources/read", {}],
    ["resources/read", { uri: 5 }], ["resources/read", { uri: ["x"] }], ["prompts/get", { name: "needs" }],
    ["prompts/get", { name: "needs", arguments: "x" }],
  ]) {
    await assert.rejects(client.request(method, params), { code: -32602 }, `${method} ${JSON.stringify(params)}`);
  }
});

test("arguments that are no object are -32602", async () => {
  const client = await Client.connect(new Server({ name: "s", version: "1" }).tool("x", {}, () => "x").prompt("x", {}, () => "x"));
  for (const method of ["tools/call", "prompts/get"]) {
    for (const args of [5, "x", [], [1], true]) await assert.rejects(client.request(method, { name: "x", arguments: args }), { code: -32602 }, JSON.stringify(args));
    for (const args of [null, undefined, {}]) assert.ok(await client.request(method, { name: "x", arguments: args }));
  }
});

/** Whether nothing holds these any more. */
async function collected(...references) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const left = () => references.filter((reference) => reference.deref()).length;
  for (let round = 0; round < 20 && left(); round++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  return left() === 0;
}

test("a run that ends at its question is not kept", async () => {
  const runs = [];
  const server = new Server({ name: "s", version: "1" }).tool("ask", {}, async (_, context) => {
    const kept = { roots: "none" };
    runs.push(new WeakRef(kept));
    kept.roots = await context.roots("k");
    return JSON.stringify(kept);
  });
  const fetch = (url, init) => server.fetch(new Request(url, init));
  const client = await Client.connect("http://localhost/mcp", { fetch, version: "2026-07-28", handlers: { "roots/list": () => ({ roots: [] }) } });
  for (let count = 0; count < 3; count++) assert.equal((await client.callTool({ name: "ask" })).content[0].text, '{"roots":{"roots":[]}}');
  assert.equal(runs.length, 6);
  assert.ok(await collected(runs[0], runs[2]));
});

test("a question that was withdrawn is not kept, though its handler never ends", async () => {
  const server = new Server({ name: "s", version: "1" }).tool("ask", {}, async (_, context) => JSON.stringify(await context.roots("k")));
  let asked;
  const never = (_, { signal }) => {
    asked(new WeakRef(signal));
    return new Promise(() => {});
  };
  const client = await Client.connect(server, { version: "2025-11-25", handlers: { "roots/list": never } });
  const caller = new AbortController();
  const question = new Promise((resolve) => (asked = resolve));
  const call = client.callTool({ name: "ask" }, { signal: caller.signal });
  const signal = await question;
  caller.abort();
  await assert.rejects(call, { code: "cancelled" });
  assert.ok(await collected(signal));
  await client.close();
});

test("a schema that is no JSON harms no other tool", async () => {
  const server = new Server({ name: "s", version: "1" }).tool("good", {}, () => "x").tool("bad", { inputSchema: { type: "object", big: 1n } }, () => "x");
  const fetch = (url, init) => server.fetch(new Request(url, init));
  const client = await Client.connect("http://localhost/mcp", { fetch, version: "2026-07-28" });
  for (const name of ["bad", "good"]) assert.ok(await client.callTool({ name }), name);
});

test("parameters that are no JSON are the caller's mistake", async () => {
  const server = new Server({ name: "s", version: "1" }).tool("echo", {}, () => "x");
  const client = await Client.connect(server);
  const misuse = (error) => error instanceof McpError && error.code === "misuse";
  const circular = {};
  circular.self = circular;
  const throwing = {
    get x() {
      throw new Error("no");
    },
  };
  for (const args of [{ big: 1n }, circular, throwing]) {
    await assert.rejects(client.callTool({ name: "echo", arguments: args }), misuse);
    assert.throws(() => client.notification("notifications/x", args), misuse);
  }
  for (const params of [() => 1, { toJSON() {} }, [1], "x"]) await assert.rejects(client.request("tools/call", params), misuse);
  await assert.rejects(client.request(undefined), misuse);
  assert.ok(await client.callTool({ name: "echo", arguments: {} }));
});

for (const era of ["legacy", "modern"]) {
  test(`${era}: arguments arrive whole or the call fails`, async () => {
    let deep = 1;
    for (let depth = 0; depth < 200; depth++) deep = [deep];
    const server = stub(era);
    const client = await Client.connect(URL_, { fetch: server.fetch });
    const sent = server.calls.length;
    const { signal } = new AbortController();
    await assert.rejects(client.callTool({ name: "echo", arguments: { deep } }, { signal }), { code: "misuse" });
    assert.equal(server.calls.length, sent);
    const odd = { keep: 1, odd: "cut \ud83d" };
    const { error } = await client.callTool({ name: "echo", arguments: odd }).catch((error) => ({ error }));
    if (error) assert.equal(error.code, "misuse");
    else assert.deepEqual(server.calls.at(-1).message.params.arguments, odd);
  });
}

test("a result that cannot be sent is an error", async () => {
  let deep = 1;
  for (let depth = 0; depth < 200; depth++) deep = { deep };
  const server = new Server({ name: "s", version: "1" })
    .prompt("deep", {}, () => deep)
    .prompt("data", {}, () => {
      throw new McpError(-32000, "deep", { data: deep });
    });
  const client = await Client.connect(server);
  await assert.rejects(client.getPrompt({ name: "deep" }), { code: -32603 });
  await assert.rejects(client.getPrompt({ name: "data" }), { code: -32000 });
});

test("a timer that fires too early is set anew", async () => {
  const { setTimeout } = globalThis;
  const waits = [];
  globalThis.setTimeout = (run, wait) => {
    waits.push(wait);
    return setTimeout(run, Math.ceil(wait / 4));
  };
  const client = await Client.connect(URL_, { fetch: stub("modern", { answers: { "tools/call": () => new Promise(() => {}) } }).fetch });
  await assert.rejects(client.callTool({ name: "slow" }, { timeout: 40 }), { code: "timeout" });
  globalThis.setTimeout = setTimeout;
  assert.ok(waits.filter((wait) => wait <= 40).length > 1, `${waits}`);
  await client.close();
});

/** A port whose other end a test plays. */
function port({ post = () => {} } = {}) {
  const listeners = new Map();
  return {
    posted: [],
    closed: 0,
    postMessage(message) {
      post(message);
      this.posted.push(message);
    },
    addEventListener: (type, listener) => void listeners.set(type, listener),
    removeEventListener: (type) => void listeners.delete(type),
    close() {
      this.closed += 1;
    },
    tell: (event) => listeners.get(event.type)?.(event),
    answer(result) {
      this.tell({ type: "message", data: JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(this.posted.at(-1)).id, result }) });
    },
    listeners,
  };
}

const HELLO = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "p", version: "1" } };

async function through(port, options) {
  const connecting = Client.connect(port, { version: "2025-11-25", ...options });
  while (!port.posted.length) await new Promise((resolve) => setImmediate(resolve));
  port.answer(HELLO);
  return connecting;
}

test("a port that takes no message fails its calls at once", async () => {
  let broken = false;
  const fail = () => {
    if (broken) throw new Error("gone");
  };
  const here = port({ post: fail });
  const ends = [];
  const client = await through(here, { onclose: (error) => ends.push(error) });
  broken = true;
  await assert.rejects(client.listTools(), (error) => error instanceof McpError && error.code === "closed" && error.cause.message === "gone");
  assert.equal(ends.length, 1);
  await assert.rejects(client.listTools(), { code: "closed" });
  assert.equal(here.listeners.size, 0);
});

test("a port's events without goodwill do not stop the connection", async () => {
  const here = port();
  const client = await through(here);
  const listing = client.listTools();
  const throwing = (type, name) => Object.defineProperty({ type }, name, { get: () => { throw new Error("no"); } });
  for (const event of [throwing("message", "data"), { type: "message", data: 5 }, { type: "message", data: "{" }, { type: "messageerror" }]) here.tell(event);
  here.tell(Object.create(throwing("message", "type"), { type: { value: "message" }, data: { value: undefined } }));
  const sent = here.posted.map((text) => JSON.parse(text)).find(({ method }) => method === "tools/list");
  here.tell({ type: "message", data: JSON.stringify({ jsonrpc: "2.0", id: sent.id, result: { tools: [] } }) });
  assert.deepEqual((await listing).tools, []);
  here.tell({ type: "message", data: null });
  await assert.rejects(client.listTools(), { code: "closed" });
  assert.deepEqual([here.closed, here.listeners.size], [1, 0]);
});

test("a port that fails says why", async () => {
  const here = port();
  const client = await through(here);
  const listing = client.listTools();
  here.tell({ type: "error", message: "the worker broke" });
  await assert.rejects(listing, (error) => error instanceof McpError && error.message === "the worker broke" && error.cause.type === "error");
});

test("a server's port without goodwill does not stop it", async () => {
  let broken = false;
  const here = port({ post: () => { if (broken) throw new Error("gone"); } });
  await new Server({ name: "s", version: "1" }).tool("t", {}, () => "x").serve(here);
  here.tell({ type: "message", get data() { throw new Error("no"); } });
  here.tell({ type: "message", data: 5 });
  const ask = (id, method, params = {}) => here.tell({ type: "message", data: JSON.stringify({ jsonrpc: "2.0", id, method, params }) });
  ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } });
  while (here.posted.length < 1) await new Promise((resolve) => setImmediate(resolve));
  ask(2, "tools/list");
  while (here.posted.length < 2) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(JSON.parse(here.posted[1]).result.tools.length, 1);
  broken = true;
  ask(3, "tools/list");
  while (!here.closed) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(here.listeners.size, 0);
});

test("a log message without data is null, and one that is no JSON is refused", async () => {
  const logged = [];
  const server = new Server({ name: "s", version: "1" }).tool("log", {}, (_, context) => {
    context.log("info", undefined);
    context.log("info", () => 1);
    return "x";
  });
  const client = await Client.connect(server, { onNotification: (_, params) => logged.push(params.data), version: "2025-11-25" });
  assert.equal((await client.callTool({ name: "log" })).isError, undefined);
  assert.deepEqual(logged, [null, null]);
});
