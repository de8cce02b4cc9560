// What every TypeScript client does in each area of the table.
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";

const NOTE = "note://today";
const PATIENCE = 30_000;

/** How the client answers what it is asked. */
export const elicit = ({ params }) =>
  params.message === "Who are you?" ? { action: "accept", content: { name: "Ada" } } : { action: "decline" };
export const sample = () => ({ role: "assistant", content: { type: "text", text: "Trees." }, model: "oak" });

/**
 * Goes through all areas and prints a line for each. `call` calls a tool, `subscribe` begins hearing of the note and
 * gives what ends it, `updated` tells how often the note has changed.
 */
export async function areas({ client, version, negotiated, call, subscribe, updated }) {
  const say = async (name, args = {}, options) => {
    const result = await call(name, args, options);
    assert.ok(!result.isError, JSON.stringify(result));
    return result.content[0].text;
  };
  await report("negotiate", () => {
    assert.equal(negotiated(), version);
    const capabilities = client.getServerCapabilities();
    for (const name of ["tools", "resources", "prompts"]) assert.ok(name in capabilities, `no ${name}`);
    assert.equal(client.getServerVersion()?.name, "interop");
    assert.equal(client.getInstructions(), "A server for tests.");
  });
  await report("tools", async () => {
    const { tools } = await client.listTools();
    const names = tools.map((tool) => tool.name);
    const wanted = ["echo", "add", "fail", "count", "wait", "waited", "greet", "ask_model", "touch"];
    for (const name of wanted) assert.ok(names.includes(name), `no ${name} among ${names}`);
    const message = "grüße \u2028 😀";
    assert.equal(await say("echo", { message }), message);
    const { structuredContent } = await call("add", { a: 2, b: 40 });
    if (version >= "2025-06-18") {
      assert.deepEqual(structuredContent, { sum: 42 });
      assert.ok(tools.find((tool) => tool.name === "add").outputSchema, "no output schema");
    }
    const sums = await Promise.all(Array.from({ length: 50 }, (_, a) => call("add", { a, b: 1 })));
    for (const [a, { content }] of sums.entries()) assert.match(content[0].text, new RegExp(`\\b${a + 1}\\b`));
    const failed = await call("fail", {});
    assert.ok(failed.isError);
    assert.match(failed.content[0].text, /as it was asked to/);
    // The specification wants an error; some say it in a result.
    const missing = await call("missing", {}).catch((error) => ({ isError: Number.isInteger(error.code) }));
    assert.ok(missing.isError, "a tool that is not there");
  });
  await report("resources", async () => {
    const { resources } = await client.listResources();
    assert.deepEqual(resources.map((each) => each.uri), [NOTE]);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.deepEqual(resourceTemplates.map((each) => each.uriTemplate), ["day://{name}"]);
    for (const [uri, text] of [[NOTE, "Water the plants."], ["day://friday", "It is friday."]]) {
      const { contents } = await client.readResource({ uri });
      assert.equal(contents[0].text, text);
      assert.equal(contents[0].uri, uri);
    }
    await assert.rejects(client.readResource({ uri: "note://never" }), ({ code }) => Number.isInteger(code));
  });
  await report("prompts", async () => {
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts.map((prompt) => prompt.name), ["summary"]);
    assert.equal(prompts[0].arguments[0].name, "topic");
    const { messages } = await client.getPrompt({ name: "summary", arguments: { topic: "trees" } });
    assert.equal(messages[0].content.text, "Summarise trees.");
  });
  await report("completion", async () => {
    const ref = { type: "ref/resource", uri: "day://{name}" };
    const { completion } = await client.complete({ ref, argument: { name: "name", value: "t" } });
    assert.deepEqual(completion.values, ["tuesday"]);
  });
  await report("progress", async () => {
    const steps = [];
    const onprogress = ({ progress, total }) => steps.push([progress, total]);
    assert.equal(await say("count", { steps: 3 }, { onprogress }), "counted to 3");
    // Of progress that arrives in one piece with the answer this client tells nothing: it handles the answer first.
    assert.ok(steps.length > 0, "no progress");
    assert.deepEqual(steps, [[1, 3], [2, 3], [3, 3]].slice(0, steps.length));
  });
  await report("cancellation", async () => {
    const stop = new AbortController();
    await new Promise((resolve, reject) => {
      const waiting = call("wait", {}, { onprogress: resolve, signal: stop.signal });
      waiting.then(() => reject(new Error("the wait ended by itself")), reject);
    });
    stop.abort("enough");
    for (let tries = 0; (await say("waited")) !== "1"; tries += 1) {
      assert.ok(tries < 200, "the handler did not see it");
      await delay(20);
    }
  });
  await report("elicitation", async () => {
    assert.equal(await say("greet", { question: "Who are you?" }), "Hello, Ada.");
    assert.equal(await say("greet", { question: "May I know?" }), "Hello, stranger.");
  });
  await report("sampling", async () => assert.equal(await say("ask_model"), "The model oak says: Trees."));
  await report("subscription", async () => {
    const stop = await subscribe(NOTE);
    assert.equal(await say("touch"), "touched");
    for (let tries = 0; updated() === 0; tries += 1) {
      assert.ok(tries < 250, "no notifications/resources/updated came");
      await delay(20);
    }
    await stop();
  });
}

/** Does something, and prints how it went. */
export async function report(area, run) {
  const late = delay(PATIENCE, undefined, { ref: false }).then(() => {
    throw new Error(`nothing came of it in ${PATIENCE} ms`);
  });
  try {
    await Promise.race([run(), late]);
    console.log(`${area}: passed`);
  } catch (error) {
    console.log(`${area}: ${String(error.message).replaceAll("\n", " ")}`);
  }
}
