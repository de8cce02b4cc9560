// What must work with every server: list, call, progress, abort, disconnect, and silence in the console.
import assert from "node:assert/strict";
import { until } from "../wait.mjs";
import { workbench } from "../workbench.mjs";

/**
 * @typedef {object} Peer
 * @property {string} name
 * @property {string} era
 * @property {string} version The protocol version that must be negotiated.
 * @property {string} server The name the page must show.
 * @property {(bench: ReturnType<typeof workbench>) => Promise<void>} connect
 * @property {{ tool: string, fields: object, expect: RegExp }} call
 * @property {{ tool: string, fields: object, steps: number, expect: RegExp }} slow
 * @property {(bench: ReturnType<typeof workbench>) => Promise<string>} abortSeen
 *   Waits until the other side has seen the abort of the slow call and says how.
 */

/** Runs the checks against one peer in a page of its own. */
export async function checkPeer(report, browser, address, /** @type {Peer} */ peer) {
  const { page, complaints, close } = await browser.open(address);
  const bench = workbench(page);
  const check = (name, body) => report.check(`${peer.name}: ${name}`, body);

  await check(`connects at ${peer.version}, ${peer.era} era`, async () => {
    await peer.connect(bench);
    assert.equal(await bench.element("era").innerText(), peer.era);
    assert.equal(await bench.element("protocol-version").innerText(), peer.version);
    assert.equal(await bench.element("server-name").innerText(), peer.server);
  });

  await check("lists its tools with their schemas", async () => {
    const names = await bench.entries();
    assert.ok(names.includes(peer.call.tool) && names.includes(peer.slow.tool), names.join());
    await bench.choose(peer.call.tool);
    await page.locator(".schema summary").click();
    assert.match(await page.locator(".schema .json").first().innerText(), /"type": "object"/);
    return `${names.length} tools`;
  });

  await check("calls a tool with arguments", async () => {
    await bench.choose(peer.call.tool);
    await bench.fill(peer.call.fields);
    const { status, text } = await bench.ended(await bench.send());
    assert.equal(status, "done");
    assert.match(text, peer.call.expect);
  });

  await check("shows progress before the result", async () => {
    await bench.choose(peer.slow.tool);
    await bench.fill(peer.slow.fields);
    await bench.watch();
    const run = await bench.send();
    const { status, text, took } = await bench.ended(run);
    assert.equal(status, "done");
    assert.match(text, peer.slow.expect);

    const seen = (await bench.seen()).filter((entry) => entry.run === run);
    const progress = seen.filter(({ kind }) => kind === "progress");
    const result = seen.find(({ kind }) => kind === "result");
    assert.equal(progress.length, peer.slow.steps);
    progress.forEach(({ text }, index) => assert.ok(text.includes(`${index + 1} / ${peer.slow.steps}`), text));
    const [first] = progress;
    const early = progress.slice(0, -1);
    assert.ok(early.every(({ status, at }) => status === "running" && at < result.at), JSON.stringify(seen));
    assert.ok(result.at - first.at > took / 3, "the first event comes long before the result");
    const times = (await bench.progressOf(run)).map(({ ms }) => ms);
    assert.ok(times.every((ms, index) => ms < took && ms > (times[index - 1] ?? 0)), times.join());
    return `${times.map(Math.round).join(", ")} ms, result ${Math.round(took)} ms`;
  });

  await check("cancels a call, and the other side sees it", async () => {
    const run = await bench.send();
    await until("the call makes progress", async () => (await bench.progressOf(run)).length > 0);
    await bench.cancel(run);
    assert.equal((await bench.ended(run)).status, "cancelled");
    return await peer.abortSeen(bench);
  });

  await check("shows the raw messages both ways", async () => {
    const messages = await bench.wire();
    assert.ok(messages.some((message) => /^out tools\/call request/.test(message)), messages.join("\n"));
    assert.ok(messages.some((message) => /^in tools\/call result/.test(message)), messages.join("\n"));
    assert.ok(messages.some((message) => /^in notifications\/progress/.test(message)), messages.join("\n"));
    return `${messages.length} messages`;
  });

  await check("disconnects and connects again", async () => {
    await bench.disconnect();
    assert.equal(await bench.element("peer").count(), 0);
    await peer.connect(bench);
    await bench.entries();
    await bench.disconnect();
  });

  await check("leaves no complaint in the console", () => {
    assert.deepEqual(complaints.filter((complaint) => !peer.expected?.test(complaint)), []);
  });
  await close();
}
