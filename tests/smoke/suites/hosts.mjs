// What was reported of other clients and servers in pages, workers and isolates, against the package as it is packed.
// The names begin with the ids of tests/cases/cases.txt.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { filesOfTarball } from "../../../www/content-hash.mjs";
import { startEverythingServer } from "../peers/everything.mjs";
import { startModernServer } from "../peers/modern.mjs";
import { startProxy } from "../peers/proxy.mjs";
import { startStatic } from "../static.mjs";

const PAGES = fileURLToPath(new URL("../pages", import.meta.url));
const TOOL = { name: "echo", arguments: { message: "hello" } };

/** Members that a message of JSON-RPC may have. */
const MEMBERS = ["jsonrpc", "id", "method", "params", "result", "error"];

export async function checkHosts(report, browser, { tools, load, tarball, edge }) {
  const files = filesOfTarball(tarball);
  const { exports } = JSON.parse(files.get("package.json"));
  const entry = path.posix.join("/package", exports["./client"].browser);
  const host = await startStatic({ "/": PAGES, "/package/": (name) => files.get(name) });
  const servers = [await startEverythingServer(tools), await startModernServer(load)];

  for (const [era, server] of [["legacy", servers[0]], ["modern", servers[1]]]) {
    const proxy = await startProxy(server.origin);
    const task = { entry, url: `${proxy.origin}/mcp`, tool: TOOL };
    const run = async (call) => {
      const { page, complaints, close } = await browser.open(`${host.origin}/`);
      const result = await page.evaluate(async ([call, task]) => (await import("/hosts.js"))[call](task), [call, task]);
      await close();
      assert.deepEqual(complaints.filter((complaint) => !/status of 40[0-9]/.test(complaint)), []);
      return result;
    };
    await report.check(`B147 a client in a worker, which has no window, ${era} era`, async () => {
      const seen = await run("inWorker");
      assert.equal(seen.window, "undefined");
      assert.ok(seen.tools > 0 && seen.text.includes("hello"), JSON.stringify(seen));
    });
    await report.check(`B152 a client with fetch in whatever way it is given, ${era} era`, async () => {
      for (const [name, seen] of Object.entries(await run("withFetches"))) {
        assert.ok(seen.tools > 0 && seen.text.includes("hello"), `${name}: ${JSON.stringify(seen)}`);
      }
    });
    await report.check(`B145 what a page's client puts on the wire is JSON-RPC, ${era} era`, () => {
      const posts = proxy.exchanges.filter(({ method }) => method === "POST");
      assert.ok(posts.length > 0);
      for (const { message } of posts) {
        assert.equal(message.jsonrpc, "2.0");
        assert.deepEqual(Object.keys(message).filter((key) => !MEMBERS.includes(key)), []);
        assert.ok(typeof message.method === "string" || "result" in message || "error" in message);
      }
      return `${posts.length} messages`;
    });
    await proxy.close();
  }

  await report.check("B148 no script of the package makes code of text", () => {
    const scripts = [...files].filter(([name]) => /\.m?js$/.test(name));
    assert.ok(scripts.length > 0);
    for (const [name, bytes] of scripts) assert.doesNotMatch(String(bytes), /\beval\s*\(|\bnew\s+Function\b|\bFunction\s*\(\s*["'`]/, name);
    return `${scripts.length} scripts`;
  });
  await report.check("B150 the scripts for an isolate import nothing but each other", () => {
    const scripts = readdirSync(edge).filter((name) => name.endsWith(".js"));
    assert.ok(scripts.length > 0);
    for (const name of scripts) {
      const text = readFileSync(path.join(edge, name), "utf8");
      const imports = [...text.matchAll(/\b(?:from|import)\s*\(?\s*["']([^"']+)["']/g)].map(([, from]) => from);
      assert.deepEqual(imports.filter((from) => !from.startsWith(".")), [], name);
      assert.doesNotMatch(text, /\brequire\s*\(|\bprocess\.|\bBuffer\b|node:/, name);
    }
    return scripts.join(", ");
  });

  for (const server of servers) await server.close();
  await host.close();
}
