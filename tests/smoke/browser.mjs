// The browser, and pages that remember what went wrong in them.
const FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];

/** Starts the installed Chromium. */
export async function startBrowser(playwright, executablePath) {
  const browser = await playwright.chromium.launch({ executablePath, args: FLAGS, timeout: 60_000 });
  return {
    /** A page of its own context. `complaints` collects console errors and uncaught exceptions. */
    async open(url) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      const complaints = [];
      page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
      page.on("console", (message) => {
        if (message.type() === "error") complaints.push(`console: ${message.text()} (${message.location().url})`);
      });
      await page.goto(url);
      return { page, context, complaints, close: () => context.close() };
    },
    close: () => browser.close(),
  };
}
