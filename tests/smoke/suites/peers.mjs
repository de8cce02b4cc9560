// The three servers: the reference server and a modern one behind a recording proxy, and ours in a worker.
import assert from "node:assert/strict";
import { startEverythingServer } from "../peers/everything.mjs";
import { startModernServer } from "../peers/modern.mjs";
import { startProxy } from "../peers/proxy.mjs";
import { until } from "../wait.mjs";
import { checkPeer } from "./peer.mjs";

/** npm `@modelcontextprotocol/server-everything`: the legacy era. */
export async function checkEverything(report, browser, { address, tools }) {
  const server = await startEverythingServer(tools);
  const proxy = await startProxy(server.origin);
  await checkPeer(report, browser, address, {
    name: "everything",
    era: "legacy",
    version: "2025-11-25",
    server: "Everything Reference Server",
    connect: (bench) => bench.connectTo(`${proxy.origin}/mcp`),
    call: { tool: "get-sum", fields: { a: 17, b: 25.5 }, expect: /The sum of 17 and 25\.5 is 42\.5\./ },
    slow: {
      tool: "trigger-long-running-operation",
      fields: { duration: 1.5, steps: 5 },
      steps: 5,
      expect: /Long running operation completed\. Duration: 1\.5 seconds, Steps: 5\./,
    },
    async abortSeen() {
      const call = proxy.sent("tools/call").at(-1);
      const cancelled = await until("the proxy sees notifications/cancelled", () =>
        proxy.sent("notifications/cancelled").find(({ message }) => message.params.requestId === call.message.id),
      );
      assert.ok(cancelled.at > call.at && call.endedAt === undefined, "while the call was open");
      return `notifications/cancelled for request ${call.message.id}`;
    },
    // Era detection asks first; a server of the legacy era refuses that with a status the console reports.
    expected: /status of 400/,
  });
  await proxy.close();
  await server.close();
}

/** npm `@modelcontextprotocol/server`: the modern era. */
export async function checkModern(report, browser, { address, load }) {
  const server = await startModernServer(load);
  const proxy = await startProxy(server.origin);
  await checkPeer(report, browser, address, {
    name: "modern",
    era: "modern",
    version: "2026-07-28",
    server: "modern-peer",
    connect: (bench) => bench.connectTo(`${proxy.origin}/mcp`),
    call: { tool: "add", fields: { a: 17, b: 25.5 }, expect: /42\.5/ },
    slow: { tool: "slow", fields: { steps: 5, pause: 300 }, steps: 5, expect: /5 steps done/ },
    async abortSeen() {
      const call = proxy.sent("tools/call").at(-1);
      await until("the proxy sees the stream closed", () => call.closedAt);
      assert.equal(call.endedAt, undefined);
      const handled = await until("the handler sees the abort", () => server.calls.at(-1).cancelled);
      assert.equal(proxy.sent("notifications/cancelled").length, 0, "closing the stream is all that is sent");
      return `stream closed, handler aborted after ${Math.round(handled - server.calls.at(-1).started)} ms`;
    },
  });
  await proxy.close();
  await server.close();
}

/** The Rust server in a worker of the page. */
export async function checkBuiltin(report, browser, { address }) {
  await checkPeer(report, browser, address, {
    name: "built-in",
    era: "modern",
    version: "2026-07-28",
    server: "Workbench server",
    connect: (bench) => bench.connectBuiltin(),
    call: { tool: "add", fields: { a: 17, b: 25 }, expect: /42/ },
    slow: { tool: "count", fields: { to: 5, pause: 300 }, steps: 5, expect: /Counted to 5\./ },
    async abortSeen(bench) {
      await bench.choose("status");
      const text = await until("the handler has recorded the abort", async () => {
        const { text } = await bench.ended(await bench.send());
        return /"cancelled": 1/.test(text) && text;
      });
      assert.match(text, /"finished": 1/);
      return "recorded by the handler";
    },
  });
}
