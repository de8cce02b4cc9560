// Every exported method of the modules that are weighed, in the very files that the package holds.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { filesOfTarball } from "../../../www/content-hash.mjs";
import { startEverythingServer } from "../peers/everything.mjs";
import { startModernServer } from "../peers/modern.mjs";
import { startProxy } from "../peers/proxy.mjs";
import { startStatic } from "../static.mjs";

const PAGES = fileURLToPath(new URL("../pages", import.meta.url));
const SIZES = fileURLToPath(new URL("../../../crates/sandwire-js/size.toml", import.meta.url));

const EVERYTHING = {
  server: "mcp-servers/everything",
  version: "2025-11-25",
  tool: { name: "echo", arguments: { message: "hello" }, text: "Echo: hello" },
  slow: { name: "trigger-long-running-operation", arguments: { duration: 0.1, steps: 2 } },
  asking: "trigger-elicitation-request",
  uri: "demo://resource/dynamic/text/1",
  prompt: { name: "args-prompt", arguments: { city: "Lindau" } },
  complete: { ref: { type: "ref/prompt", name: "completable-prompt" }, argument: { name: "department", value: "S" } },
};

const MODERN = {
  server: "modern-peer",
  version: "2026-07-28",
  tool: { name: "echo", arguments: { message: "hello" }, text: "hello" },
  slow: { name: "slow", arguments: { steps: 2, pause: 20 } },
  asking: "ask",
  uri: "note://today",
  prompt: { name: "summary", arguments: { topic: "wires" } },
  complete: { ref: { type: "ref/resource", uri: "day://{name}" }, argument: { name: "name", value: "t" } },
};

const ONE_ERA = {
  legacy: ["subscribeResource", "unsubscribeResource", "notification"],
  modern: ["listen"],
};

/** Calls the methods that the size file lists for `client` and `tools`, against a server of each era. */
export async function checkMethods(report, browser, { tools, load, tarball }) {
  const files = filesOfTarball(tarball);
  const entries = JSON.parse(files.get("package.json")).exports;
  const host = await startStatic({ "/": PAGES, "/package/": (name) => files.get(name) });
  const everything = await startEverythingServer(tools);
  const modern = await startModernServer(load);
  const peers = [
    { era: "legacy", facts: EVERYTHING, proxy: await startProxy(everything.origin) },
    { era: "modern", facts: MODERN, proxy: await startProxy(modern.origin) },
  ];

  for (const [module, methods] of Object.entries(methodsOf(readFileSync(SIZES, "utf8")))) {
    const used = new Set();
    let exported = [];
    for (const { era, facts, proxy } of peers) {
      await report.check(`methods: sandwire/${module} against the ${era} server`, async () => {
        const other = ONE_ERA[era === "legacy" ? "modern" : "legacy"];
        const calls = methods.filter((name) => name !== "connect" && !other.includes(name)).sort(lastOnesLast);
        const { page, complaints, close } = await browser.open(`${host.origin}/`);
        const task = {
          entry: new URL(entries[`./${module}`].browser, `${host.origin}/package/`).href,
          url: `${proxy.origin}/mcp`,
          era,
          facts,
          calls,
        };
        const result = await page.evaluate(async (task) => (await import("/exercise.js")).exercise(task), task);
        await close();
        exported = result.exported;
        for (const name of result.used) used.add(name);
        assert.deepEqual(result.failures, []);
        assert.ok(proxy.sent("tools/list").every(({ headers }) => headers["x-smoke"] === "yes"));
        assert.deepEqual(complaints.filter((complaint) => !/status of 40[04]/.test(complaint)), []);
        return `${calls.length} methods`;
      });
    }
    await report.check(`methods: every one that sandwire/${module} exports was called`, () => {
      assert.deepEqual(methods.filter((name) => !used.has(name)), [], "listed, never called");
      // Internal members have names of one or two letters in the package.
      const unlisted = exported.filter((name) => name.length > 2 && !methods.includes(name));
      assert.deepEqual(unlisted, [], "exported, not listed");
      return `${methods.length} methods`;
    });
  }

  for (const { proxy } of peers) await proxy.close();
  await modern.close();
  await everything.close();
  await host.close();
}

/** The end of the connection comes after everything else. */
function lastOnesLast(left, right) {
  const rank = (name) => ["close", "Symbol.asyncDispose"].indexOf(name);
  return rank(left) - rank(right);
}

/** The `methods` of the modules `client` and `tools` in the size file. */
function methodsOf(toml) {
  const found = {};
  for (const [, module, body] of toml.matchAll(/^\[(client|tools)\]\n((?:(?!^\[).*\n?)*)/gm)) {
    const list = /^methods\s*=\s*\[([^\]]*)\]/m.exec(body);
    if (list) found[module] = [...list[1].matchAll(/"([^"]+)"/g)].map(([, name]) => name);
  }
  assert.deepEqual(Object.keys(found).sort(), ["client", "tools"], `${path.basename(SIZES)} lists their methods`);
  return found;
}
