// Runs the README's JavaScript as a user would: the packed package in `node_modules`, pages in an installed Chromium.
//   SANDWIRE_STAGE  the folder where the files of this folder stand beside `node_modules/sandwire`
//   SANDWIRE_NPM    the packages of tests/npm/smoke
//   CHROMIUM        the browser
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { startBrowser } from "../smoke/browser.mjs";
import { startStatic } from "../smoke/static.mjs";

const stage = path.resolve(process.env.SANDWIRE_STAGE);
const require = createRequire(path.join(process.env.SANDWIRE_NPM, "package.json"));
const load = (file) => import(pathToFileURL(file));

let host;
let browser;

before(async () => {
  const playwright = await load(require.resolve("playwright-core"));
  host = await startStatic({ "/": stage, "/sandwire/": path.join(stage, "node_modules/sandwire") });
  browser = await startBrowser(playwright.default ?? playwright, process.env.CHROMIUM);
});

after(async () => {
  await browser?.close();
  await host?.close();
});

test("a page calls a server in its own wasm worker", async () => {
  await withPage(`${host.origin}/wasm-app/index.html`, async ({ page }) => {
    await page.getByText("19 + 23 = 42").waitFor();
  });
});

test("a page calls a JavaScript server over HTTP and hears of its progress", async () => {
  const { default: server } = await load(path.join(stage, "javascript/server.js"));
  const said = [];
  await withPage("about:blank", async ({ page, context }) => {
    page.on("console", (message) => said.push(message.text()));
    await context.route("https://example.com/mcp", (route) => answer(server, route));
    await page.goto(`${host.origin}/javascript/index.html`);
    await page.getByText("Hello, Ada!").waitFor();
  });
  assert.deepEqual(said, ["1 of 2"]);
});

async function withPage(address, use) {
  const opened = await browser.open(address);
  try {
    await use(opened);
    assert.deepEqual(opened.complaints, []);
  } catch (error) {
    error.message = [error.message, ...opened.complaints].join("\n");
    throw error;
  } finally {
    await opened.close();
  }
}

/** Answers what a page asks of an address with a server's `fetch`. */
async function answer(server, route) {
  const request = route.request();
  const { host: _, ...headers } = await request.allHeaders();
  const body = request.postDataBuffer() ?? undefined;
  const response = await server.fetch(new Request(request.url(), { method: request.method(), headers, body }));
  await route.fulfill({
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: Buffer.from(await response.arrayBuffer()),
  });
}
