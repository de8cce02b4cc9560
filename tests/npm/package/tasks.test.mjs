import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { Client, McpError } from "sandwire/client";

import { json, stub } from "./stub.mjs";

const URL_ = "https://mcp.example/mcp";
const TASKS = "io.modelcontextprotocol/tasks";
const fails = (promise) => promise.then(() => assert.fail("it did not fail"), (error) => error);

/** A server whose every call becomes a task that goes through these states, one for each look. */
function tasks(states) {
  const updates = [];
  const base = { taskId: "t1", createdAt: "", lastUpdatedAt: "", ttlMs: null, pollIntervalMs: 1 };
  const server = stub("modern", {
    answers: {
      "tools/call": () => ({ resultType: "task", ...base, status: "working" }),
      "tasks/get": () => server.result({ ...base, ...(states.length > 1 ? states.shift() : states[0]) }),
      "tasks/update": ({ inputResponses }) => (updates.push(inputResponses), server.result({})),
      "tasks/cancel": () => (updates.push("cancelled"), server.result({})),
    },
  });
  return { server, updates };
}

const done = { status: "completed", result: { content: [{ type: "text", text: "done" }] } };
const asks = (...keys) => ({
  status: "input_required",
  inputRequests: Object.fromEntries(keys.map((key) => [key, { method: "elicitation/create", params: { message: key } }])),
});

describe("tasks", () => {
  test("a call waits for its task, whose questions the handlers answer once", async () => {
    const { server, updates } = tasks([{ status: "working" }, asks("a", "b"), asks("a", "c"), done]);
    const asked = [];
    const handler = ({ message }) => (asked.push(message), { action: "accept", content: { message } });
    const client = await Client.connect(URL_, { fetch: server.fetch, tasks: true, handlers: { "elicitation/create": handler } });
    const result = await client.callTool({ name: "any" });
    assert.equal(result.content[0].text, "done");
    assert.deepEqual(asked, ["a", "b", "c"]);
    assert.deepEqual(updates.map(Object.keys), [["a", "b"], ["c"]]);
    const { params } = server.calls.at(-1).message;
    assert.deepEqual(params._meta["io.modelcontextprotocol/clientCapabilities"].extensions, { [TASKS]: {} });
    const looks = server.calls.filter(({ message }) => message.method.startsWith("tasks/"));
    assert.ok(looks.every(({ headers }) => new Headers(headers).get("mcp-name") === "t1"));
    await client.close();
  });

  test("a task can be looked at, answered and given up", async () => {
    const { server, updates } = tasks([{ status: "cancelled" }]);
    const client = await Client.connect(URL_, { fetch: server.fetch, tasks: true });
    const task = await client.callToolOrBeginTask({ name: "any" });
    assert.deepEqual([task.resultType, task.taskId], ["task", "t1"]);
    await client.updateTask("t1", { a: { action: "decline" } });
    await client.cancelTask("t1");
    assert.deepEqual(updates, [{ a: { action: "decline" } }, "cancelled"]);
    assert.equal((await client.getTask("t1")).status, "cancelled");
    assert.equal((await fails(client.finishTask(task))).code, "cancelled");
    await client.close();
  });

  test("what fails, is refused or is given up ends the wait", async () => {
    const failed = tasks([{ status: "failed", error: { code: -32000, message: "broken", data: 7 } }]);
    let client = await Client.connect(URL_, { fetch: failed.server.fetch, tasks: true });
    const error = await fails(client.callTool({ name: "any" }));
    assert.ok(error instanceof McpError);
    assert.deepEqual([error.code, error.message, error.data], [-32000, "broken", 7]);
    await client.close();

    const refused = tasks([asks("a")]);
    client = await Client.connect(URL_, { fetch: refused.server.fetch, tasks: true });
    assert.equal((await fails(client.callTool({ name: "any" }))).code, -32601);
    assert.deepEqual(refused.updates, ["cancelled"]);
    await client.close();

    const slow = tasks([{ status: "working" }]);
    client = await Client.connect(URL_, { fetch: slow.server.fetch, tasks: true });
    const abort = new AbortController();
    const waits = client.finishTask({ taskId: "t1", status: "working", pollIntervalMs: 60_000 }, { signal: abort.signal });
    abort.abort();
    assert.equal((await fails(waits)).code, "cancelled");
    await client.close();
  });
});

describe("extensions", () => {
  test("results of types that nobody claimed are errors", async () => {
    const server = stub("modern", { answers: { "notes/later": () => ({ resultType: "later", until: 7 }) } });
    let client = await Client.connect(URL_, { fetch: server.fetch });
    assert.equal((await fails(client.request("notes/later"))).code, "misbehaved");
    await client.close();
    const extensions = { "com.example/notes": { most: 1 } };
    client = await Client.connect(URL_, { fetch: server.fetch, extensions, resultTypes: ["other", "later"] });
    const result = await client.request("notes/later");
    assert.deepEqual([result.resultType, result.until], ["later", 7]);
    assert.deepEqual(server.calls.at(-1).message.params._meta["io.modelcontextprotocol/clientCapabilities"], { extensions });
    await client.close();
  });

  test("an id that is none is refused", async () => {
    for (const id of ["notes", "com.example/", "1.com/a", "com..example/a", "com.example/a/b", "-/a"]) {
      const error = await fails(Client.connect(URL_, { fetch: async () => json({}), extensions: { [id]: {} } }));
      assert.equal(error.code, "misuse", id);
    }
  });
});
