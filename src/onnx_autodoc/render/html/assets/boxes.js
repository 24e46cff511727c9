"use strict";
// The tree of boxes: what is in it, what is open, what each of them says.
const Boxes = (() => {
  const data = JSON.parse(document.getElementById("box-data").textContent);
  const { count, duration, memory, percent, short } = Numbers;
  const OPENED = { share: 0.3, most: 24 }; // what a repeated layer must have of the work, boxes then in sight
  const all = new Map();
  const open = new Set();
  let by = "kind"; // what colours tell, and the numbers in the boxes

  // `times`: how many of it the model has for each one drawn, since a repeated layer shows one of its many.
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

  // Of a measure by which boxes are coloured. Shares are of the model, so only its own boxes have one.
  function measured(box, say, what) {
    if (!box[by] || !BigInt(box[by])) return [];
    const share = box.depth === 0 ? part(box, by) : null;
    return [say(box[by]), ...(share === null ? [] : [`${percent(share)} of ${what}`])];
  }

  function costs(box) {
    if (box.family === "port") return [];
    if (by === "params") return measured(box, (params) => `${short(params)} params`, "all");
    if (by === "bytes") return measured(box, memory, "weight bytes");
    if (by === "time") return measured(box, duration, "the time");
    const found = BigInt(box.params) ? [`${short(box.params)} params`] : [];
    if (box.share && box.depth === 0) found.push(`${percent(box.share)} of MACs`);
    else if (box.macs && BigInt(box.macs)) found.push(short(box.macs, "MACs"));
    return found;
  }

  // What stands in a box: its title, then finer print.
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

  // Those on the canvas, parents before what they hold.
  function drawn(box = root) {
    return box.children.flatMap((child) => (isOpen(child) ? [child, ...drawn(child)] : [child]));
  }

  const part = (box, field) => {
    const [one, whole] = [box[field], root[field]];
    if (one === null || whole === null || !Number(whole)) return null;
    return (Number(one) * box.times) / Number(whole);
  };

  const COLD = [
    [232, 240, 247],
    [9, 94, 156],
  ]; // from nothing to the most that a box in sight has
  const LEGIBLE = 0.78; // beyond it white reads better than black
  function heat(way) {
    const mix = COLD[0].map((from, at) => Math.round(from + (COLD[1][at] - from) * way));
    return { fill: `rgb(${mix})`, border: "#0a4f85", text: way > LEGIBLE ? "#ffffff" : data.text };
  }

  // The largest share of a box in sight: colours reach from none to it, else most drawings were pale.
  function top() {
    const shares = drawn().map((box) => (isOpen(box) || box.family === "port" ? 0 : part(box, by) ?? 0));
    return Math.max(0, ...shares);
  }

  // Fill, border and text by what was asked for; what is unknown is grey.
  function colour(box, most) {
    const [fill, border] = data.colours[box.family] ?? data.colours.other;
    if (by === "kind" || box.family === "port") return { fill, border, text: data.text };
    const share = part(box, by);
    return share === null
      ? { fill: data.colours.other[0], border: data.colours.other[1], text: data.text }
      : heat(most ? share / most : 0);
  }

  // The repeated layer that does most of the work is what one wants to see inside, where there is room for it.
  function telling() {
    const repeated = root.children.filter((box) => box.repeats && canOpen(box) && (box.share ?? 0) >= OPENED.share);
    const found = repeated.sort((one, two) => two.share - one.share)[0];
    return found && root.children.length + found.children.length <= OPENED.most ? found : null;
  }

  const kinds = (box, kind) => box.kind === kind || box.kind === `${kind}-block`;
  const within = (box) => (box.parent && box.parent.depth >= 0 ? [box.parent, ...within(box.parent)] : []);
  const only = (found) => (found.length === 1 ? found[0] : null);
  const cache = new Map();

  // The box that holds the nodes of a block ("encoder-layer[3]/attention"), where its words tell; else null.
  function holder(block) {
    if (!cache.has(block)) cache.set(block, block ? found(block) : null);
    return cache.get(block);
  }

  function found(block) {
    const [, layer, , rest] = /^(?:([^[\]]+)\[(\d+)\])?\/?(.*)$/.exec(block);
    if (layer) {
      const outer = only(root.children.filter((box) => box.kind === layer));
      return outer && (only(outer.children.filter((box) => rest && kinds(box, rest))) ?? outer);
    }
    const free = (box) => within(box).every((outer) => !Nodes.indexed(outer.kind));
    const one = only([...all.values()].filter((box) => kinds(box, rest) && !Nodes.indexed(box.kind) && free(box)));
    return one && Nodes.inBlocks((other) => other === block).length <= one.nodes * one.times ? one : null;
  }

  return Object.freeze({
    all,
    root,
    open,
    telling,
    holder,
    within,
    top,
    by: () => by,
    measure: (asked) => (by = asked),
    title,
    lines,
    isOpen,
    canOpen,
    toggle,
    drawn,
    part,
    colour,
    colours: data.colours,
  });
})();
