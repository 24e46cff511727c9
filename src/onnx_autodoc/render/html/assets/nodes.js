"use strict";
// The node rows that html/data.py packs. Rows are unpacked on demand.
const Nodes = (() => {
  const data = JSON.parse(document.getElementById("node-data").textContent);
  const size = data.ops.length;
  const names = [];

  for (let at = 0, last = ""; at < size; at++) {
    last = last.slice(0, data.names[2 * at]) + data.names[2 * at + 1];
    names.push(last);
  }

  const word = (place) => (place === null || place === undefined ? null : data.words[place]);
  const op = (at) => word(data.ops[at]);
  const block = (at) => word(data.blocks[at]);

  function outputs(at) {
    const flat = data.outputs[at];
    const unpacked = [];
    for (let i = 0; i < flat.length; i += 4) {
      const name = names[at].slice(0, flat[i]) + flat[i + 1];
      unpacked.push({ name, dtype: word(flat[i + 2]), shape: word(flat[i + 3]) });
    }
    return unpacked;
  }

  // Bytes read plus written; null if either is unknown.
  function moved(at) {
    const [read, written] = [data.read_bytes[at], data.written_bytes[at]];
    return read === null || written === null ? null : BigInt(read) + BigInt(written);
  }

  const row = (at) => ({
    name: names[at],
    op: op(at),
    block: block(at),
    outputs: outputs(at),
    params: data.params[at],
    macs: data.macs[at],
    flops: data.flops[at],
    read: data.read_bytes[at],
    written: data.written_bytes[at],
    gap: word(data.gaps[at]),
  });

  // Lowercased once, on the first search, to keep the page load fast.
  let lowered = null;
  function texts() {
    lowered ??= names.map((name, at) => `${name}\n${op(at)}\n${block(at) ?? ""}`.toLowerCase());
    return lowered;
  }

  // Indices of the nodes that have every word of the text in their name, operator or block, in file order.
  function search(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = [];
    texts().forEach((one, at) => words.every((word) => one.includes(word)) && matches.push(at));
    return matches;
  }

  // Whether block names contain an index of layers of this kind.
  const kinds = new Set(data.words.flatMap((text) => /^([^[\]]+)\[\d+\]/.exec(text)?.[1] ?? []));
  const indexed = (kind) => kinds.has(kind);

  const inBlocks = (fits) => {
    const places = [];
    const known = new Map();
    for (let at = 0; at < size; at++) {
      const place = data.blocks[at];
      if (place === null) continue;
      if (!known.has(place)) known.set(place, fits(word(place)));
      if (known.get(place)) places.push(at);
    }
    return places;
  };

  const name = (at) => names[at];
  return Object.freeze({ size, name, op, block, outputs, moved, row, search, indexed, inBlocks, data });
})();
