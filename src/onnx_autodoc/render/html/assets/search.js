"use strict";
// Search field: sections, boxes and nodes by a part of their name, while typing.
const Search = (() => {
  const MAX_NODES = 12; // in the list; the table has all
  const field = document.getElementById("search");
  const panel = document.getElementById("search-results");
  const list = document.getElementById("search-results-list");
  const counter = document.getElementById("search-count");

  function item(title, detail, act) {
    const made = document.createElement("li");
    const button = document.createElement("button");
    const name = document.createElement("span");
    const more = document.createElement("small");
    button.type = "button";
    name.textContent = title;
    more.textContent = detail;
    button.append(name, more);
    button.addEventListener("click", () => (close(), act()));
    made.append(button);
    return made;
  }

  function sections(text) {
    const links = [...document.querySelectorAll(".side nav a")];
    return links.filter((link) => link.textContent.toLowerCase().includes(text.toLowerCase())).slice(0, 4);
  }

  // Boxes of the diagram, outer ones first; a page may have no diagram.
  function boxes(text) {
    const all = typeof Boxes === "undefined" ? [] : [...Boxes.all.values()].filter((box) => box.depth >= 0);
    const fits = (box) => `${box.label} ${box.kind}`.toLowerCase().includes(text.toLowerCase());
    return all.filter((box) => box.family !== "port" && fits(box)).sort((a, b) => a.depth - b.depth).slice(0, 3);
  }

  function draw() {
    const text = field.value.trim();
    if (!text) return close();
    const nodes = Nodes.search(text);
    const items = sections(text).map((link) => item(link.textContent, "section", () => link.click()));
    boxes(text).forEach((box) => items.push(item(Boxes.title(box), "in the diagram", () => Graph.show(box))));
    const reveal = (at) => item(Nodes.name(at), Nodes.op(at), () => NodeTable.reveal(at));
    items.push(...nodes.slice(0, MAX_NODES).map(reveal));
    if (nodes.length > MAX_NODES) items.push(item(`All ${Numbers.count(nodes.length)} nodes`, "in the table", all));
    list.replaceChildren(...items);
    counter.textContent = nodes.length === 1 ? "1 node" : `${nodes.length ? Numbers.count(nodes.length) : "No"} nodes`;
    panel.hidden = false;
  }

  function all() {
    NodeTable.show(field.value.trim());
    document.getElementById("nodes").scrollIntoView();
    document.getElementById("node-filter").focus({ preventScroll: true });
  }

  function close() {
    panel.hidden = true;
  }

  // Arrow keys move through the list; up from the first entry returns to the field.
  function move(event) {
    const buttons = [...list.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    if (event.key === "Escape") return (close(), field.focus());
    if (event.key === "Enter" && at < 0 && buttons.length) return (event.preventDefault(), buttons[0].click());
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return undefined;
    event.preventDefault();
    const to = at + (event.key === "ArrowDown" ? 1 : -1);
    return to < 0 ? field.focus() : buttons[Math.min(to, buttons.length - 1)]?.focus();
  }

  function start() {
    field.disabled = false;
    field.addEventListener("input", draw);
    field.addEventListener("focus", () => field.value.trim() && draw());
    field.closest(".search").addEventListener("keydown", move);
    document.addEventListener("pointerdown", (event) => field.closest(".search").contains(event.target) || close());
  }

  return Object.freeze({ start, focus: () => (field.focus(), field.select()) });
})();
