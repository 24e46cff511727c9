"use strict";
// The drawing, the tree and the panel as one. It is made when a reader comes near: the page does not wait for it.
const Graph = (() => {
  const byId = (id) => document.getElementById(id);
  const { cell, count, percent, short } = Numbers;
  const MOST = 8; // nodes listed in the panel
  const colour = byId("graph-colour");
  const panel = byId("graph-panel");

  function make(tag, text) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // Words by which the rows of a box's nodes are found; null where their blocks do not tell.
  function asked(box) {
    const own = box.kind.replace(/-block$/, "");
    const inside = box.parent && box.parent.depth >= 0 ? box.parent.kind : null;
    const fits = inside
      ? (block) => block.startsWith(`${inside}[`) && block.endsWith(`]/${own}`)
      : (block) => block === own || block.startsWith(`${own}[`) || block.startsWith(`${own}/`);
    const places = Nodes.inBlocks(fits);
    return places.length ? { places, text: inside ? `${inside}[ ]/${own}` : own } : null;
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
    const all = make("button", `All ${count(found.places.length)} in the table`);
    all.type = "button";
    all.addEventListener("click", () => (NodeTable.show(found.text), byId("nodes").scrollIntoView()));
    return [make("h4", "Nodes in blocks of this kind"), list, ...(found.places.length > MOST ? [all] : [])];
  }

  function facts(box) {
    const list = make("dl");
    const add = (label, text) => list.append(make("dt", label), make("dd", text));
    const each = box.times > 1 ? " (one of them)" : box.count > 1 ? " (all together)" : "";
    add("Kind", box.kind);
    if (box.detail) add("What", box.detail);
    if (box.count > 1) add("Alike in a row", count(box.count));
    if (box.times > 1) add("In the model", `${count(box.times * box.count)} of it`);
    if (box.family === "port") return list;
    add("Parameters", short(box.params) + each);
    add("MACs", cell(box.macs, (macs) => short(macs, "MACs")) + each);
    const part = Boxes.part(box, "macs");
    if (part !== null) add("Of the model’s MACs", percent(part));
    if (box.nodes) add("Nodes", count(box.nodes) + each);
    return list;
  }

  function choose(box) {
    Canvas.mark(box.id);
    Canvas.reveal(box.id);
    const parts = [make("h3", Boxes.title(box)), facts(box)];
    if (Boxes.canOpen(box)) {
      const button = make("button", Boxes.isOpen(box) ? "Fold it" : "Open it");
      button.type = "button";
      button.addEventListener("click", () => (toggle(box), choose(box)));
      parts.push(button);
    }
    panel.replaceChildren(...parts, ...(box.family === "port" ? [] : nodesOf(box)));
  }

  function toggle(box, whether) {
    if (!Boxes.toggle(box, whether)) return;
    Canvas.draw(colour.value, box.id);
    Tree.draw();
    Tree.go(box.id, false);
    byId("graph-fold").disabled = Boxes.open.size === 0;
  }

  function legend() {
    const place = byId("graph-legend");
    if (colour.value !== "kind") {
      const bar = make("span");
      bar.className = "ramp";
      return place.replaceChildren(
        "0 %",
        bar,
        `100 % of the model’s ${colour.value === "macs" ? "MACs" : "parameters"}`,
      );
    }
    const used = [...new Set(Boxes.drawn().map((box) => box.family))].filter((name) => name !== "other");
    const names = { port: "input, output", normal: "norm, activation, sum", dense: "dense", layer: "layer" };
    return place.replaceChildren(
      ...used.flatMap((name) => {
        const spot = make("i");
        spot.style.backgroundColor = Boxes.colours[name][0];
        spot.style.borderColor = Boxes.colours[name][1];
        const text = make("span", names[name] ?? name);
        text.prepend(spot);
        return [text];
      }),
    );
  }

  function redraw() {
    Canvas.draw(colour.value);
    Tree.draw();
    legend();
  }

  function controls() {
    ["graph-colour", "graph-out", "graph-in", "graph-fit"].forEach((id) => (byId(id).disabled = false));
    colour.addEventListener("change", redraw);
    byId("graph-in").addEventListener("click", () => Canvas.zoom(1.25));
    byId("graph-out").addEventListener("click", () => Canvas.zoom(1 / 1.25));
    byId("graph-fit").addEventListener("click", Canvas.fit);
    byId("graph-fold").addEventListener("click", () => {
      Boxes.open.clear();
      byId("graph-fold").disabled = true;
      redraw();
    });
  }

  function start() {
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
    Canvas.draw(colour.value);
    Tree.start({ choose, toggle });
    controls();
    legend();
    container.classList.add("alive");
    performance.mark("drawn");
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
  return Object.freeze({ places: () => Canvas.places() });
})();
