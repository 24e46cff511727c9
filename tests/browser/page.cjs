// Opens pages of the html format from disk and reports observations. On standard input: {"pages":
// [{"name", "file", and what to do there: "graph", "sizes", "search", "axe", "run", "shots"}], "folder": for pictures}.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { chromium } = require("playwright-core");
const { FLAGS, browserPath } = require("./chromium.cjs");

const WIDE = { width: 1440, height: 900 };
const MODES = {
  light: {},
  dark: { colorScheme: "dark" },
  narrow: { viewport: { width: 400, height: 800 } },
  print: { viewport: { width: 760, height: 1100 } },
};
const AXE = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf-8");

// Collects what must stay empty: console messages, requests, policy violations.
async function openPage(browser, task, seen, options = {}) {
  const context = await browser.newContext({ viewport: WIDE, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10000);
  const own = pathToFileURL(task.file).href;
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && seen.console.push(message.text()));
  page.on("pageerror", (error) => seen.console.push(String(error)));
  page.on("request", (request) => request.url().split("#")[0] === own || seen.requests.push(request.url()));
  page.on("dialog", (dialog) => (seen.requests.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  await page.addInitScript(() => {
    window.stopped = [];
    document.addEventListener("securitypolicyviolation", (event) => window.stopped.push(event.violatedDirective));
  });
  await page.goto(own, { waitUntil: "load" });
  return { page, close: () => context.close() };
}

async function timing(page) {
  return page.evaluate(() => performance.getEntriesByName("interactive")[0]?.startTime ?? null);
}

// The diagram starts when it is near the viewport; a box with children expands by a click and collapses by Enter.
async function operateGraph(page) {
  if (!(await page.locator("#graph").count())) return null;
  await page.evaluate(() => document.getElementById("graph").scrollIntoView());
  await page.waitForFunction(() => performance.getEntriesByName("drawn").length > 0, null, { timeout: 10000 });
  const first = await page.evaluate(() => ({ open: [...Boxes.open], legible: Canvas.legible() }));
  await page.evaluate(() => document.getElementById("graph-fold").click());
  const boxes = await page.evaluate(() => Graph.places());
  const found = { first, boxes: boxes.length, tree: await page.locator("#graph-tree > li").count() };
  const holder = await page.evaluate(() => Boxes.root.children.find((box) => Boxes.canOpen(box))?.id ?? null);
  if (holder === null) return found;
  await page.evaluate((id) => Canvas.reveal(id), holder);
  const { at } = (await page.evaluate(() => Graph.places())).find((box) => box.id === holder);
  const corner = await page.locator("#graph-canvas").boundingBox();
  await page.mouse.click(corner.x + at.x, corner.y + at.y);
  found.clicked = (await page.evaluate(() => Graph.places())).length;
  found.inside = await page.evaluate((id) => Boxes.all.get(id).children.length, holder);
  found.panel = await page.locator("#graph-panel dl").count();
  await page.locator(`#graph-tree [data-box="${holder}"]`).focus();
  await page.keyboard.press("Enter");
  found.folded = (await page.evaluate(() => Graph.places())).length;
  return found;
}

async function searchNode(page, text) {
  await page.evaluate(() => scrollTo(0, 0));
  await page.keyboard.press("/");
  await page.keyboard.insertText(text);
  const list = await page.locator("#search-results-list li").allInnerTexts();
  await page.locator("#search-results-list button", { hasText: text }).first().click();
  const row = await page.locator("#node-table tr.more").innerText();
  const focused = await page.evaluate(() => document.activeElement.textContent);
  return { list, row, focused };
}

// Figures by quantity, after the variables were set one by one.
async function moveSliders(page, sizes) {
  for (const [index, size] of sizes.entries()) {
    await page.locator(`#size-${index}`).fill(String(size));
    await page.locator(`#size-${index}`).press("Enter");
  }
  const read = () =>
    Object.fromEntries(
      [...document.querySelectorAll("data[data-quantity]")].map((one) => [one.dataset.quantity, one.textContent]),
    );
  const away = await page.evaluate(read);
  const all = await page.locator("data.recomputed, data.unknown").count();
  await page.locator("#reset").click();
  return { away, all, back: await page.evaluate(read), left: await page.locator("data.recomputed, data.unknown").count() };
}

async function findViolations(page) {
  await page.evaluate(AXE); // not as a script element, which the page's policy would block
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map(
      (one) =>
        `${one.id}: ${one.nodes
          .map((node) => node.html.slice(0, 120))
          .slice(0, 3)
          .join(" | ")}`,
    );
}

async function takeScreenshots(browser, task, folder) {
  for (const mode of task.shots) {
    const { page, close } = await openPage(browser, task, { console: [], requests: [] }, MODES[mode]);
    if (mode === "print") await page.emulateMedia({ media: "print" });
    else if (await page.locator("#graph").count()) await page.locator("#graph").scrollIntoViewIfNeeded();
    await page.waitForTimeout(300);
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: path.join(folder, `${task.name}-${mode}.png`), fullPage: true });
    await close();
  }
}

async function observe(browser, task, folder) {
  const seen = { console: [], requests: [] };
  const { page, close } = await openPage(browser, task, seen, task.options);
  if (task.media) await page.emulateMedia({ media: task.media });
  seen.interactive = await timing(page);
  if (task.graph) seen.graph = await operateGraph(page);
  if (task.sizes) seen.moved = await moveSliders(page, task.sizes);
  if (task.search) seen.search = await searchNode(page, task.search);
  if (task.axe) seen.axe = await findViolations(page);
  if (task.run) seen.run = await page.evaluate(task.run);
  seen.stopped = await page.evaluate(() => window.stopped);
  await close();
  if (task.shots) await takeScreenshots(browser, task, folder);
  return seen;
}

async function visit(browser, task, folder) {
  try {
    return await observe(browser, task, folder);
  } catch (error) {
    return { failed: String(error.stack || error) };
  }
}

// `jobs` pages at a time; one for time measurements.
async function main() {
  const { pages, folder, jobs } = JSON.parse(fs.readFileSync(0, "utf-8"));
  const browser = await chromium.launch({ executablePath: browserPath(), args: FLAGS, chromiumSandbox: false });
  const seen = {};
  const rest = [...pages];
  const work = async () => {
    for (let task = rest.shift(); task; task = rest.shift())
      seen[task.name] = await visit(browser, task, folder);
  };
  try {
    await Promise.all(Array.from({ length: jobs || 1 }, work));
  } finally {
    await browser.close();
  }
  process.stdout.write(JSON.stringify(seen));
}

main().catch((error) => {
  process.stderr.write(`${error.stack || error}\n`);
  process.exit(1);
});
