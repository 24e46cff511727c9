// The path of the system's Chromium, and flags that keep it from making network requests.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const BROWSERS = ["chromium", "google-chrome"];
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
FLAGS.push("--disable-component-update", "--disable-sync");

function browserPath() {
  const folders = (process.env.PATH || "").split(path.delimiter);
  const paths = BROWSERS.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  const executable = process.env.CHROMIUM || paths.find((file) => fs.existsSync(file));
  if (!executable) throw new Error("no Chromium is installed");
  return executable;
}

module.exports = { FLAGS, browserPath };
