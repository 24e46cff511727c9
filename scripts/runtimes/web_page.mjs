// Which of the models on standard input (one path a line) run on WebGPU alone, in a real browser, one answer a line.
// node scripts/runtimes/web_page.mjs FOLDER_OF_THE_NPM_PACKAGE < paths. Needs playwright-core and chromium.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { chromium } = createRequire(`${process.cwd()}/.venv/browser/package.json`)("playwright-core");
const root = process.argv[2];
const paths = readFileSync(0, "utf8").split("\n").filter(Boolean);
const kinds = { mjs: "text/javascript", wasm: "application/wasm", html: "text/html", onnx: "application/octet-stream" };

function body(name) {
  if (name.startsWith("model/")) return readFileSync(paths[parseInt(name.slice(6))]);
  return name.startsWith("ort") ? readFileSync(`${root}/dist/${name}`) : "";
}

const server = createServer((request, response) => {
  const name = request.url.slice(1).split("?")[0];
  response.writeHead(200, { "content-type": kinds[name.split(".").pop()] ?? "application/octet-stream" });
  response.end(body(name));
}).listen(0);
const home = `http://127.0.0.1:${server.address().port}`;

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan", "--use-vulkan=swiftshader"],
});
const page = await browser.newPage();
await page.goto(`${home}/page.html`);
console.error(await page.evaluate(async () => (await navigator.gpu?.requestAdapter())?.info?.vendor ?? "no adapter"));
for (const [at, path] of paths.entries()) {
  const answer = await page.evaluate(async ([home, at]) => {
    const ort = await import(`${home}/ort.webgpu.mjs`);
    ort.env.wasm.numThreads = 1;
    ort.env.logLevel = "fatal";
    try {
      const bytes = new Uint8Array(await (await fetch(`${home}/model/${at}`)).arrayBuffer());
      const options = { executionProviders: ["webgpu"], graphOptimizationLevel: "disabled", extra: { session: { disable_cpu_ep_fallback: "1" } } };
      await (await ort.InferenceSession.create(bytes, options)).release();
      return "yes";
    } catch (error) {
      return String(error.message ?? error).split("\n")[0].slice(0, 200);
    }
  }, [home, at]);
  console.log(`${path}\t${answer}`);
}
await browser.close();
server.close();
