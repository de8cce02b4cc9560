// What a client answers, asks by hand, subscribes to and is warned of.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, elicitationsOf, formDefaults, McpError } from "sandwire/client";

import { events, json, stub, tool } from "./stub.mjs";

// The package's own timers do not keep Node.
const alive = setInterval(() => {}, 1000);
test.after(() => clearInterval(alive));

const URL_ = "https://mcp.example/mcp";
const later = (milliseconds = 5) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const requestedSchema = {
  type: "object",
  properties: {
    name: { type: "string", default: "Ada" }, age: { type: "integer", default: 30 }, ok: { type: "boolean", default: false },
    one: { type: "string", enum: ["a", "b"], default: "b" }, titled: { type: "string", oneOf: [{ const: "x", title: "X" }], default: "x" },
    many: { type: "array", items: { type: "string", enum: ["p", "q"] }, default: ["p", "q"] }, none: { type: "string" }, odd: null,
  },
};
const FILLED = { name: "Ada", age: 30, ok: false, one: "b", titled: "x", many: ["p", "q"] };

/** What the server is answered when it asks this during a call; or why the call failed. */
async function asked(method, params, options) {
  let answer;
  const server = stub("modern", {
    answers: {
      "tools/call": ({ inputResponses }) => {
        answer = inputResponses?.q;
        return answer ? server.result({ content: [] }) : { resultType: "input_required", inputRequests: { q: { method, params } } };
      },
    },
  });
  const client = await Client.connect(URL_, { fetch: server.fetch, ...options });
  const failed = await client.callTool({ name: "t" }).then(() => undefined, (error) => error);
  const declared = server.calls.at(-1).message.params._meta["io.modelcontextprotocol/clientCapabilities"];
  await client.close();
  return { answer, failed, declared };
}

test("defaults fill what an accepted form leaves out", async () => {
  const form = { message: "?", requestedSchema };
  assert.deepEqual(formDefaults(form), FILLED);
  assert.deepEqual(formDefaults({}), {});
  const handlers = { "elicitation/create": () => ({ action: "accept", content: { age: 31 } }) };
  const filled = await asked("elicitation/create", form, { handlers, applyDefaults: true });
  assert.deepEqual(filled.answer, { action: "accept", content: { ...FILLED, age: 31 } });
  assert.deepEqual(filled.declared.elicitation, { form: { applyDefaults: true } });
  const plain = await asked("elicitation/create", form, { handlers });
  assert.deepEqual(plain.answer, { action: "accept", content: { age: 31 } });
  assert.deepEqual(plain.declared.elicitation, { form: {} });
  for (const action of ["decline", "cancel"]) {
    const refused = await asked("elicitation/create", form, { handlers: { "elicitation/create": () => ({ action, content: null }) }, applyDefaults: true });
    assert.deepEqual(refused.answer, { action });
  }
});

test("an address to visit is asked for where that is declared, and has no content", async () => {
  const visit = { mode: "url", message: "m", url: "https://example.com/" };
  const handlers = { "elicitation/create": ({ url }) => ({ action: url === visit.url ? "accept" : "cancel" }) };
  const capabilities = { elicitation: { form: {}, url: {} } };
  assert.deepEqual((await asked("elicitation/create", visit, { handlers, capabilities, applyDefaults: true })).answer, { action: "accept" });
  assert.equal((await asked("elicitation/create", visit, { handlers })).failed.code, "misbehaved");
});

test("roots are files", async () => {
  const roots = (...uris) => ({ handlers: { "roots/list": () => ({ roots: uris.map((uri) => ({ uri })) }) } });
  const { answer, declared } = await asked("roots/list", undefined, roots("file:///a"));
  assert.deepEqual(answer, { roots: [{ uri: "file:///a" }] });
  assert.deepEqual(declared.roots, { listChanged: true });
  const { failed } = await asked("roots/list", undefined, roots("file:///a", "https://example.com/"));
  assert.equal(failed.code, -32603);
  assert.match(failed.message, /file:\/\//);
});

test("a model is asked only with messages that keep to the rules", async () => {
  const handlers = { "sampling/createMessage": ({ maxTokens }) => ({ role: "assistant", content: { type: "text", text: `${maxTokens}` }, model: "m" }) };
  const capabilities = { sampling: { tools: {} } };
  const use = { role: "assistant", content: [{ type: "tool_use", id: "a", name: "t", input: {} }] };
  const result = { role: "user", content: [{ type: "tool_result", toolUseId: "a", content: [] }] };
  const { answer } = await asked("sampling/createMessage", { messages: [use, result], maxTokens: 17 }, { handlers, capabilities });
  assert.equal(answer.content.text, "17");
  for (const messages of [[use], [result], [use, { role: "user", content: [...result.content, { type: "text", text: "x" }] }]]) {
    assert.equal((await asked("sampling/createMessage", { messages, maxTokens: 1 }, { handlers, capabilities })).failed.code, "misbehaved");
  }
});

test("rounds end where the caller says", async () => {
  const server = stub("modern", { answers: { "tools/call": () => ({ resultType: "input_required", requestState: "s" }) } });
  const client = await Client.connect(URL_, { fetch: server.fetch, maxRounds: 1 });
  await assert.rejects(client.callTool({ name: "t" }), { code: "misbehaved" });
  assert.equal(server.calls.filter(({ message }) => message.method === "tools/call").length, 2);
});

test("questions can be answered later, over another connection", async () => {
  const server = stub("modern", {
    answers: {
      "tools/call": (params) =>
        params.inputResponses
          ? server.result({ content: [{ type: "text", text: JSON.stringify(params) }] })
          : { resultType: "input_required", requestState: "s\u00e9", inputRequests: { who: { method: "elicitation/create", params: { message: "?", requestedSchema } } } },
    },
  });
  const options = { fetch: server.fetch, capabilities: { elicitation: { form: {} } } };
  const first = await Client.connect(URL_, options);
  const kept = JSON.stringify(await first.callTool({ name: "t" }, { manualRounds: true }));
  await first.close();
  const { resultType, inputRequests, requestState } = JSON.parse(kept);
  assert.deepEqual([resultType, Object.keys(inputRequests), requestState], ["input_required", ["who"], "s\u00e9"]);
  const second = await Client.connect(URL_, options);
  const answered = { name: "t", inputResponses: { who: { action: "decline" } }, requestState };
  const { _meta, ...sent } = JSON.parse((await second.callTool(answered)).content[0].text);
  assert.deepEqual(sent, answered);
});

test("a subscription says what was agreed and how it ended", async () => {
  const acknowledge = { toolsListChanged: true };
  for (const [end, expected] of [["result", "complete"], ["bare", "unacknowledged"], ["cancel", "unsubscribed"], ["drop", "misbehaved"], ["close", "cancelled"]]) {
    const stream = events();
    const server = stub("modern", {
      answers: {
        "subscriptions/listen": (_, { message: { id } }) => {
          const _meta = { "io.modelcontextprotocol/subscriptionId": id };
          if (end !== "bare") {
            stream.send({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params: { _meta, notifications: acknowledge } });
            stream.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { _meta } });
          }
          if (end === "result" || end === "bare") stream.send({ jsonrpc: "2.0", id, result: { resultType: "complete", _meta } });
          if (end === "cancel") stream.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
          if (end !== "close") stream.end();
          return stream.response;
        },
      },
    });
    const client = await Client.connect(URL_, { fetch: server.fetch });
    const seen = [];
    const changes = client.subscribe({ toolsListChanged: true, promptsListChanged: true }, (method) => seen.push(method));
    assert.deepEqual(await changes.acknowledged, end === "bare" ? undefined : acknowledge, end);
    await later();
    if (end === "close") changes.close();
    const ended = await changes.ended;
    assert.equal(ended instanceof McpError ? ended.code : ended, expected);
    assert.deepEqual(seen, end === "bare" ? [] : ["notifications/tools/list_changed"], end);
    await later(20);
    assert.equal(server.calls.filter(({ message }) => message.method === "subscriptions/listen").length, 1);
    await client.close();
  }
});

test("visits that an error asks for are found in it, and only their end is told", async () => {
  const visit = { mode: "url", message: "m", url: "https://example.com/", elicitationId: "e1" };
  const stream = events();
  const server = stub("legacy", {
    answers: {
      "tools/call": (_, { message: { id } }) => json({ jsonrpc: "2.0", id, error: { code: -32042, message: "visit", data: { elicitations: [visit, 7] } } }),
    },
  });
  const fetch = async (url, init) => (init.method === "GET" ? stream.response : server.fetch(url, init));
  const heard = [];
  const client = await Client.connect(URL_, { fetch, onNotification: (method, params) => heard.push(params.elicitationId) });
  const error = await client.callTool({ name: "t" }).catch((error) => error);
  assert.deepEqual(elicitationsOf(error), [visit]);
  assert.deepEqual([undefined, null, 5, new Error("x"), new McpError(-32042, "x")].flatMap(elicitationsOf), []);
  for (const elicitationId of ["e2", "e1", "e1"]) stream.send({ jsonrpc: "2.0", method: "notifications/elicitation/complete", params: { elicitationId } });
  await later();
  assert.deepEqual(heard, ["e1"]);
  await client.close();
});

test("what the server's own stream asks is answered", async () => {
  const stream = events();
  const server = stub("legacy");
  const fetch = async (url, init) => (init.method === "GET" ? stream.response : server.fetch(url, init));
  const handlers = { "elicitation/create": () => ({ action: "accept" }) };
  const client = await Client.connect(URL_, { fetch, handlers, applyDefaults: true });
  stream.send({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: { message: "?", requestedSchema } });
  await later();
  const { message } = server.calls.at(-1);
  assert.deepEqual(message, { jsonrpc: "2.0", id: "q", result: { action: "accept", content: FILLED } });
  await client.close();
});

test("a stream that is refused is told, and one that is put off is asked for again", async () => {
  for (const [status, again] of [[401, false], [403, false], [404, false], [405, false], [503, true]]) {
    const server = stub("legacy");
    let asks = 0;
    const fetch = async (url, init) => {
      if (init.method !== "GET") return server.fetch(url, init);
      asks += 1;
      return new Response(null, { status, headers: { "retry-after": "0" } });
    };
    const warnings = [];
    const client = await Client.connect(URL_, { fetch, onWarning: (warning) => warnings.push(warning) });
    await later(again ? 400 : 50);
    assert.equal(asks > 1, again, `${status}`);
    assert.deepEqual(warnings.map((warning) => [warning instanceof McpError, warning.status]), again ? [] : [[true, status]]);
    await client.close();
  }
});

test("a server that refuses to hear that the client is ready is left, unless that is ignored", async () => {
  const server = stub("legacy");
  const fetch = async (url, init) =>
    init.body?.includes("notifications/initialized") ? new Response(null, { status: 500 }) : server.fetch(url, init);
  await assert.rejects(Client.connect(URL_, { fetch }), { code: "status", status: 500 });
  const client = await Client.connect(URL_, { fetch, ignoreFailedInitialized: true });
  assert.equal((await client.listTools()).tools.length, 2);
  await client.close();
});

test("a tool that is left out is told with the reason", async () => {
  const bad = { name: "bad", inputSchema: { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } } };
  const server = stub("modern", { answers: { "tools/list": () => server.result({ tools: [tool("good"), bad], ttlMs: 0, cacheScope: "private" }) } });
  const warnings = [];
  const client = await Client.connect(URL_, { fetch: server.fetch, onWarning: ({ message }) => warnings.push(message) });
  assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), ["good"]);
  await later();
  assert.deepEqual(warnings, ["the tool bad is left out: x-mcp-header stands at no string, integer or boolean that `properties` lead to, or too often"]);
});
