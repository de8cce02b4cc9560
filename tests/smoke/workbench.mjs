// The workbench as a person uses it: find, fill, click, read.
import assert from "node:assert/strict";
import { until } from "./wait.mjs";

/** Hands on an open page. */
export function workbench(page) {
  const element = (id) => page.getByTestId(id);
  const run = (key) => page.locator(`[data-testid="run"][data-key="${key}"]`);

  return {
    element,

    async connectTo(url) {
      await element("url").fill(url);
      await element("connect").click();
      await this.connected();
    },

    async connectBuiltin() {
      await element("connect-builtin").click();
      await this.connected();
    },

    /** Waits for the bench, or for the reason why there is none. */
    async connected() {
      await element("peer").or(element("failure")).first().waitFor();
      if (await element("failure").isVisible()) throw new Error(await element("failure").innerText());
    },

    /** The names in the list that is shown. */
    async entries() {
      await element("entry").first().waitFor();
      return await element("entry").evaluateAll((found) => found.map((entry) => entry.dataset.entry));
    },

    async choose(name) {
      await page.locator(`[data-testid="entry"][data-entry="${name}"]`).click();
      assert.equal(await element("chosen").innerText(), name);
    },

    async fill(fields) {
      for (const [path, value] of Object.entries(fields)) {
        const input = element(`field-${path}`).locator("input, textarea, select").first();
        const kind = await input.evaluate((found) => found.tagName);
        await (kind === "SELECT" ? input.selectOption({ label: String(value) }) : input.fill(String(value)));
      }
    },

    /** Clicks the button of the form and gives the key of the new run. */
    async send() {
      const before = await newest(page);
      await element("call").click();
      return await until("a new run is shown", async () => {
        const key = await newest(page);
        return key !== before && key;
      });
    },

    /** Waits for the end of a run and gives its status, its text and how long the page says it took. */
    async ended(key) {
      await run(key).getByTestId("took").waitFor();
      const took = Number(await run(key).getByTestId("took").getAttribute("data-ms"));
      return { status: await run(key).getAttribute("data-status"), text: await run(key).innerText(), took };
    },

    cancel: (key) => run(key).getByTestId("cancel").click(),

    progressOf: (key) =>
      run(key)
        .getByTestId("progress")
        .evaluateAll((steps) => steps.map((step) => ({ text: step.innerText, ms: Number(step.dataset.ms) }))),

    /** From now on notes when text of progress and of results appears in the document. */
    watch: () => page.evaluate(watchDocument),

    seen: () => page.evaluate(() => globalThis.seen),

    /** The labels in the log of messages with their directions: `out tools/call request 3`. */
    async wire() {
      return await element("wire-entry").evaluateAll((entries) =>
        entries.map((entry) => {
          const part = (name) => entry.querySelector(`.${name}`).textContent.trim();
          return `${entry.dataset.direction} ${part("method")} ${part("kind")}`;
        }),
      );
    },

    async disconnect() {
      await element("disconnect").click();
      await element("connect").waitFor();
    },
  };
}

function newest(page) {
  return page.evaluate(() => document.querySelector('[data-testid="run"]')?.dataset.key);
}

function watchDocument() {
  const noted = new Set();
  const start = performance.now();
  globalThis.seen = [];
  const look = () => {
    for (const element of document.querySelectorAll('[data-testid="progress"], [data-testid="result"]')) {
      const run = element.closest('[data-testid="run"]');
      const kind = element.dataset.testid;
      const text = element.innerText.replace(/\s+/g, " ").trim();
      const name = `${run.dataset.key} ${kind} ${text}`;
      if (noted.has(name)) continue;
      noted.add(name);
      globalThis.seen.push({ run: run.dataset.key, kind, text, status: run.dataset.status, at: performance.now() - start });
    }
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
}
