import assert from "node:assert/strict";
import { readFileSync, readdirSync, existsSync } from "node:fs";
import { describe, test } from "node:test";
import { join } from "node:path";

import { Client } from "sandwire/client";
import { McpError, Schema, validator } from "sandwire/schema";
import { Server } from "sandwire/server";
import { Client as ToolClient } from "sandwire/tools";

import { json, stub } from "./stub.mjs";

const URL_ = "https://mcp.example/mcp";
const ERAS = [["modern", {}], ["legacy", { version: "2025-11-25" }]];
const alive = setInterval(() => {}, 1000);
test.after(() => clearInterval(alive));

test("a schema says what it does not allow", async () => {
  const schema = await Schema.compile({ type: "object", properties: { n: { type: "integer", maximum: 9 }, word: { pattern: "^\\p{Lu}" } } });
  assert.deepEqual(schema.validate({ n: 3, word: "Ärger" }), []);
  assert.deepEqual(schema.validate({ n: 10 }), [{ path: "/n", keyword: "maximum", message: "must be at most 9" }]);
  assert.equal(schema.validate({ word: "x" })[0].keyword, "pattern");
  assert.equal(schema.validate(undefined).length, 1);
  const large = await Schema.compileText('{"const":9007199254740993}');
  assert.deepEqual(large.validateText("9007199254740993.0"), []);
  assert.equal(large.validateText("9007199254740992").length, 1);
  const form = await Schema.compile({ format: "email" }, { formats: true });
  assert.equal(form.validate("nowhere")[0].keyword, "format");
});

test("a schema that cannot be used is refused", async () => {
  for (const [schema, why] of [
    [{ $ref: "https://example.com/schema.json" }, /nothing is fetched/],
    [{ $schema: "https://example.com/dialect" }, /not supported/],
    [{ pattern: "(" }, /cannot be used/],
    [3, /an object, true or false/],
  ]) await assert.rejects(Schema.compile(schema), (error) => error instanceof McpError && why.test(error.message));
});

test("what goes round ends", async () => {
  const schema = await Schema.compile({ $ref: "#" });
  assert.match(schema.validate(1)[0].message, /too deep/);
});

/** JSON whose numbers keep their digits: as strings behind a character that no other string begins with. */
const NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const read = (text) => JSON.parse(text.replace(NUMBER, (token) => (token[0] === '"' ? token : `"\ue000${token}"`)));
const written = (value) => JSON.stringify(value).replace(/"\ue000([^"]*)"/g, "$1");
const OPTIONAL = ["anchor", "bignum", "dependencies-compatibility", "dynamicRef", "ecmascript-regex", "float-overflow", "id", "no-schema", "non-bmp-regex", "refOfUnknownKeyword", "unknownKeyword"];
const FORMATS = ["date", "date-time", "email", "uri"];

describe("the official tests", () => {
  const folder = process.env.SANDWIRE_SCHEMA_TESTS;
  assert.ok(folder && existsSync(folder), "the test suite of JSON Schema is not installed: run `cargo xtask setup`");
  const refused = Object.values(JSON.parse(readFileSync(process.env.SANDWIRE_SCHEMA_REFUSED, "utf8"))).flatMap(({ groups }) => groups);
  for (const [draft, dialect] of [["draft2020-12", "https://json-schema.org/draft/2020-12/schema"], ["draft7", "http://json-schema.org/draft-07/schema#"]]) {
    const required = readdirSync(join(folder, draft)).filter((name) => name.endsWith(".json"));
    const optional = OPTIONAL.map((name) => `optional/${name}.json`);
    const formats = FORMATS.map((name) => `optional/format/${name}.json`);
    for (const name of [...required, ...optional, ...formats].filter((name) => existsSync(join(folder, draft, name)))) {
      test(`${draft}/${name}`, async () => {
        for (const { description, schema, tests } of read(readFileSync(join(folder, draft, name), "utf8"))) {
          const whole = typeof schema === "object" && !schema.$schema ? { $schema: dialect, ...schema } : schema;
          const compiled = Schema.compileText(written(whole), { formats: formats.includes(name) });
          if (refused.includes(`${draft}/${name}: *`) || refused.includes(`${draft}/${name}: ${description}`)) {
            await assert.rejects(compiled, description);
            continue;
          }
          const ready = await compiled;
          for (const { description: about, data, valid } of tests) {
            assert.equal(ready.validateText(written(data)).length === 0, valid, `${description} / ${about}`);
          }
        }
      });
    }
  }
});

for (const [era, options] of ERAS) {
  describe(era, () => {
    const output = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };
    const called = (Class, outputSchema, result, more = {}) => {
      const tool = { name: "t", inputSchema: { type: "object" }, outputSchema };
      const stamp = era === "modern" ? { resultType: "complete" } : {};
      const server = stub(era, { answers: {
        "tools/list": (_, { message: { id } }) => json({ jsonrpc: "2.0", id, result: { ...stamp, tools: [tool], ttlMs: 0, cacheScope: "private" } }),
        "tools/call": (_, { message: { id } }) => json({ jsonrpc: "2.0", id, result: { ...stamp, content: [], ...result } }),
      } });
      return Class.connect(URL_, { ...options, fetch: server.fetch, validator, ...more });
    };

    for (const [name, Class] of [["client", Client], ["tools", ToolClient]]) {
      test(`${name}: structured content is checked once the tool was listed`, async () => {
        const client = await called(Class, output, { structuredContent: { n: "3" } });
        assert.deepEqual((await client.callTool({ name: "t" })).structuredContent, { n: "3" });
        await client.listTools();
        await assert.rejects(client.callTool({ name: "t" }), (error) => error.code === "misbehaved" && /\/n: must be an integer/.test(error.message));
        await client.close();
      });
    }

    test("values that count for nothing are checked and kept, and failures are not", async () => {
      for (const [structuredContent, schema, fits] of [
        [0, { type: "integer" }, true], [0, { minimum: 1 }, false], [false, { type: "boolean" }, true], [false, { const: true }, false],
        ["", { type: "string" }, true], ["", { minLength: 1 }, false], [null, { type: "null" }, true], [null, output, false], [undefined, { type: "null" }, false],
      ]) {
        const client = await called(Client, schema, { structuredContent });
        await client.listAllTools();
        const call = client.callTool({ name: "t" });
        if (fits) assert.strictEqual((await call).structuredContent, structuredContent);
        else await assert.rejects(call, { code: "misbehaved" });
        await client.close();
        const failed = await called(Client, schema, { structuredContent, isError: true });
        await failed.listAllTools();
        assert.equal((await failed.callTool({ name: "t" })).isError, true);
        await failed.close();
      }
    });

    test("a schema that refers elsewhere is not fetched, and the result is none", async () => {
      const client = await called(Client, { $ref: "https://canary.example/schema.json" }, { structuredContent: {} });
      await client.listTools();
      await assert.rejects(client.callTool({ name: "t" }), /nothing is fetched/);
      await client.close();
    });

    test("a server checks arguments, results and answers", async () => {
      const runs = [];
      const server = new Server({ name: "s", version: "1" })
        .tool("double", { inputSchema: { ...output, additionalProperties: false } }, ({ n }) => (runs.push(n), `${2 * n}`))
        .tool("bad", { outputSchema: output }, () => ({ n: "3" }))
        .tool("good", { outputSchema: output }, () => ({ n: 3 }))
        .tool("failed", { outputSchema: output }, () => { throw new Error("it broke"); })
        .tool("broken", { inputSchema: { type: "object", $ref: "https://canary.example/" } }, () => "never")
        .tool("ask", {}, async (_, context) => JSON.stringify(await context.elicit("q", { message: "?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } })));
      const content = { name: 7 };
      const client = await Client.connect(server, { ...options, handlers: { "elicitation/create": () => ({ action: "accept", content }) } });
      const wrong = await client.callTool({ name: "double", arguments: { n: "3", m: 1 } });
      assert.equal(wrong.isError, true);
      assert.equal(wrong.content[0].text, "invalid arguments: /n: must be an integer\n/m: there is no such property: remove it");
      assert.equal((await client.callTool({ name: "double", arguments: { n: 3 } })).content[0].text, "6");
      assert.deepEqual(runs, [3]);
      await assert.rejects(client.callTool({ name: "bad" }), (error) => error.code === -32603 && /\/n: must be an integer/.test(error.message));
      assert.deepEqual((await client.callTool({ name: "good" })).structuredContent, { n: 3 });
      assert.equal((await client.callTool({ name: "failed" })).isError, true);
      await assert.rejects(client.callTool({ name: "broken" }), { code: -32603 });
      await assert.rejects(client.callTool({ name: "ask" }), (error) => error.code === -32602 && /\/name: must be a string/.test(error.message));
      content.name = "Ada";
      assert.match((await client.callTool({ name: "ask" })).content[0].text, /Ada/);
      await client.close();
    });

    test("an answer that the form does not allow is not sent", async () => {
      const server = new Server({ name: "s", version: "1" })
        .tool("ask", {}, async (_, context) => JSON.stringify(await context.elicit("q", { message: "?", requestedSchema: { type: "object", properties: { mail: { type: "string", format: "email" } } } })));
      const content = { mail: "nowhere" };
      const client = await Client.connect(server, { ...options, validator, handlers: { "elicitation/create": () => ({ action: "accept", content }) } });
      await assert.rejects(client.callTool({ name: "ask" }), /the form was not filled in as it asks to be: \/mail: must be an email address/);
      content.mail = "ada@example.com";
      assert.match((await client.callTool({ name: "ask" })).content[0].text, /ada@example.com/);
      await client.close();
    });
  });
}
