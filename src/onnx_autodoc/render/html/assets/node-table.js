"use strict";
// All nodes of the model: filtered, sorted and paged. A click on a name shows its details.
const NodeTable = (() => {
  const PAGE = 100; // rows in the document at once
  const { cell, count, memory, short } = Numbers;
  const place = document.getElementById("node-table");
  const filter = document.getElementById("node-filter");
  const counter = document.getElementById("node-count");
  const pages = document.getElementById("node-pages");
  const shape = (at) =>
    Nodes.outputs(at)
      .map((output) => output.shape)
      .join(", ");
  const COLUMNS = [
    { title: "Node", key: Nodes.name, format: null },
    { title: "Operator", key: Nodes.op, format: (at) => Nodes.op(at) },
    {
      title: "Output",
      key: shape,
      format: (at) => (shape(at).length > 60 ? shape(at).slice(0, 59) + "…" : shape(at)),
    },
    {
      title: "Parameters",
      number: true,
      key: (at) => Nodes.data.params[at],
      format: (at) => cell(Nodes.data.params[at], short),
    },
    { title: "MACs", number: true, key: (at) => Nodes.data.macs[at], format: (at) => cell(Nodes.data.macs[at], short) },
    { title: "Bytes moved", number: true, key: Nodes.moved, format: (at) => cell(Nodes.moved(at), memory) },
    { title: "Block", key: Nodes.block, format: (at) => Nodes.block(at) ?? "" },
  ];
  let body = null;
  let order = null; // [column, direction] or null: file order
  let shown = []; // indices of the matching nodes, in order
  let first = 0;
  let opened = -1;

  function make(tag, text, name) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    return made;
  }

  // Allows line breaks after each part of a path.
  function broken(element, text) {
    element.append(...text.split(/(?<=[/.])/).flatMap((part) => [part, make("wbr")]));
    return element;
  }

  function compare(one, two) {
    if (one === null || two === null) return one === two ? 0 : one === null ? Infinity : -Infinity;
    if (typeof one === "string" && typeof two === "string") return one.localeCompare(two, "en", { numeric: true });
    return one < two ? -1 : one > two ? 1 : 0;
  }

  const exact = (value) => (typeof value === "string" && /^\d+$/.test(value) ? BigInt(value) : value);

  // Infinity stands for "unknown", which comes last in both directions.
  function sorted(places) {
    if (!order) return places;
    const [column, direction] = order;
    const { key, number } = COLUMNS[column];
    const keys = new Map(places.map((at) => [at, number ? exact(key(at)) : key(at)]));
    return [...places].sort((a, b) => {
      const way = compare(keys.get(a), keys.get(b));
      return Math.abs(way) === Infinity ? way : direction * way || a - b;
    });
  }

  function detail(at) {
    const row = Nodes.row(at);
    const list = make("dl", undefined, "detail");
    const add = (label, text) => list.append(make("dt", label), make("dd", text));
    add("Operator", row.op);
    row.outputs.forEach((output) => add("Output", `${output.name}: ${output.dtype}, ${output.shape}`));
    add("Parameters", count(row.params));
    add("MACs", cell(row.macs, count));
    add("FLOPs", cell(row.flops, count));
    add("Bytes read", cell(row.read, count));
    add("Bytes written", cell(row.written, count));
    add("Block", row.block ?? "none");
    const box = typeof Boxes === "undefined" ? null : Boxes.boxOfBlock(row.block); // a page may have no diagram
    if (row.gap) add("Unknown", row.gap);
    const line = make("tr", undefined, "more");
    const wide = make("td");
    wide.colSpan = COLUMNS.length;
    wide.append(list, ...(box ? [drawn(box)] : []));
    line.append(wide);
    return line;
  }

  function drawn(box) {
    const button = make("button", `Show “${Boxes.title(box)}” in the diagram`, "to-box");
    button.type = "button";
    button.addEventListener("click", () => Graph.show(box));
    return button;
  }

  function named(at) {
    const button = broken(make("button", undefined, "link"), Nodes.name(at));
    button.type = "button";
    button.setAttribute("aria-expanded", String(at === opened));
    button.addEventListener("click", () => {
      opened = at === opened ? -1 : at;
      draw();
      document.getElementById(`node-${at}`)?.querySelector("button").focus({ preventScroll: true });
    });
    return button;
  }

  function line(at) {
    const row = make("tr");
    row.id = `node-${at}`;
    COLUMNS.forEach(({ title, format, number }) => {
      const text = format ? format(at) : undefined;
      const none = /^0( bytes)?$/.test(text) ? " none" : "";
      const made = make("td", title === "Block" ? undefined : text, number ? `number${none}` : "");
      if (!format) made.append(named(at));
      if (title === "Block") broken(made, text);
      row.append(made);
    });
    return row;
  }

  function draw() {
    const rows = shown
      .slice(first, first + PAGE)
      .flatMap((at) => (at === opened ? [line(at), detail(at)] : [line(at)]));
    body.replaceChildren(...rows);
    const text = shown.length === Nodes.size ? "" : `${count(shown.length)} of ${count(Nodes.size)} nodes`;
    counter.textContent = shown.length ? text : "No matching nodes";
    paged();
  }

  function paged() {
    const last = Math.min(first + PAGE, shown.length);
    const step = (label, to, off) => {
      const button = make("button", label);
      button.type = "button";
      button.disabled = off;
      button.addEventListener("click", () => ((first = to), draw(), place.scrollIntoView({ block: "start" })));
      return button;
    };
    const range = make("span", shown.length ? `${count(first + 1)}–${count(last)} of ${count(shown.length)}` : "");
    const steps = [
      step("Previous", first - PAGE, first === 0),
      range,
      step("Next", first + PAGE, last >= shown.length),
    ];
    pages.replaceChildren(...(shown.length > PAGE ? steps : []));
  }

  function show(text) {
    if (filter.value !== text) filter.value = text;
    shown = sorted(Nodes.search(text));
    first = 0;
    draw();
  }

  // Shows the row of one node with its details; clears the filter if it hides the node.
  function reveal(at) {
    if (!shown.includes(at)) show("");
    first = Math.floor(shown.indexOf(at) / PAGE) * PAGE;
    opened = at;
    draw();
    const row = document.getElementById(`node-${at}`);
    row.scrollIntoView({ block: "center" });
    row.querySelector("button").focus({ preventScroll: true });
  }

  function frame() {
    const table = make("table");
    const heads = COLUMNS.map(({ title, number }) => {
      const header = make("th", title, number ? "number" : "");
      header.scope = "col";
      return header;
    });
    heads.forEach((each, column) => {
      Tables.head(each, heads, (way) => {
        order = way === "none" ? null : [column, way === "ascending" ? 1 : -1];
        show(filter.value);
      });
    });
    const top = table.createTHead().insertRow();
    top.append(...heads);
    body = table.createTBody();
    return table;
  }

  function start() {
    place.replaceChildren(frame());
    filter.disabled = false;
    let waiting = 0;
    filter.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => show(filter.value), 60);
    });
    shown = Array.from({ length: Nodes.size }, (_, at) => at);
    draw();
  }

  return Object.freeze({ start, show, reveal });
})();
