// What the page itself must do, whatever it is connected to.
import assert from "node:assert/strict";
import { startModernServer } from "../peers/modern.mjs";
import { startStatic } from "../static.mjs";
import { workbench } from "../workbench.mjs";

/** The page was built from the very package that is tested. */
export async function checkContent(report, browser, { address, packageHash }) {
  await report.check("page: shows the content hash of the package", async () => {
    const { page, close } = await browser.open(address);
    const shown = await workbench(page).element("package-hash").getAttribute("data-hash");
    assert.equal(shown, packageHash);
    await close();
    return shown.slice(0, 12);
  });
}

/** A connection that cannot be made says so, and the page goes on. */
export async function checkRefusal(report, browser, { address }) {
  await report.check("page: says why a connection failed", async () => {
    const { page, close } = await browser.open(address);
    const bench = workbench(page);
    await assert.rejects(bench.connectTo("http://127.0.0.1:9/mcp"), /Could not connect/);
    await bench.connectBuiltin();
    await close();
  });
}

/** Loaded once, the page comes back without any network and serves itself. */
export async function checkOffline(report, browser, { dist }) {
  await report.check("page: works with the built-in server without a network", async () => {
    const host = await startStatic({ "/": dist });
    const { page, context, close } = await browser.open(`${host.origin}/`);
    const bench = workbench(page);
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await host.close();
    await context.setOffline(true);
    await page.reload();
    await bench.connectBuiltin();
    await bench.choose("greet");
    await bench.fill({ name: "Ada" });
    const { status, text } = await bench.ended(await bench.send());
    assert.equal(status, "done");
    assert.match(text, /Ada/);
    await close();
  });
}

/** Every kind of field goes where it should. */
export async function checkForm(report, browser, { address }) {
  await report.check("page: makes arguments from a form with every kind of field", async () => {
    const { page, complaints, close } = await browser.open(address);
    const bench = workbench(page);
    await bench.connectBuiltin();
    await bench.choose("plan_trip");
    await bench.fill({ title: "Round the lake", travel_by: "bicycle" });
    await bench.element("add-stops").click();
    await bench.fill({ "stops.0.place": "Lindau", "stops.0.nights": 2 });
    await bench.element("field-season").getByLabel("autumn").check();
    await bench.element("field-confirmed").getByText("true", { exact: true }).click();
    await bench.element("field-budget").getByLabel("include").check();
    await bench.fill({ "budget.amount": 120, "budget.currency": "EUR" });
    await bench.element("mode").click();
    assert.deepEqual(JSON.parse(await bench.element("json").inputValue()), {
      title: "Round the lake",
      travel_by: "bicycle",
      stops: [{ place: "Lindau", nights: 2 }],
      budget: { amount: 120, currency: "EUR" },
      season: ["autumn"],
      confirmed: true,
    });
    await bench.element("mode").click();
    const { status, text } = await bench.ended(await bench.send());
    assert.equal(status, "done", text);
    assert.match(text, /Lindau/);
    assert.deepEqual(complaints, []);
    await close();
  });

  await report.check("page: refuses to send what the form knows to be wrong", async () => {
    const { page, close } = await browser.open(address);
    const bench = workbench(page);
    await bench.connectBuiltin();
    await bench.choose("add");
    await bench.fill({ a: "many" });
    await bench.element("call").click();
    const problems = await bench.element("problems").innerText();
    assert.match(problems, /a: .*not a number/);
    assert.match(problems, /b: a number is missing/);
    await close();
  });
}

/** Pictures, resources and prompts of the built-in server are shown as what they are. */
export async function checkContents(report, browser, { address }) {
  await report.check("page: shows pictures, resources and prompts", async () => {
    const { page, complaints, close } = await browser.open(address);
    const bench = workbench(page);
    await bench.connectBuiltin();

    await bench.choose("swatch");
    await bench.fill({ colour: "teal" });
    await bench.ended(await bench.send());
    const width = await page.locator(".media img").evaluate(async (image) => {
      await image.decode();
      return image.naturalWidth;
    });
    assert.ok(width > 0);

    await bench.element("tab-resources").click();
    await page.locator('[data-entry="notes://{id}"]').click();
    await bench.fill({ id: "welcome" });
    assert.match((await bench.ended(await bench.send())).text, /notes:\/\/welcome/);

    await bench.element("tab-prompts").click();
    await bench.choose("explain");
    await bench.fill({ topic: "wires" });
    assert.match((await bench.ended(await bench.send())).text, /wires/);
    assert.deepEqual(complaints, []);
    await close();
  });
}

/** A question that a server asks during a call is put before the person, and the answer goes back. */
export async function checkAsking(report, browser, { address, load }) {
  const server = await startModernServer(load);
  await report.check("page: answers what the server asks during a call", async () => {
    const { page, close } = await browser.open(address);
    const bench = workbench(page);
    await bench.connectTo(`${server.origin}/mcp`);
    await bench.choose("ask");
    const run = await bench.send();
    const ask = bench.element("ask");
    assert.match(await ask.innerText(), /Who are you\?/);
    await ask.getByTestId("field-name").locator("input").fill("Ada");
    await ask.getByTestId("ask-accept").click();
    const { status, text } = await bench.ended(run);
    assert.equal(status, "done", text);
    assert.match(text, /Hello, Ada\./);
    assert.equal(await ask.count(), 0);
    await close();
  });
  await server.close();
}
