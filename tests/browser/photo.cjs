// Pictures of the top of pages: {"pages": {file: picture}, "width", "height", "dark": bool} on standard input.
"use strict";
const fs = require("node:fs");
const { pathToFileURL } = require("node:url");
const { chromium } = require("playwright-core");
const { FLAGS, browserPath } = require("./chromium.cjs");

async function main() {
  const task = JSON.parse(fs.readFileSync(0, "utf-8"));
  const browser = await chromium.launch({ executablePath: browserPath(), args: FLAGS, chromiumSandbox: false });
  try {
    const viewport = { width: task.width, height: task.height };
    const page = await (await browser.newContext({ viewport, colorScheme: task.dark ? "dark" : "light" })).newPage();
    for (const [file, picture] of Object.entries(task.pages)) {
      await page.goto(pathToFileURL(file).href);
      await page.waitForTimeout(task.wait);
      await page.screenshot({ path: picture });
    }
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  process.stderr.write(`${error.stack || error}\n`);
  process.exit(1);
});
