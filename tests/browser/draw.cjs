// Draws mermaid texts in a real browser, as a page would: {"diagrams": {name: text}, "folder": where pictures go or
// null, "themes": [...], "scale": 2} on standard input, what was seen on standard output. Nothing is asked of a network.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");
const { FLAGS, browserPath } = require("./chromium.cjs");

const COLUMN = 880; // pixels: the width that a README has
const PAGES = { default: "#ffffff", dark: "#0d1117" };

function mermaidPath() {
  return process.env.MERMAID || path.join(path.dirname(require.resolve("mermaid/package.json")), "dist/mermaid.min.js");
}

// Runs in the page. What comes back is what a reader sees, and whatever of the text became more than text.
async function drawn({ text, theme }) {
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
  const asked = JSON.parse(fs.readFileSync(0, "utf-8"));
  const left = []; // whatever tried to leave the page
  const seen = {};
  const browser = await chromium.launch({ executablePath: browserPath(), args: FLAGS, chromiumSandbox: false });
  try {
    for (const theme of asked.themes) {
      const page = await openPage(browser, theme, asked.scale || 1, left);
      for (const [name, text] of Object.entries(asked.diagrams)) {
        const key = theme === "default" ? name : `${name}-${theme}`;
        seen[key] = await page.evaluate(drawn, { text, theme });
        if (asked.folder && !seen[key].error) {
          const file = path.join(asked.folder, `${key}.png`);
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
