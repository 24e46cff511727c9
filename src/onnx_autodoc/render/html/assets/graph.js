"use strict";
// The drawing, the tree and the panel as one. It is made when a reader comes near: the page does not wait for it.
const Graph = (() => {
  const byId = (id) => document.getElementById(id);
  const { cell, count, duration, memory, percent, short } = Numbers;
  const MOST = 8; // nodes listed in the panel
  const NAMES = { port: "input, output", normal: "norm, activation, sum", layer: "layer, stage" };
  const MEASURES = { macs: "MACs", params: "parameters", bytes: "weight bytes", time: "measured time" };
  const colour = byId("graph-colour");
  const panel = byId("graph-panel");
  let alive = false;

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

  // The rows of a box's nodes, and words by which the table finds them; null where their blocks do not tell.
  function asked(box) {
    const holds = (other) => other !== null && (other === box || Boxes.within(other).includes(box));
    const places = Nodes.inBlocks((block) => holds(Boxes.holder(block)));
    const own = box.kind.replace(/-block$/, "");
    const outer = box.depth > 0 ? `${box.parent.kind}[ ]/${own}` : Nodes.indexed(own) ? `${own}[` : own;
    return places.length ? { places, text: outer } : null;
  }

  function nodesOf(box) {
    const found = asked(box);
    if (!found) return [];
    const list = make("ul");
    found.places.slice(0, MOST).forEach((at) => {
      const link = make("a", Nodes.name(at));
      link.href = `#node-${at}`;
      const line = make("li");
      line.append(link, make("small", ` ${Nodes.op(at)}`));
      list.append(line);
    });
    const show = () => (NodeTable.show(found.text), byId("nodes").scrollIntoView());
    const all = found.places.length > MOST ? [button(`All ${count(found.places.length)} in the table`, show)] : [];
    return [make("h4", box.times * box.count > 1 ? "Nodes in all of them" : "Nodes in it"), list, ...all];
  }

  function facts(box) {
    const list = make("dl");
    const add = (label, text) => list.append(make("dt", label), make("dd", text));
    if (box.detail) add("What", box.detail);
    add("Kind", box.kind);
    if (box.family === "port") return list;
    add("Parameters", short(box.params));
    add("Weights", memory(box.bytes));
    add("MACs", cell(box.macs, short));
    const part = Boxes.part(box, "macs");
    if (part !== null) add("Share of MACs", percent(part) + (box.times > 1 ? " together" : ""));
    if (box.time) add("Measured time", duration(box.time));
    if (box.nodes) add("Nodes", count(box.nodes));
    return list;
  }

  // Whose numbers these are, where there are several alike.
  function whose(box) {
    if (box.times > 1) return [make("p", `Numbers of one; the model has ${count(box.times * box.count)} of it.`)];
    return box.count > 1 ? [make("p", `Numbers of all ${count(box.count)} together.`)] : [];
  }

  function choose(box) {
    Canvas.mark(box.id);
    Canvas.reveal(box.id);
    Tree.choose(box.id);
    const parts = [make("h4", Boxes.title(box)), ...whose(box), facts(box)];
    if (Boxes.canOpen(box))
      parts.push(button(Boxes.isOpen(box) ? "Fold it" : "Open it", () => (toggle(box), choose(box))));
    panel.replaceChildren(...parts, ...(box.family === "port" ? [] : nodesOf(box)));
    panel.scrollTop = 0;
  }

  function toggle(box, whether) {
    if (!Boxes.toggle(box, whether)) return;
    Canvas.draw(box.id);
    told();
    Tree.go(box.id, false);
  }

  // What hangs on which boxes are in sight.
  function told() {
    Tree.draw();
    legend();
    byId("graph-fold").disabled = Boxes.open.size === 0;
  }

  function ramp() {
    const bar = make("span");
    bar.className = "ramp";
    if (!Boxes.top()) return [`No box in sight has ${MEASURES[Boxes.by()]} that are known.`];
    return ["none", bar, `${percent(Boxes.top())} of the model’s ${MEASURES[Boxes.by()]}, the most of a box in sight`];
  }

  function legend() {
    const place = byId("graph-legend");
    if (Boxes.by() !== "kind") return place.replaceChildren(...ramp());
    const seen = new Set(Boxes.drawn().map((box) => box.family));
    const used = Object.keys(Boxes.colours).filter((name) => seen.has(name));
    return place.replaceChildren(
      ...used.map((name) => {
        const spot = make("i");
        spot.style.backgroundColor = Boxes.colours[name][0];
        spot.style.borderColor = Boxes.colours[name][1];
        const text = make("span", NAMES[name] ?? name);
        text.prepend(spot);
        return text;
      }),
    );
  }

  function redraw() {
    Boxes.measure(colour.value);
    Canvas.draw();
    told();
  }

  function controls() {
    ["graph-colour", "graph-out", "graph-in", "graph-fit"].forEach((id) => (byId(id).disabled = false));
    colour.addEventListener("change", redraw);
    byId("graph-in").addEventListener("click", () => Canvas.zoom(1.25));
    byId("graph-out").addEventListener("click", () => Canvas.zoom(1 / 1.25));
    byId("graph-fit").addEventListener("click", Canvas.fit);
    byId("graph-fold").addEventListener("click", () => (Boxes.open.clear(), redraw()));
  }

  // With the layer open that does most of the work, if it can still be read then.
  function first() {
    const layer = Boxes.telling();
    if (layer) Boxes.toggle(layer, true);
    Canvas.draw();
    if (!layer || Canvas.legible()) return;
    Boxes.toggle(layer, false);
    Canvas.draw();
  }

  function start() {
    if (alive) return;
    alive = true;
    const container = byId("graph-canvas");
    const stage = make("div");
    stage.className = "live";
    stage.setAttribute("aria-hidden", "true"); // the tree says the same
    container.append(stage);
    Canvas.start(stage, (id) => {
      const box = Boxes.all.get(id);
      toggle(box);
      Tree.go(id, false);
      choose(box);
    });
    first();
    Tree.start({ choose, toggle });
    controls();
    told();
    container.classList.add("alive");
    performance.mark("drawn");
  }

  // From elsewhere on the page: the box in sight, everything open that holds it.
  function show(box) {
    start();
    const shut = Boxes.within(box).filter((outer) => Boxes.toggle(outer, true));
    if (shut.length) (Canvas.draw(box.id), told());
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
