// A server on another origin: what a page sends passes a real preflight, and what it must see is exposed to it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { filesOfTarball } from "../../../www/content-hash.mjs";
import { startStrict } from "../peers/strict.mjs";
import { startStatic } from "../static.mjs";

const PAGES = fileURLToPath(new URL("../pages", import.meta.url));
const MIRRORED = "=?base64?TWFsbcO2?=";

export async function checkOrigins(report, browser, { tarball, rust }) {
  const files = filesOfTarball(tarball);
  const { exports } = JSON.parse(files.get("package.json"));
  const entry = (module) => path.posix.join("/package", exports[`./${module}`].browser);
  const host = await startStatic({
    "/": PAGES,
    "/package/": (name) => files.get(name),
    "/rust/": (name) => readFileSync(path.join(rust, path.basename(name))),
  });
  const clients = [["sandwire/client", entry("client")], ["sandwire/tools", entry("tools")], ["Rust", undefined]];

  const check = async (name, options, verify) => {
    for (const [client, entry] of clients) {
      await report.check(`another origin: ${name}, ${client}`, async () => {
        const server = await startStrict(host.origin, options);
        const { page, close } = await browser.open(`${host.origin}/`);
        const task = { entry, url: server.url };
        const seen = await page.evaluate(async (task) => (await import("/origins.js")).callWhere(task), task);
        await close();
        await server.close();
        return verify(seen, server, entry);
      });
    }
  };

  await check("an argument goes as a header field, and an invalid tool is left out and told", {}, (seen, { preflights, requests }) => {
    assert.deepEqual(seen.names, ["where"]);
    assert.equal(seen.warnings.length, 1);
    assert.match(seen.warnings[0], /^the tool bad is left out: x-mcp-header /);
    assert.equal(seen.text, `Malmö ${MIRRORED}`);
    assert.ok(preflights.some((asked) => asked.includes("mcp-param-region")), "no preflight asked for it");
    const call = requests.find(({ message }) => message.method === "tools/call");
    assert.equal(call.headers["mcp-param-region"], MIRRORED);
    return preflights.at(-1).join();
  });

  await check("a server that does not allow the field is told from one that is away", { params: false }, (seen, { requests }, entry) => {
    assert.equal(seen.text, undefined);
    assert.ok(!requests.some(({ message }) => message.method === "tools/call"));
    if (entry) assert.equal(seen.code, "cors");
    assert.match(seen.message, /Mcp-Param-Region|CORS/i);
    return seen.message;
  });

  await check("a session is seen, repeated and ended", { era: "legacy" }, (seen, { requests }) => {
    assert.deepEqual(seen.names, ["where", "bad"]);
    assert.equal(seen.text, "Malmö undefined");
    const [first, ...later] = requests.slice(requests.findIndex(({ message }) => message.method === "initialize"));
    assert.equal(first.headers["mcp-session-id"], undefined);
    assert.ok(later.every(({ headers }) => headers["mcp-session-id"] === "s-1"));
    return `${later.length} requests`;
  });
  await host.close();
}
