// Where the system's Chromium is, and how it is started so that it asks nothing of a network.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const BROWSERS = ["chromium", "google-chrome"];
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
FLAGS.push("--disable-component-update", "--disable-sync");

function browserPath() {
  const folders = (process.env.PATH || "").split(path.delimiter);
  const paths = BROWSERS.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  const found = process.env.CHROMIUM || paths.find((file) => fs.existsSync(file));
  if (!found) throw new Error("no Chromium is installed");
  return found;
}

module.exports = { FLAGS, browserPath };
