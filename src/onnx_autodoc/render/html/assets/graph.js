"use strict";
// Connects the diagram, the tree and the panel. Created when the reader scrolls near it, to keep the page load fast.
const Graph = (() => {
  const byId = (id) => document.getElementById(id);
  const { cell, count, duration, memory, percent, short } = Numbers;
  const MAX_LISTED_NODES = 8; // in the panel
  const NAMES = { port: "input, output", normal: "norm, activation, sum", layer: "layer, stage" };
  const MEASURES = { macs: "MACs", params: "parameters", bytes: "weight bytes", time: "measured time" };
  const color = byId("graph-color");
  const panel = byId("graph-panel");
  let started = false;

  function make(tag, text) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function button(text, act) {
    const made = make("button", text);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  }

  // The rows of a box's nodes, and the filter text that finds them in the table; null if no block belongs to the box.
  function findNodes(box) {
    const contains = (other) => other !== null && (other === box || Boxes.ancestors(other).includes(box));
    const places = Nodes.inBlocks((block) => contains(Boxes.boxOfBlock(block)));
    const own = box.kind.replace(/-block$/, "");
    const outer = box.depth > 0 ? `${box.parent.kind}[ ]/${own}` : Nodes.indexed(own) ? `${own}[` : own;
    return places.length ? { places, text: outer } : null;
  }

  function nodeList(box) {
    const nodes = findNodes(box);
    if (!nodes) return [];
    const list = make("ul");
    nodes.places.slice(0, MAX_LISTED_NODES).forEach((at) => {
      const link = make("a", Nodes.name(at));
      link.href = `#node-${at}`;
      const line = make("li");
      line.append(link, make("small", ` ${Nodes.op(at)}`));
      list.append(line);
    });
    const show = () => (NodeTable.show(nodes.text), byId("nodes").scrollIntoView());
    const total = nodes.places.length;
    const all = total > MAX_LISTED_NODES ? [button(`All ${count(total)} in the table`, show)] : [];
    return [make("h4", box.times * box.count > 1 ? "Nodes of all copies" : "Nodes"), list, ...all];
  }

  function facts(box) {
    const list = make("dl");
    const add = (label, text) => list.append(make("dt", label), make("dd", text));
    if (box.detail) add("Details", box.detail);
    add("Kind", box.kind);
    if (box.family === "port") return list;
    add("Parameters", short(box.params));
    add("Weights", memory(box.bytes));
    add("MACs", cell(box.macs, short));
    const part = Boxes.part(box, "macs");
    if (part !== null) add("Share of MACs", percent(part) + (box.times > 1 ? " (all copies)" : ""));
    if (box.time) add("Measured time", duration(box.time));
    if (box.nodes) add("Nodes", count(box.nodes));
    return list;
  }

  // The scope of the figures of a box that occurs several times.
  function scopeNote(box) {
    if (box.times > 1) return [make("p", `Figures of one of ${count(box.times * box.count)} identical boxes.`)];
    return box.count > 1 ? [make("p", `Figures of all ${count(box.count)} boxes together.`)] : [];
  }

  function choose(box) {
    Canvas.mark(box.id);
    Canvas.reveal(box.id);
    Tree.choose(box.id);
    const parts = [make("h4", Boxes.title(box)), ...scopeNote(box), facts(box)];
    if (Boxes.canOpen(box))
      parts.push(button(Boxes.isOpen(box) ? "Collapse" : "Expand", () => (toggle(box), choose(box))));
    panel.replaceChildren(...parts, ...(box.family === "port" ? [] : nodeList(box)));
    panel.scrollTop = 0;
  }

  function toggle(box, whether) {
    if (!Boxes.toggle(box, whether)) return;
    Canvas.draw(box.id);
    refresh();
    Tree.go(box.id, false);
  }

  // Updates what depends on the visible boxes.
  function refresh() {
    Tree.draw();
    legend();
    byId("graph-fold").disabled = Boxes.open.size === 0;
  }

  function ramp() {
    const bar = make("span");
    bar.className = "ramp";
    if (!Boxes.maxShare()) return [`No visible box has known ${MEASURES[Boxes.by()]}.`];
    const whole = `the model’s ${MEASURES[Boxes.by()]}`;
    return ["0%", bar, `${percent(Boxes.maxShare())} of ${whole} (maximum of the visible boxes)`];
  }

  function legend() {
    const place = byId("graph-legend");
    if (Boxes.by() !== "kind") return place.replaceChildren(...ramp());
    const seen = new Set(Boxes.visible().map((box) => box.family));
    const used = Object.keys(Boxes.colors).filter((name) => seen.has(name));
    return place.replaceChildren(
      ...used.map((name) => {
        const spot = make("i");
        spot.style.backgroundColor = Boxes.colors[name][0];
        spot.style.borderColor = Boxes.colors[name][1];
        const text = make("span", NAMES[name] ?? name);
        text.prepend(spot);
        return text;
      }),
    );
  }

  function redraw() {
    Boxes.measure(color.value);
    Canvas.draw();
    refresh();
  }

  function controls() {
    ["graph-color", "graph-out", "graph-in", "graph-fit"].forEach((id) => (byId(id).disabled = false));
    color.addEventListener("change", redraw);
    byId("graph-in").addEventListener("click", () => Canvas.zoom(1.25));
    byId("graph-out").addEventListener("click", () => Canvas.zoom(1 / 1.25));
    byId("graph-fit").addEventListener("click", Canvas.fit);
    byId("graph-fold").addEventListener("click", () => (Boxes.open.clear(), redraw()));
  }

  // Draws with the main layer expanded, if the diagram stays legible.
  function drawFirst() {
    const layer = Boxes.mainLayer();
    if (layer) Boxes.toggle(layer, true);
    Canvas.draw();
    if (!layer || Canvas.legible()) return;
    Boxes.toggle(layer, false);
    Canvas.draw();
  }

  function start() {
    if (started) return;
    started = true;
    const container = byId("graph-canvas");
    const stage = make("div");
    stage.className = "live";
    stage.setAttribute("aria-hidden", "true"); // the tree has the same content
    container.append(stage);
    Canvas.start(stage, (id) => {
      const box = Boxes.all.get(id);
      toggle(box);
      Tree.go(id, false);
      choose(box);
    });
    drawFirst();
    Tree.start({ choose, toggle });
    controls();
    refresh();
    container.classList.add("interactive");
    performance.mark("drawn");
  }

  // Shows a box from elsewhere on the page: expands its ancestors and scrolls to it.
  function show(box) {
    start();
    const expanded = Boxes.ancestors(box).filter((outer) => Boxes.toggle(outer, true));
    if (expanded.length) (Canvas.draw(box.id), refresh());
    Tree.go(box.id, false);
    choose(box);
    byId("graph").scrollIntoView();
  }

  const watch = new IntersectionObserver(
    (changes) => {
      if (!changes.some((change) => change.isIntersecting)) return;
      watch.disconnect();
      start();
    },
    { rootMargin: "400px" },
  );
  watch.observe(byId("graph"));
  return Object.freeze({ places: () => Canvas.places(), show });
})();
