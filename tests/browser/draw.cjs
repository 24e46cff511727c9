// Draws mermaid texts in a real browser, as a page would: {"diagrams": {name: text}, "folder": where pictures go or
// null, "themes": [...], "scale": 2} on standard input, observations on standard output. No network requests are made.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");
const { FLAGS, browserPath } = require("./chromium.cjs");

const COLUMN = 880; // pixels: the width of a README
const PAGES = { default: "#ffffff", dark: "#0d1117" };

function mermaidPath() {
  return process.env.MERMAID || path.join(path.dirname(require.resolve("mermaid/package.json")), "dist/mermaid.min.js");
}

// Runs in the page. Returns what a reader sees, and elements that text should not have become.
async function drawDiagram({ text, theme }) {
  const stray = "script, a, img, iframe, input, i, em, strong, del, code, li, h1, math";
  const place = document.querySelector("#place");
  place.replaceChildren();
  mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme });
  try {
    await mermaid.parse(text);
    place.innerHTML = (await mermaid.render("drawing", text)).svg;
  } catch (error) {
    return { error: String(error.message || error) };
  }
  const svg = place.querySelector("svg");
  const words = (selector) => [...svg.querySelectorAll(selector)].map((found) => found.innerText ?? found.textContent);
  return {
    error: null,
    boxes: words(".node .nodeLabel"),
    edges: svg.querySelectorAll(".edgePaths path").length,
    dotted: svg.querySelectorAll(".edgePaths path.edge-pattern-dotted").length,
    shapes: words("foreignObject span.edgeLabel"),
    frames: words(".cluster .nodeLabel"),
    foreign: [...svg.querySelectorAll(stray)].map((one) => one.outerHTML),
    width: Math.round(svg.viewBox.baseVal.width),
    height: Math.round(svg.viewBox.baseVal.height),
  };
}

async function openPage(browser, theme, scale, left) {
  const view = { viewport: { width: COLUMN + 40, height: 900 }, deviceScaleFactor: scale };
  const page = await (await browser.newContext(view)).newPage();
  await page.route("**/*", (route) => (left.push(route.request().url()), route.abort()));
  page.on("dialog", (dialog) => (left.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  const style = `body{margin:20px;background:${PAGES[theme]}} #place{width:${COLUMN}px;text-align:center}`;
  await page.setContent(`<!doctype html><meta charset="utf-8"><style>${style}</style><div id="place"></div>`);
  await page.addScriptTag({ path: mermaidPath() });
  return page;
}

async function main() {
  const task = JSON.parse(fs.readFileSync(0, "utf-8"));
  const left = []; // requests that tried to leave the page
  const seen = {};
  const browser = await chromium.launch({ executablePath: browserPath(), args: FLAGS, chromiumSandbox: false });
  try {
    for (const theme of task.themes) {
      const page = await openPage(browser, theme, task.scale || 1, left);
      for (const [name, text] of Object.entries(task.diagrams)) {
        const key = theme === "default" ? name : `${name}-${theme}`;
        seen[key] = await page.evaluate(drawDiagram, { text, theme });
        if (task.folder && !seen[key].error) {
          const file = path.join(task.folder, `${key}.png`);
          await page.locator("#place svg").screenshot({ path: file });
        }
      }
    }
  } finally {
    await browser.close();
  }
  process.stdout.write(JSON.stringify({ seen, left }));
}

main().catch((error) => {
  process.stderr.write(`${error.stack || error}\n`);
  process.exit(1);
});
