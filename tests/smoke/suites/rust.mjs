// A client written in Rust, over the page's fetch, against the two foreign servers. Of the cases in tests/cases/cases.txt
// this is B141, a clock that the platform lacks, and B142, a runtime that it lacks: calls with their timeouts, progress
// and a call that is given up, driven by the page's own loop.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startEverythingServer } from "../peers/everything.mjs";
import { startModernServer } from "../peers/modern.mjs";
import { startProxy } from "../peers/proxy.mjs";
import { startStatic } from "../static.mjs";
import { until } from "../wait.mjs";

const PAGES = fileURLToPath(new URL("../pages", import.meta.url));

export async function checkRust(report, browser, { tools, load, rust }) {
  const host = await startStatic({ "/": PAGES, "/rust/": (name) => readFileSync(path.join(rust, path.basename(name))) });
  const everything = await startEverythingServer(tools);
  const modern = await startModernServer(load);

  const check = async (era, server, { version, quick, slow, steps, text, abortSeen }) => {
    const proxy = await startProxy(server.origin);
    await report.check(`Rust in a page: calls, progress and a dropped call, ${era} era`, async () => {
      const { page, complaints, close } = await browser.open(`${host.origin}/`);
      const task = { url: `${proxy.origin}/mcp`, quick, slow, steps };
      const seen = await page.evaluate(async (task) => (await import("/rust.js")).exerciseRust(task), task);
      assert.equal(seen.version, version);
      assert.ok(seen.tools.includes(quick.name) && seen.tools.includes(slow.name), seen.tools.join());
      assert.equal(seen.quick, text);
      const first = seen.progress.slice(0, steps);
      assert.deepEqual(first.map(({ step }) => step), Array.from({ length: steps }, (_, index) => index + 1));
      const spread = first.at(-1).at - first[0].at;
      assert.ok(spread > 100, `the steps arrive one by one, not ${spread} ms apart`);
      assert.ok(proxy.exchanges.every(({ headers }) => headers["x-smoke"] === "yes"));
      await abortSeen(proxy);
      await close();
      assert.deepEqual(complaints.filter((complaint) => !/status of 40[04]/.test(complaint)), []);
      return `${Math.round(spread)} ms between the first step and the last`;
    });
    await proxy.close();
  };

  await check("legacy", everything, {
    version: "2025-11-25",
    quick: { name: "echo", arguments: { message: "hello" } },
    slow: { name: "trigger-long-running-operation", arguments: { duration: 0.6, steps: 3 } },
    steps: 3,
    text: "Echo: hello",
    async abortSeen(proxy) {
      const call = proxy.sent("tools/call").at(-1);
      const told = proxy.sent("notifications/cancelled").find(({ message }) => message.params.requestId === call.message.id);
      assert.ok(told, "no notifications/cancelled");
    },
  });
  await check("modern", modern, {
    version: "2026-07-28",
    quick: { name: "echo", arguments: { message: "hello" } },
    slow: { name: "slow", arguments: { steps: 3, pause: 150 } },
    steps: 3,
    text: "hello",
    async abortSeen(proxy) {
      const call = proxy.sent("tools/call").at(-1);
      await until("the proxy sees the stream closed", () => call.closedAt);
      await until("the handler sees the abort", () => modern.calls.at(-1).cancelled);
    },
  });

  await modern.close();
  await everything.close();
  await host.close();
}
