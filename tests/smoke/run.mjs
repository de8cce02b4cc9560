// The smoke test of the workbench, in the installed Chromium:
//   node tests/smoke/run.mjs --dist <built page> --package <sandwire.tgz> --edge <folder> --rust <folder>
//     --chromium <path> --tools <folder>
// The edge folder holds the bundled server of tests/edge-server, the rust folder the client of tests/page-client; the
// tools are the packages of tests/npm/smoke, found in the folder's `node_modules`.
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { hashOfTarball } from "../../www/content-hash.mjs";
import { startBrowser } from "./browser.mjs";
import { createReport } from "./report.mjs";
import { startStatic } from "./static.mjs";
import { checkHosts } from "./suites/hosts.mjs";
import { checkMethods } from "./suites/methods.mjs";
import { checkOrigins } from "./suites/origins.mjs";
import { checkAsking, checkContent, checkContents, checkForm, checkOffline, checkRefusal } from "./suites/page.mjs";
import { checkBuiltin, checkEverything, checkModern } from "./suites/peers.mjs";
import { checkRust } from "./suites/rust.mjs";

const BUDGET = 170_000;

const { values } = parseArgs({
  options: {
    dist: { type: "string" },
    package: { type: "string" },
    chromium: { type: "string" },
    tools: { type: "string" },
    edge: { type: "string" },
    rust: { type: "string" },
  },
});
for (const name of ["dist", "package", "edge", "rust", "chromium", "tools"]) {
  if (values[name]) continue;
  console.error(`--${name} is missing`);
  process.exit(2);
}

const dist = path.resolve(values.dist);
const tools = path.resolve(values.tools);
const require = createRequire(path.join(tools, "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const report = createReport();

const overdue = setTimeout(() => {
  console.log(`not ok the smoke test ends within ${BUDGET / 1000} s`);
  process.exit(1);
}, BUDGET);

const playwright = await load("playwright-core");
const host = await startStatic({ "/": dist });
const browser = await startBrowser(playwright.default ?? playwright, values.chromium);
const address = `${host.origin}/`;
const around = {
  address,
  dist,
  tools,
  load,
  tarball: values.package,
  edge: path.resolve(values.edge),
  rust: path.resolve(values.rust),
  packageHash: hashOfTarball(values.package),
};

const suites = [
  checkContent,
  checkEverything,
  checkModern,
  checkBuiltin,
  checkForm,
  checkContents,
  checkAsking,
  checkRefusal,
  checkOffline,
  checkMethods,
  checkHosts,
  checkRust,
  checkOrigins,
];
for (const suite of suites) await report.guard(suite.name, () => suite(report, browser, around));

await browser.close();
await host.close();
clearTimeout(overdue);
process.exit(report.finish());
