"use strict";
// The tree of boxes: contents, expanded boxes, labels and colors.
const Boxes = (() => {
  const data = JSON.parse(document.getElementById("box-data").textContent);
  const { count, duration, memory, percent, short } = Numbers;
  const EXPANDED = { share: 0.3, boxes: 24 }; // initially: least share of the MACs of the layer, most visible boxes
  const all = new Map();
  const open = new Set();
  let by = "kind"; // the quantity of the colors and of the figures in the boxes

  // `times`: occurrences in the model per drawn box, since a repeated layer shows one of its copies.
  function walk(raw, id, parent) {
    const times = parent ? parent.times * (parent.repeats ? parent.count : 1) : 1;
    const box = { ...raw, id, parent, times, depth: parent ? parent.depth + 1 : -1 };
    all.set(id, box);
    box.children = raw.children.map((child, at) => walk(child, parent ? `${id}.${at}` : `b${at}`, box));
    return box;
  }
  const root = walk(data.tree, "model", null);

  const title = (box) => (box.count > 1 ? `${count(box.count)} × ${box.label}` : box.label);
  const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

  // The quantity by which boxes are colored. Shares are of the model, so only top-level boxes have one.
  function measured(box, format, whole) {
    if (!box[by] || !BigInt(box[by])) return [];
    const share = box.depth === 0 ? part(box, by) : null;
    return [format(box[by]), ...(share === null ? [] : [`${percent(share)} of ${whole}`])];
  }

  function costs(box) {
    if (box.family === "port") return [];
    if (by === "params") return measured(box, (params) => `${short(params)} params`, "all");
    if (by === "bytes") return measured(box, memory, "weight bytes");
    if (by === "time") return measured(box, duration, "the time");
    const texts = BigInt(box.params) ? [`${short(box.params)} params`] : [];
    if (box.share && box.depth === 0) texts.push(`${percent(box.share)} of MACs`);
    else if (box.macs && BigInt(box.macs)) texts.push(short(box.macs, "MACs"));
    return texts;
  }

  // The lines of a box: its title, then details.
  function lines(box) {
    const head = isOpen(box) && box.repeats && box.count > 1 ? `one of ${title(box)}` : title(box);
    return [cut(head, 34), cut(box.detail, 40), costs(box).join(" · ")].filter(Boolean);
  }

  const isOpen = (box) => open.has(box.id);
  const canOpen = (box) => box.children.length > 0;

  function toggle(box, whether = !isOpen(box)) {
    if (!canOpen(box)) return false;
    const before = isOpen(box);
    if (whether) open.add(box.id);
    else open.delete(box.id);
    return before !== whether;
  }

  // The boxes on the canvas, parents before children.
  function visible(box = root) {
    return box.children.flatMap((child) => (isOpen(child) ? [child, ...visible(child)] : [child]));
  }

  const part = (box, field) => {
    const [one, whole] = [box[field], root[field]];
    if (one === null || whole === null || !Number(whole)) return null;
    return (Number(one) * box.times) / Number(whole);
  };

  const COLD = [
    [232, 240, 247],
    [9, 94, 156],
  ]; // from 0 to the largest share of a visible box
  const LEGIBLE = 0.78; // above it white text is more legible than black
  function heat(way) {
    const mix = COLD[0].map((from, at) => Math.round(from + (COLD[1][at] - from) * way));
    return { fill: `rgb(${mix})`, border: "#0a4f85", text: way > LEGIBLE ? "#ffffff" : data.text };
  }

  // The largest share of a visible box, the end of the color scale: with 100% as its end most diagrams would be pale.
  function maxShare() {
    const shares = visible().map((box) => (isOpen(box) || box.family === "port" ? 0 : part(box, by) ?? 0));
    return Math.max(0, ...shares);
  }

  // Fill, border and text color by the selected quantity; unknown values are gray.
  function color(box, largest) {
    const [fill, border] = data.colors[box.family] ?? data.colors.other;
    if (by === "kind" || box.family === "port") return { fill, border, text: data.text };
    const share = part(box, by);
    return share === null
      ? { fill: data.colors.other[0], border: data.colors.other[1], text: data.text }
      : heat(largest ? share / largest : 0);
  }

  // The repeated layer with the largest share of the MACs, if there is room to expand it.
  function mainLayer() {
    const repeated = root.children.filter((box) => box.repeats && canOpen(box) && (box.share ?? 0) >= EXPANDED.share);
    const largest = repeated.sort((one, two) => two.share - one.share)[0];
    return largest && root.children.length + largest.children.length <= EXPANDED.boxes ? largest : null;
  }

  const hasKind = (box, kind) => box.kind === kind || box.kind === `${kind}-block`;
  const ancestors = (box) => (box.parent && box.parent.depth >= 0 ? [box.parent, ...ancestors(box.parent)] : []);
  const single = (boxes) => (boxes.length === 1 ? boxes[0] : null);
  const cache = new Map();

  // The box of the nodes of a block ("encoder-layer[3]/attention"); null if its name does not identify one.
  function boxOfBlock(block) {
    if (!cache.has(block)) cache.set(block, block ? findBox(block) : null);
    return cache.get(block);
  }

  function findBox(block) {
    const [, layer, , rest] = /^(?:([^[\]]+)\[(\d+)\])?\/?(.*)$/.exec(block);
    if (layer) {
      const outer = single(root.children.filter((box) => box.kind === layer));
      return outer && (single(outer.children.filter((box) => rest && hasKind(box, rest))) ?? outer);
    }
    const free = (box) => ancestors(box).every((outer) => !Nodes.indexed(outer.kind));
    const one = single([...all.values()].filter((box) => hasKind(box, rest) && !Nodes.indexed(box.kind) && free(box)));
    return one && Nodes.inBlocks((other) => other === block).length <= one.nodes * one.times ? one : null;
  }

  return Object.freeze({
    all,
    root,
    open,
    mainLayer,
    boxOfBlock,
    ancestors,
    maxShare,
    by: () => by,
    measure: (quantity) => (by = quantity),
    title,
    lines,
    isOpen,
    canOpen,
    toggle,
    visible,
    part,
    color,
    colors: data.colors,
  });
})();
