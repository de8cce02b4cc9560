// Arguments mirrored into header fields, where the tools' input schemas say so.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Client } from "sandwire/client";
import { Client as ToolClient } from "sandwire/tools";

import { json, stub } from "./stub.mjs";

const URL_ = "https://mcp.example/mcp";
const annotated = (name, properties, rest) => ({ name, inputSchema: { type: "object", properties, ...rest } });
const region = (header = "Region", type = "string") => ({ region: { type, "x-mcp-header": header } });

/** A modern server with these tools, and a client that has listed them. */
async function listed(tools, Class = Client) {
  const list = { tools };
  const server = stub("modern", { answers: { "tools/list": () => server.result({ ttlMs: 0, cacheScope: "private", ...list }) } });
  const client = await Class.connect(URL_, { fetch: server.fetch });
  const page = await client.listTools();
  const call = async (name, args, options) => {
    await client.callTool({ name, arguments: args }, options);
    const { headers } = server.calls.at(-1);
    return Object.fromEntries(Object.entries(headers).filter(([name]) => /^mcp-param/i.test(name)));
  };
  return { client, server, page, call, list };
}

for (const Class of [Client, ToolClient]) {
  test(`values go as a field can carry them: ${Class === Client ? "client" : "tools"}`, async () => {
    const properties = {
      ...region(),
      deep: { type: "object", properties: { n: { type: "integer", "x-mcp-header": "N" } } },
      flag: { type: "boolean", "x-mcp-header": "Flag" },
    };
    const { client, call } = await listed([annotated("query", properties), annotated("plain", {})], Class);
    for (const [value, field] of [
      ["us west 1", "us west 1"], ["", ""], ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="], ["Malmö", "=?base64?TWFsbcO2?="],
      [" padded ", "=?base64?IHBhZGRlZCA=?="], ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="], ["a ", "=?base64?YSA=?="], [" ", "=?base64?IA==?="],
      ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="], ["\tindented", "=?base64?CWluZGVudGVk?="], ["=?base64?", "=?base64?"],
      ["=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="], ["a?=", "a?="], ["x".repeat(100_000), "x".repeat(100_000)],
    ]) {
      assert.deepEqual(await call("query", { region: value }), { "Mcp-Param-Region": field }, JSON.stringify(value));
    }
    assert.deepEqual(await call("query", { region: null, deep: { n: 42 }, flag: false }), { "Mcp-Param-N": "42", "Mcp-Param-Flag": "false" });
    assert.deepEqual(await call("query", { region: 1e21, deep: { n: -0.5 } }), { "Mcp-Param-Region": "1e+21", "Mcp-Param-N": "-0.5" });
    for (const args of [undefined, {}, { deep: 5 }, { deep: [1] }, { deep: null, region: {} }, { region: ["x"] }]) assert.deepEqual(await call("query", args), {});
    assert.deepEqual(await call("plain", { region: "x" }), {});
    assert.deepEqual(await call("toString", { region: "x" }), {});
    await client.close();
  });
}

test("digits go as they were written, where the host tells them", async () => {
  const { call } = await listed([annotated("t", region("N", "integer"))]);
  const stringify = (value) => JSON.stringify(value).replace(/"(\d+)n"/g, "$1");
  const digits = "12345678901234567890";
  const told = JSON.parse(digits, (_, value, context) => context?.source ?? `${value}`);
  assert.deepEqual(await call("t", { region: `${digits}n` }, { stringify }), { "Mcp-Param-N": told });
});

test("a tool whose annotations break the rules is refused", async () => {
  const property = (inside) => ({ properties: { p: inside } });
  const valid = [
    property({ type: "string", "x-mcp-header": "Method" }),
    property({ type: "object", properties: { q: { "x-mcp-header": "Q", type: "boolean" } } }),
    { properties: { "x-mcp-header": { type: "string" } } },
    property({ type: "string", default: { "x-mcp-header": 1 } }),
    property({ type: "object", enum: [{ "x-mcp-header": 1 }], const: { "x-mcp-header": 1 }, examples: [{ "x-mcp-header": 1 }] }),
    { $defs: { "x-mcp-header": { type: "string" } } },
    { properties: true, "x": [[]] },
    { properties: Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`p${at}`, { type: "string", "x-mcp-header": `H${at}` }])) },
    property({ type: "string", "x-mcp-header": "!#$%&'*+-.^_`|~09azAZ" }),
  ];
  const invalid = [
    ...["", "a b", "a:b", "ä", "a\n", 7, null, ["a"]].map((header) => property({ type: "string", "x-mcp-header": header })),
    ...["number", "object", ["string"], null, undefined].map((type) => property({ type, "x-mcp-header": "N" })),
    property({ type: "array", items: { type: "string", "x-mcp-header": "N" } }),
    property({ anyOf: [{ type: "string", "x-mcp-header": "N" }] }),
    property({ items: { properties: { a: { type: "string", "x-mcp-header": "N" } } } }),
    { type: "string", "x-mcp-header": "N" },
    { $defs: { d: { type: "string", "x-mcp-header": "N" } } },
    { patternProperties: { d: { type: "string", "x-mcp-header": "N" } } },
    { properties: [{ "x-mcp-header": "N" }] },
    { properties: { a: { type: "string", "x-mcp-header": "N" }, b: { type: "string", "x-mcp-header": "n" } } },
    { properties: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`p${at}`, { type: "string", "x-mcp-header": `H${at}` }])) },
    { properties: { ["ä".repeat(513)]: { type: "string", "x-mcp-header": "N" } } },
  ];
  const named = (schemas, mark) => schemas.map((inputSchema, at) => ({ name: `${mark}${at}`, inputSchema }));
  const tools = [...named(valid, "valid"), ...named(invalid, "invalid"), { name: "none" }];
  const { client, page } = await listed(tools);
  const kept = tools.filter(({ name }) => !name.startsWith("invalid")).map(({ name }) => name);
  assert.deepEqual(page.tools.map(({ name }) => name), kept);
  assert.deepEqual((await client.listAllTools()).map(({ name }) => name), kept);
  assert.deepEqual(JSON.parse(await client.requestText("tools/list")).tools.map(({ name }) => name), kept);
});

test("the next list replaces what was learned", async () => {
  const { client, call, list } = await listed([annotated("t", region())]);
  assert.deepEqual(await call("t", { region: "a" }), { "Mcp-Param-Region": "a" });
  list.tools = [annotated("other", region())];
  await client.listTools();
  assert.deepEqual(await call("t", { region: "a" }), { "Mcp-Param-Region": "a" });
  list.tools = [annotated("t", {})];
  await client.listTools();
  assert.deepEqual(await call("t", { region: "a" }), {});
  assert.deepEqual(await call("other", { region: "a" }), { "Mcp-Param-Region": "a" });
  list.tools = [annotated("t", region("")), annotated("other", region("Elsewhere"))];
  assert.equal((await client.listTools()).tools.length, 1);
  assert.deepEqual(await call("other", { region: "a" }), { "Mcp-Param-Elsewhere": "a" });
});

test("a header mismatch has the tools listed again and the call made once more", async () => {
  const pages = { undefined: { tools: [], nextCursor: "" }, "": { tools: [annotated("t", region())] } };
  let mismatches = 0;
  const server = stub("modern", {
    answers: {
      "tools/list": ({ cursor }) => server.result({ ttlMs: 0, cacheScope: "private", ...pages[cursor] }),
      "tools/call": ({ name, arguments: args }, { message: { id } }) => {
        const field = server.calls.at(-1).headers["Mcp-Param-Region"];
        if (field === args.region && name === "t") return server.result({ content: [] });
        mismatches += 1;
        return json({ jsonrpc: "2.0", id, error: { code: -32020, message: "header mismatch" } }, 400);
      },
    },
  });
  const client = await Client.connect(URL_, { fetch: server.fetch });
  assert.deepEqual((await client.callTool({ name: "t", arguments: { region: "eu" } })).content, []);
  assert.equal(mismatches, 1);
  await assert.rejects(client.callTool({ name: "never", arguments: { region: "eu" } }), { code: -32020 });
  assert.equal(mismatches, 3);
  pages[undefined] = 5;
  await assert.rejects(client.callTool({ name: "never", arguments: { region: "eu" } }), { code: -32020 });
});

test("older servers and ports mirror and refuse nothing", async () => {
  const tools = [annotated("t", region()), annotated("bad", region(""))];
  const server = stub("legacy", { answers: { "tools/list": () => ({ tools }) } });
  const client = await Client.connect(URL_, { fetch: server.fetch });
  assert.equal((await client.listTools()).tools.length, 2);
  await client.callTool({ name: "t", arguments: { region: "a" } });
  assert.equal(server.calls.at(-1).headers["Mcp-Param-Region"], undefined);
});
