// Every exported method of the modules that are weighed, in the very files that are weighed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { filesOfTarball } from "../../../www/content-hash.mjs";
import { startEverythingServer } from "../peers/everything.mjs";
import { startModernServer } from "../peers/modern.mjs";
import { startProxy } from "../peers/proxy.mjs";
import { exportedMethods } from "../sizes.mjs";
import { startStatic } from "../static.mjs";

const PAGES = fileURLToPath(new URL("../pages", import.meta.url));

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

/** What only a server of the other era understands. */
const FOREIGN = {
  legacy: ["listen", "subscribe"],
  modern: ["subscribeResource", "unsubscribeResource", "notification"],
};

/** Calls the methods that the size file lists, module by module. */
export async function checkMethods(report, browser, { tools, load, tarball, edge }) {
  const files = filesOfTarball(tarball);
  const { exports } = JSON.parse(files.get("package.json"));
  const entry = (module) => path.posix.join("/package", exports[`./${module}`].browser);
  const host = await startStatic({
    "/": PAGES,
    "/package/": (name) => files.get(name),
    "/edge/": (name, request) => isolate(edge, name, request),
  });
  const listed = exportedMethods();
  const run = (name, script, call, task) =>
    report.check(`methods: ${name}`, async () => {
      const { page, complaints, close } = await browser.open(`${host.origin}/`);
      const result = await page.evaluate(async ([script, call, task]) => (await import(script))[call](task), [script, call, task]);
      await close();
      assert.deepEqual(result.failures ?? [], []);
      assert.deepEqual(complaints.filter((complaint) => !/status of 40[04]/.test(complaint)), []);
      note(task.module, result);
      return `${result.used.length} names`;
    });
  const seen = new Map([...listed.keys()].map((module) => [module, { used: new Set(), exported: new Set() }]));
  const note = (module, { used, exported }) => {
    for (const name of used) seen.get(module)?.used.add(name);
    for (const name of exported) seen.get(module)?.exported.add(name);
  };

  const everything = await startEverythingServer(tools);
  const modern = await startModernServer(load);
  const peers = [
    { era: "legacy", facts: EVERYTHING, proxy: await startProxy(everything.origin) },
    { era: "modern", facts: MODERN, proxy: await startProxy(modern.origin) },
  ];
  for (const module of ["client", "tools"]) {
    for (const { era, facts, proxy } of peers) {
      const calls = listed.get(module).filter((name) => name !== "connect" && !FOREIGN[era].includes(name));
      const task = { module, entry: entry(module), url: `${proxy.origin}/mcp`, era, facts, calls: closeLast(calls) };
      await run(`sandwire/${module} against the ${era} server`, "/clients.js", "exercise", task);
    }
  }
  await report.check("methods: the headers of every request are those that were asked for", () => {
    const requests = peers.flatMap(({ proxy }) => proxy.exchanges).filter(({ method }) => method === "POST");
    assert.ok(requests.length > 0 && requests.every(({ headers }) => headers["x-smoke"] === "yes"));
    return `${requests.length} requests`;
  });
  const client = entry("client");
  await run("sandwire/server with our client", "/servers.js", "exerciseServer", { module: "server", entry: entry("server"), client });
  await run("sandwire/skills", "/skills.js", "exerciseSkills", { module: "skills", entry: entry("skills") });
  const checked = { module: "schema", entry: entry("schema"), client, server: entry("server") };
  await run("sandwire/schema", "/schema.js", "exerciseSchema", checked);
  const isolated = { module: "edge", entry: "/edge/edge.js", worker: "/edge/worker.js", client };
  await run("the edge module with our client", "/servers.js", "exerciseEdge", isolated);

  for (const [module, { used, exported }] of seen) {
    await report.check(`methods: every one that ${module} exports was called`, () => {
      const methods = listed.get(module);
      assert.ok(methods.length > 0, "the size file lists none");
      assert.deepEqual(methods.filter((name) => !used.has(name)), [], "listed, never called");
      // Internal members have names of one or two letters in the package.
      assert.deepEqual([...exported].filter((name) => name.length > 2 && !methods.includes(name)), [], "not listed");
      return `${methods.length} methods`;
    });
  }

  for (const { proxy } of peers) await proxy.close();
  await modern.close();
  await everything.close();
  await host.close();
}

function closeLast(names) {
  return [...names.filter((name) => name !== "close"), "close"];
}

/** The files of the edge module. As in an isolate, a script that imports the wasm file gets the compiled module. */
function isolate(folder, name, request) {
  if (name.endsWith(".wasm") && request.headers["sec-fetch-dest"] === "script") {
    const source = "export default await WebAssembly.compileStreaming(fetch(import.meta.url));\n";
    return { type: "text/javascript", bytes: Buffer.from(source) };
  }
  return readFileSync(path.join(folder, path.basename(name)));
}
