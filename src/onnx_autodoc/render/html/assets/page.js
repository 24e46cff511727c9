"use strict";
// Starts the modules above and the controls that belong to none of them.
const Page = (() => {
  const MAX_PRINTED_ROWS = 60; // of a collapsed table
  const byId = (id) => document.getElementById(id);

  function theme() {
    const button = byId("theme");
    const update = () => button.setAttribute("aria-pressed", String(Theme.isDark()));
    button.disabled = false;
    button.addEventListener("click", Theme.toggle);
    document.addEventListener("theme", update);
    update();
  }

  function menu() {
    const button = byId("menu");
    const open = (whether) => {
      button.setAttribute("aria-expanded", String(whether));
      document.body.classList.toggle("menu-open", whether);
    };
    button.addEventListener("click", () => open(button.getAttribute("aria-expanded") !== "true"));
    document.querySelector(".side nav").addEventListener("click", () => open(false));
    document.addEventListener("keydown", (event) => event.key === "Escape" && open(false));
  }

  // On a narrow screen the sizes are collapsed, so that the summary comes first.
  function sizes() {
    const button = byId("sizes-open");
    button?.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(open));
      byId("sizes").classList.toggle("open", open);
    });
  }

  function printing() {
    byId("print").disabled = false;
    byId("print").addEventListener("click", () => print());
    let closed = [];
    addEventListener("beforeprint", () => {
      const folded = [...document.querySelectorAll("main .part details:not([open])")];
      // Longer tables stay collapsed.
      closed = folded.filter((one) => one.querySelectorAll("tr").length <= MAX_PRINTED_ROWS);
      closed.forEach((one) => (one.open = true));
    });
    addEventListener("afterprint", () => closed.forEach((one) => (one.open = false)));
  }

  const isTyping = (element) => element.matches("input, textarea, select, [contenteditable]");

  function keys() {
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "/") (event.preventDefault(), Search.focus());
    });
  }

  // Marks the visible section in the navigation.
  function trackSection() {
    const links = new Map([...document.querySelectorAll(".side nav a")].map((link) => [link.hash.slice(1), link]));
    const seen = new Set();
    const mark = () => {
      const current = [...links.keys()].find((id) => seen.has(id));
      links.forEach((link, id) => {
        if (id === current) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      });
    };
    const watch = new IntersectionObserver(
      (changes) => {
        changes.forEach(({ target, isIntersecting }) =>
          isIntersecting ? seen.add(target.id) : seen.delete(target.id),
        );
        mark();
      },
      { rootMargin: "-130px 0px -55% 0px" },
    );
    document.querySelectorAll("main .part").forEach((part) => watch.observe(part));
  }

  // Node names link to their rows, which are created on demand.
  function follow(hash) {
    const match = /^#node-(\d+)$/.exec(hash);
    if (match && Number(match[1]) < Nodes.size) NodeTable.reveal(Number(match[1]));
    return match !== null;
  }

  function links() {
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[href^='#node-']");
      if (link && follow(link.hash)) event.preventDefault();
    });
    addEventListener("hashchange", () => follow(location.hash));
    follow(location.hash);
  }

  function copying() {
    if (!navigator.clipboard) return;
    document.querySelectorAll("[data-copy]").forEach((button) => {
      button.hidden = false;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(button.previousElementSibling.textContent);
        button.textContent = "Copied";
        setTimeout(() => (button.textContent = "Copy"), 1500);
      });
    });
  }

  // A chart that is wider than the screen scrolls, also by keyboard.
  function scrollableCharts() {
    const pictures = [...document.querySelectorAll(".picture")];
    const update = () =>
      pictures
        .map((one) => [one, one.scrollWidth > one.clientWidth])
        .forEach(([one, wide]) => (wide ? (one.tabIndex = 0) : one.removeAttribute("tabindex")));
    matchMedia("(max-width: 40rem)").addEventListener("change", update);
    update();
  }

  function start() {
    const parts = [theme, menu, sizes, printing, keys, trackSection, copying, scrollableCharts];
    [Tips.start, Tables.start, NodeTable.start, Search.start, Sliders.start, ...parts, links].forEach((part) => part());
    performance.mark("interactive");
  }

  start();
  return Object.freeze({});
})();
