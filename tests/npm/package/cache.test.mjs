// What modern servers say may be used again.
import assert from "node:assert/strict";
import { test } from "node:test";

import { ResultCache } from "sandwire/cache";
import { Client } from "sandwire/client";

import { events, json, stub, tool } from "./stub.mjs";

const URL_ = "https://mcp.example/mcp";

/** A client with a cache, and a server that counts what it is asked. */
async function connected({ era = "modern", cache = new ResultCache(), hints = { ttlMs: 60_000, cacheScope: "private" }, answers = {} } = {}) {
  const listen = events();
  let subscribed;
  const server = stub(era, {
    answers: {
      "tools/list": ({ cursor }) => server.result({ tools: [tool(`t${asked("tools/list")}`)], ...hints, ...(cursor === undefined && { nextCursor: "n" }) }),
      "resources/read": ({ uri }) => server.result({ contents: [{ uri, text: `${asked("resources/read")}` }], ...hints }),
      "subscriptions/listen": (_, { message: { id } }) => {
        subscribed = { "io.modelcontextprotocol/subscriptionId": id };
        return listen.response;
      },
      ...answers,
    },
  });
  const asked = (method) => server.calls.filter(({ message }) => message?.method === method).length;
  const client = await Client.connect(URL_, { fetch: server.fetch, cache, handlers: { "roots/list": () => ({ roots: [] }) } });
  const change = async (method, params) => {
    if (!subscribed) void client.listen({}, () => {});
    await new Promise((resolve) => setTimeout(resolve, 5));
    listen.send({ jsonrpc: "2.0", method, params: { ...params, _meta: subscribed } });
    await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return { client, server, asked, change, cache };
}

test("a result is used again for the same call only", async () => {
  const { client, asked } = await connected();
  const first = await client.listTools();
  assert.deepEqual(await client.listTools(), first);
  assert.equal(await client.requestText("tools/list"), await client.requestText("tools/list"));
  assert.equal(asked("tools/list"), 1);
  await client.listTools({ cursor: "" });
  await client.listTools({ cursor: "n" });
  await client.listAllTools();
  assert.equal(asked("tools/list"), 3);
  await client.readResource({ uri: "a:1" });
  await client.readResource({ uri: "a:1" });
  await client.readResource({ uri: "a:2" });
  assert.equal(asked("resources/read"), 2);
  await client.callTool({ name: "echo" });
  await client.callTool({ name: "echo" });
  assert.equal(asked("tools/call"), 2);
});

test("what has no time, or is up, is asked for again", async () => {
  for (const hints of [{}, { ttlMs: 0 }, { ttlMs: -5 }, { ttlMs: null }, { ttlMs: "x" }]) {
    const { client, asked } = await connected({ hints });
    await client.listTools();
    await client.listTools();
    assert.equal(asked("tools/list"), 2, JSON.stringify(hints));
  }
  const { client, asked } = await connected({ cache: new ResultCache({ maxTtl: 10 }) });
  await client.listTools();
  await new Promise((resolve) => setTimeout(resolve, 15));
  await client.listTools();
  assert.equal(asked("tools/list"), 2);
});

test("nothing is kept of a legacy server, or without a cache", async () => {
  for (const options of [{ era: "legacy" }, { cache: undefined }]) {
    const { client, asked } = options.era ? await connected(options) : await connected({ cache: null });
    await client.listTools();
    await client.listTools();
    assert.equal(asked("tools/list"), 2);
  }
});

test("connections that share a store and a partition share results, others do not", async () => {
  const store = new Map();
  const { client } = await connected({ cache: new ResultCache({ store, partition: "a" }) });
  await client.listTools();
  for (const [partition, times] of [["a", 0], ["b", 1], [undefined, 1]]) {
    const other = await connected({ cache: new ResultCache({ store, partition }) });
    await other.client.listTools();
    assert.equal(other.asked("tools/list"), times, partition);
  }
});

test("a change that is told is known at once", async () => {
  const { client, asked, change, cache } = await connected();
  await client.listTools();
  await client.readResource({ uri: "a:1" });
  await change("notifications/prompts/list_changed");
  await client.listTools();
  assert.equal(asked("tools/list"), 1);
  await change("notifications/tools/list_changed");
  await client.listTools();
  assert.equal(asked("tools/list"), 2);
  await change("notifications/resources/updated", { uri: "a:1/part" });
  await client.readResource({ uri: "a:1" });
  assert.equal(asked("resources/read"), 2);
  cache.clear();
  await client.listTools();
  assert.equal(asked("tools/list"), 3);
});

test("what was under way when it changed is not kept", async () => {
  let answer;
  const { client, asked, change, server } = await connected({
    answers: { "tools/list": () => new Promise((resolve) => (answer = () => resolve(server.result({ tools: [], ttlMs: 60_000 })))) },
  });
  const first = client.listTools();
  await change("notifications/tools/list_changed");
  answer();
  await first;
  const second = client.listTools();
  await new Promise((resolve) => setTimeout(resolve, 5));
  answer();
  await second;
  assert.equal(asked("tools/list"), 2);
});

test("a cursor that is refused takes all pages with it", async () => {
  const { client, asked } = await connected({
    answers: {
      "tools/list": ({ cursor }, { message: { id } }) =>
        cursor === "gone"
          ? json({ jsonrpc: "2.0", id, error: { code: -32602, message: "no such cursor" } })
          : { resultType: "complete", tools: [], ttlMs: 60_000 },
    },
  });
  await client.listTools();
  await assert.rejects(client.listTools({ cursor: "gone" }), { code: -32602 });
  await client.listTools();
  assert.equal(asked("tools/list"), 3);
});

test("what took input is not kept, and comes out of the handlers all the same", async () => {
  const { client, asked } = await connected({
    answers: {
      "resources/read": ({ uri, inputResponses }) =>
        inputResponses || uri === "a:2"
          ? { resultType: "complete", contents: [{ uri, text: "x" }], ttlMs: 60_000 }
          : { resultType: "input_required", inputRequests: { r: { method: "roots/list" } } },
    },
  });
  assert.equal((await client.readResource({ uri: "a:1" })).contents[0].text, "x");
  assert.equal(asked("resources/read"), 3);
  await client.readResource({ uri: "a:1" });
  assert.equal(asked("resources/read"), 6);
  await client.readResource({ uri: "a:2" });
  await client.readResource({ uri: "a:2" });
  assert.equal(asked("resources/read"), 7);
  const asks = await client.readResource({ uri: "a:1" }, { manualRounds: true });
  assert.equal(asks.resultType, "input_required");
});

test("a store that fails or takes its time loses nothing", async () => {
  const failing = { get: () => Promise.reject(new Error("away")), set: () => assert.fail("full"), delete: () => assert.fail("away") };
  const { client, change } = await connected({ cache: new ResultCache({ store: failing }) });
  assert.equal((await client.listTools()).tools.length, 1);
  await change("notifications/tools/list_changed");
  assert.equal((await client.listTools()).tools.length, 1);
  const map = new Map();
  const slow = Object.fromEntries(["get", "set", "delete"].map((name) => [name, async (...args) => (await new Promise(setImmediate), map[name](...args))]));
  const other = await connected({ cache: new ResultCache({ store: slow }) });
  await other.client.listTools();
  await other.client.listTools();
  assert.equal(other.asked("tools/list"), 1);
});
