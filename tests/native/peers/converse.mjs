// What every TypeScript client says to our server.
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";

/** Uses every part of the server; the client answers as Ada, and with the model oak. */
export async function converse(client, { first = false } = {}) {
  const text = async (name, args = {}, options) => {
    const result = await call(name, args, options);
    assert.ok(!result.isError, JSON.stringify(result));
    return result.content[0].text;
  };
  const call = (name, args, options) => {
    const params = { name, arguments: args };
    // The first line of the package takes a schema in between.
    return first ? client.callTool(params, undefined, options) : client.callTool(params, options);
  };

  assert.equal(client.getInstructions(), "A server for tests.");
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  for (const name of ["echo", "add", "slow", "hello", "ask_model"]) assert.ok(names.includes(name), String(names));

  assert.equal(await text("echo", { message: "grüße \u2028 😀" }), "grüße \u2028 😀");
  assert.deepEqual((await call("add", { a: 2, b: 40 })).structuredContent, { sum: 42 });
  assert.ok((await call("add", { a: "two" })).isError);

  const steps = [];
  const onprogress = ({ progress, total, message }) => steps.push([progress, total, message]);
  assert.equal(await text("slow", { steps: 3, pause: 50 }, { onprogress }), "3 steps done");
  // Of progress that arrives in one piece with the answer this client tells nothing: it handles the answer first.
  const all = [1, 2, 3].map((step) => [step, 3, `step ${step}`]);
  assert.ok(steps.length > 0, "no progress");
  assert.deepEqual(steps, all.slice(0, steps.length));

  const stop = new AbortController();
  const given = call("slow", { steps: 1000, pause: 20 }, { onprogress, signal: stop.signal });
  given.catch(() => {});
  const before = steps.length;
  while (steps.length < before + 2) await delay(10);
  stop.abort("enough");
  await assert.rejects(given);
  for (let tries = 0; (await text("given_up")) !== "1"; tries += 1) {
    assert.ok(tries < 500, "the server did not hear that a call was given up");
    await delay(10);
  }

  assert.equal(await text("hello"), "Hello, Ada.");
  assert.equal(await text("ask_model"), "The model oak answered.");
  const sums = await Promise.all(Array.from({ length: 50 }, (_, a) => call("add", { a, b: 1 })));
  assert.deepEqual(sums.map((sum) => sum.structuredContent.sum), Array.from({ length: 50 }, (_, a) => a + 1));
  await assert.rejects(call("panics", {}), { code: -32603 });

  assert.deepEqual((await client.listResources()).resources.map((each) => each.uri), ["note://today"]);
  assert.equal((await client.readResource({ uri: "note://today" })).contents[0].text, "Water the plants.");
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(resourceTemplates.map((each) => each.uriTemplate), ["day://{name}"]);
  assert.equal((await client.readResource({ uri: "day://friday" })).contents[0].text, "It is friday.");
  const ref = { type: "ref/resource", uri: "day://{name}" };
  const { completion } = await client.complete({ ref, argument: { name: "name", value: "t" } });
  assert.deepEqual(completion.values, ["tuesday"]);
  assert.deepEqual((await client.listPrompts()).prompts.map((prompt) => prompt.name), ["summary"]);
  const { messages } = await client.getPrompt({ name: "summary", arguments: { topic: "trees" } });
  assert.equal(messages[0].content.text, "Summarise trees.");
}
