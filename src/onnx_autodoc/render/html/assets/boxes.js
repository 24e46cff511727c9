"use strict";
// The tree of boxes: what is in it, what is open, what each of them says.
const Boxes = (() => {
  const data = JSON.parse(document.getElementById("box-data").textContent);
  const { count, percent, short } = Numbers;
  const all = new Map();
  const open = new Set();

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

  // What stands in a box: its title, then finer print. Shares are of the model, so only its own boxes have one.
  function lines(box) {
    const costs = [];
    if (BigInt(box.params)) costs.push(`${short(box.params)} params`);
    if (box.share && box.depth === 0) costs.push(`${percent(box.share)} of MACs`);
    else if (box.macs && BigInt(box.macs)) costs.push(short(box.macs, "MACs"));
    const head = isOpen(box) && box.repeats && box.count > 1 ? `one of ${title(box)}` : title(box);
    return [cut(head, 34), cut(box.detail, 40), costs.join(" · ")].filter(Boolean);
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
  ]; // from nothing to all of it
  function heat(share) {
    const way = Math.sqrt(share);
    const mix = COLD[0].map((from, at) => Math.round(from + (COLD[1][at] - from) * way));
    return { fill: `rgb(${mix})`, border: "#0a4f85", text: way > 0.55 ? "#ffffff" : data.text };
  }

  // Fill, border and text by what was asked for; what is not known is grey.
  function colour(box, by) {
    const [fill, border] = data.colours[box.family] ?? data.colours.other;
    if (by === "kind" || box.family === "port") return { fill, border, text: data.text };
    const share = part(box, by);
    return share === null
      ? { fill: data.colours.other[0], border: data.colours.other[1], text: data.text }
      : heat(share);
  }

  return Object.freeze({
    all,
    root,
    open,
    title,
    lines,
    isOpen,
    canOpen,
    toggle,
    drawn,
    part,
    colour,
    heat,
    colours: data.colours,
  });
})();
