"use strict";
// Positions of boxes: dagre lays out each level, an expanded box is as large as its contents. A long diagram continues
// in a second column, since screens are wider than high.
const Layout = (() => {
  const { dagre } = Vendor;
  const GAP = 44; // between columns, for lines
  const LANE = [16, 9]; // from boxes to the first line beside them, and between such lines
  const MAX_COLUMNS = 4;
  const GAIN = 1.1; // factor of the scale that justifies another column
  const FRAME = { side: 16, top: 48, bottom: 16 }; // around the contents of an expanded box
  const LINE = [18, 15]; // heights of the title and of a detail line
  const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
  const pen = document.createElement("canvas").getContext("2d");

  function wide(text, font) {
    pen.font = `${font} ${FONT}`;
    return pen.measureText(text).width;
  }

  function sizeOf(box) {
    const lines = Boxes.lines(box);
    const widths = lines.map((line, at) => wide(line, at ? "11px" : "600 13px"));
    const height = LINE[0] + LINE[1] * (lines.length - 1) + 14;
    return { width: Math.max(96, Math.ceil(Math.max(...widths)) + 28), height };
  }

  // All boxes of a level and of its expanded boxes, relative to the upper left corner of the level.
  function level(box) {
    const graph = new dagre.Graph({ multigraph: true });
    graph.setGraph({ rankdir: "TB", nodesep: 22, ranksep: 30, edgesep: 14 });
    const inner = box.children.map((child) => (Boxes.isOpen(child) ? level(child) : null));
    inner.forEach((inside, at) =>
      graph.setNode(String(at), inside ? framed(box.children[at], inside) : sizeOf(box.children[at])),
    );
    // Skip connections are not laid out by dagre, so that the main path stays straight.
    box.edges.forEach(([from, to, , skip], at) => skip || graph.setEdge(String(from), String(to), {}, String(at)));
    dagre.layout(graph);
    return gathered(box, graph, inner);
  }

  // The size of an expanded box, with room for its title.
  function framed(box, { width, height }) {
    const [title, ...fine] = Boxes.lines(box);
    const words = Math.max(wide(title, "600 13px"), wide(fine.join(" · "), "11px")) + 2 * FRAME.side;
    return { width: Math.max(words, width + 2 * FRAME.side), height: height + FRAME.top + FRAME.bottom };
  }

  function gathered(box, graph, inner) {
    const places = box.children.map((child, at) => {
      const { x, y, width, height } = graph.node(String(at));
      return { box: child, x, y, width, height, inside: inner[at] };
    });
    const lanes = [];
    const lines = box.edges.map(([from, to, flow, skip], at) => {
      const points = skip
        ? beside(places, places[from], places[to], lanes)
        : graph.edge(String(from), String(to), String(at)).points.slice(1, -1);
      return { from, to, flow, skip, points };
    });
    const made = { places, lines };
    return Object.assign(made, bounds(made));
  }

  // Along the nearer side of the boxes in between; parallel lines keep a distance.
  function beside(places, from, to, lanes) {
    const [top, bottom] = [from.y + from.height / 2, to.y - to.height / 2];
    const between = places.filter((one) => one.y > top && one.y < bottom);
    const left = Math.min(from.x, ...between.map((one) => one.x - one.width / 2));
    const right = Math.max(from.x, ...between.map((one) => one.x + one.width / 2));
    const side = from.x - left + Math.abs(to.x - left) <= right - from.x + Math.abs(right - to.x) ? -1 : 1;
    const taken = lanes.filter((lane) => lane.side === side && lane.top < bottom && lane.bottom > top).length;
    lanes.push({ side, top, bottom });
    const x = (side < 0 ? left : right) + side * (LANE[0] + LANE[1] * taken);
    return [
      { x, y: top + 12 },
      { x, y: bottom - 12 },
    ];
  }

  function bounds({ places, lines }) {
    const xs = [...places.flatMap((one) => [one.x - one.width / 2, one.x + one.width / 2])];
    lines.forEach((line) => line.points.forEach((point) => xs.push(point.x)));
    const ys = places.flatMap((one) => [one.y - one.height / 2, one.y + one.height / 2]);
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    const shift = (point) => ((point.x -= left), (point.y -= top));
    places.forEach(shift);
    lines.forEach((line) => line.points.forEach(shift));
    return { width: Math.max(...xs) - left, height: Math.max(...ys) - top };
  }

  // Rows of boxes from the top: boxes that overlap vertically share a row.
  function rows(places) {
    const found = [];
    [...places]
      .sort((a, b) => a.y - a.height / 2 - (b.y - b.height / 2))
      .forEach((one) => {
        const last = found.at(-1);
        const top = one.y - one.height / 2;
        if (last && top < last.bottom)
          ((last.bottom = Math.max(last.bottom, one.y + one.height / 2)), last.places.push(one));
        else found.push({ top, bottom: one.y + one.height / 2, places: [one] });
      });
    return found;
  }

  // Splits into columns of about equal height, between rows.
  function columns(made, all, wanted) {
    const high = made.height / wanted;
    const found = [[]];
    all.forEach((row) => {
      const first = found.at(-1)[0];
      if (first && row.bottom - first.top > high * 1.08 && found.length < wanted) found.push([row]);
      else found.at(-1).push(row);
    });
    return found;
  }

  function widthOf(column) {
    const xs = column.flatMap((row) => row.places).flatMap((one) => [one.x - one.width / 2, one.x + one.width / 2]);
    return Math.max(...xs) - Math.min(...xs);
  }

  // The scale at which a diagram in these columns fits into the canvas.
  function scale(cut, room) {
    const wide = cut.reduce((sum, column) => sum + widthOf(column) + GAP, -GAP);
    const high = Math.max(...cut.map((column) => column.at(-1).bottom - column[0].top)) + (cut.length > 1 ? GAP : 0);
    return Math.min(1, room.width / wide, room.height / high);
  }

  // The fewest columns with about the best scale.
  function best(made, room) {
    const all = rows(made.places);
    let found = [all];
    for (let wanted = 2; wanted <= MAX_COLUMNS && all.length > 5; wanted++) {
      const other = columns(made, all, wanted);
      if (scale(other, room) > GAIN * scale(found, room)) found = other;
    }
    return found;
  }

  function wrap(made, room) {
    const cut = best(made, room);
    if (cut.length === 1) return made;
    const where = new Map(); // box -> its column
    cut.forEach((column, at) => column.forEach((row) => row.places.forEach((one) => where.set(one.box, at))));
    const at = (place) => where.get(made.places[place].box);
    const inside = made.lines.map((line) => (at(line.from) === at(line.to) ? at(line.from) : null));
    let left = 0;
    const gutters = cut.map((column, index) => {
      const own = made.lines.filter((_, i) => inside[i] === index).flatMap((line) => line.points);
      const boxes = column.flatMap((row) => row.places);
      const xs = [
        ...boxes.flatMap((one) => [one.x - one.width / 2, one.x + one.width / 2]),
        ...own.map((point) => point.x),
      ];
      const [dx, dy] = [left - Math.min(...xs), -column[0].top];
      [...boxes, ...own].forEach((one) => ((one.x += dx), (one.y += dy)));
      left += Math.max(...xs) - Math.min(...xs) + GAP;
      return left - GAP / 2;
    });
    made.lines.forEach((line, i) => inside[i] === null && (line.points = around(made, line, at, gutters, i)));
    return made;
  }

  // From one column to another: out below the box, along the gutter, into the target from above.
  function around(made, line, at, gutters, lane) {
    const [from, to] = [made.places[line.from], made.places[line.to]];
    const off = ((lane % 5) - 2) * 4; // parallel lines do not overlap
    const [out, into] = [from.y + from.height / 2 + 16 + off, to.y - to.height / 2 - 16 + off];
    const [near, far] = [gutters[at(line.from)] + off, gutters[at(line.to) - 1] + off];
    const over =
      near === far
        ? []
        : [
            { x: near, y: -22 + off },
            { x: far, y: -22 + off },
          ];
    return [{ x: from.x, y: out }, { x: near, y: out }, ...over, { x: far, y: into }, { x: to.x, y: into }];
  }

  // Absolute positions, for the canvas.
  function flat(made, owner, dx, dy, found) {
    const id = (at) => made.places[at].box.id;
    made.places.forEach((one) => {
      found.boxes.push({ box: one.box, x: one.x + dx, y: one.y + dy, width: one.width, height: one.height });
      if (!one.inside) return;
      const left = one.x + dx - one.inside.width / 2;
      flat(one.inside, one.box, left, one.y + dy - one.height / 2 + FRAME.top, found);
    });
    made.lines.forEach((line) => {
      const points = line.points.map((point) => ({ x: point.x + dx, y: point.y + dy }));
      found.lines.push({
        from: id(line.from),
        to: id(line.to),
        flow: line.flow,
        skip: line.skip,
        points,
        depth: owner.depth + 1,
      });
    });
    return found;
  }

  const arrange = (room) => flat(wrap(level(Boxes.root), room), Boxes.root, 0, 0, { boxes: [], lines: [] });
  return Object.freeze({ arrange, wide, FONT, FRAME });
})();
