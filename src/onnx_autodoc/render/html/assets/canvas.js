"use strict";
// The diagram on its canvas: draws boxes and reports clicks. The tree next to it is the accessible equivalent.
const Canvas = (() => {
  const MIN_ZOOM = 0.58; // below it text is illegible
  const READABLE_ZOOM = 0.72;
  const MARGIN = 18;
  let cy = null;
  let chosen = null;

  const ink = () =>
    Theme.isDark()
      ? { line: "#8b98a5", skip: "#b392f0", frame: "#e6edf3" }
      : { line: "#6b7280", skip: "#6d28d9", frame: "#111827" };

  function style() {
    const { line, skip, frame } = ink();
    const font = { "font-family": Layout.FONT, "text-valign": "center", "text-halign": "center" };
    const z = { "z-index-compare": "manual", "z-index": "data(z)" };
    return [
      {
        selector: "node",
        style: { ...font, ...z, shape: "round-rectangle", width: "data(width)", height: "data(height)" },
      },
      {
        selector: ".box",
        style: {
          "background-color": "data(fill)",
          "border-color": "data(border)",
          "border-width": 1.2,
          label: "data(title)",
          color: "data(text)",
          "font-size": 13,
          "font-weight": 600,
          "text-margin-y": "data(up)",
        },
      },
      { selector: ".port", style: { shape: "round-rectangle", "corner-radius": 18 } },
      { selector: ".many", style: { "border-style": "double", "border-width": 4 } },
      {
        selector: ".fine",
        style: {
          "background-opacity": 0,
          label: "data(title)",
          color: "data(text)",
          "font-size": 11,
          "text-wrap": "wrap",
          "line-height": 1.36,
          "text-margin-y": "data(up)",
          events: "no",
        },
      },
      {
        selector: ".frame",
        style: {
          "background-color": "data(border)",
          "background-opacity": 0.08,
          "border-width": 1.5,
          "border-style": "dashed",
          color: frame,
        },
      },
      { selector: ".frame-text", style: { color: frame, "text-opacity": 0.8 } },
      { selector: ".chosen", style: { "outline-color": "#d97706", "outline-width": 3, "outline-offset": 2 } },
      {
        selector: "edge",
        style: {
          ...z,
          width: 1.4,
          "line-color": line,
          "target-arrow-color": line,
          "target-arrow-shape": "triangle",
          "arrow-scale": 0.9,
          "source-endpoint": "0 50%",
          "target-endpoint": "0 -50%",
          "edge-distances": "endpoints",
          "font-family": Layout.FONT,
        },
      },
      { selector: ".straight", style: { "curve-style": "straight" } },
      {
        selector: ".curved",
        style: {
          "curve-style": "unbundled-bezier",
          "control-point-distances": "data(distances)",
          "control-point-weights": "data(weights)",
        },
      },
      {
        selector: ".bent",
        style: {
          "curve-style": "round-segments",
          "segment-distances": "data(distances)",
          "segment-weights": "data(weights)",
          "segment-radii": 12,
        },
      },
      { selector: ".skip", style: { "line-style": "dashed", "line-color": skip, "target-arrow-color": skip } },
      {
        selector: ".near",
        style: {
          width: 2.4,
          label: "data(flow)",
          "font-size": 10,
          color: frame,
          "text-background-color": Theme.isDark() ? "#161c24" : "#ffffff",
          "text-background-opacity": 0.9,
          "text-background-padding": 2,
          "text-margin-x": "data(shift)",
        },
      },
    ];
  }

  // A box is two nodes: the box with its title, and above it the details, which do not react to clicks.
  function boxed({ box, x, y, width, height }, top) {
    const open = Boxes.isOpen(box);
    const [title, ...fine] = Boxes.lines(box);
    const color = Boxes.color(box, top);
    const z = 10 * box.depth;
    const kinds = [
      "box",
      box.family === "port" ? "port" : "",
      box.count > 1 && !open ? "many" : "",
      open ? "frame" : "",
    ];
    const up = open ? 16 - height / 2 : -7.5 * fine.length;
    const main = {
      data: { id: box.id, title, width, height, z: z + (open ? 0 : 3), up, ...color },
      classes: kinds.filter(Boolean),
      position: { x, y },
    };
    const small = {
      data: {
        id: `${box.id} `,
        title: fine.join("\n"),
        width,
        height,
        z: z + (open ? 1 : 4),
        up: open ? 32 - height / 2 : 9,
        text: color.text,
      },
      classes: ["fine", open ? "frame-text" : ""].filter(Boolean),
      position: { x, y },
    };
    if (open) small.data.title = fine.join(" · ");
    return fine.length ? [main, small] : [main];
  }

  // Points of a line in the form of cytoscape: weight along the straight line, distance from it.
  function bends(points, from, to) {
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    const length = Math.hypot(dx, dy) || 1;
    const weights = points.map((point) => ((point.x - from.x) * dx + (point.y - from.y) * dy) / length ** 2);
    const distances = points.map((point) => ((point.y - from.y) * dx - (point.x - from.x) * dy) / length);
    return { weights, distances };
  }

  // Vertical out of a box and into the next one.
  function upright(points, from, to) {
    const [first, last] = [points[0], points.at(-1)];
    const out = Math.abs(first.x - from.x) > 4 ? [{ x: from.x, y: first.y }] : [];
    return [...out, ...points, ...(Math.abs(last.x - to.x) > 4 ? [{ x: to.x, y: last.y }] : [])];
  }

  // From the middle of the lower edge to the middle of the upper one: straight, curved, or along the points.
  function lined(line, at, places) {
    const [source, target] = [places.get(line.from), places.get(line.to)];
    const from = { x: source.x, y: source.y + source.height / 2 };
    const to = { x: target.x, y: target.y - target.height / 2 };
    const straight = Math.abs(from.x - to.x) < 2 && line.points.every((point) => Math.abs(point.x - from.x) < 3);
    const swing = [
      { x: from.x, y: from.y + 0.55 * (to.y - from.y) },
      { x: to.x, y: to.y - 0.55 * (to.y - from.y) },
    ];
    const kind = straight ? "straight" : line.points.length < 2 ? "curved" : "bent";
    const way = straight ? {} : bends(kind === "curved" ? swing : upright(line.points, from, to), from, to);
    const shift = straight ? 8 + Layout.wide(line.flow, "10px") / 2 : 0; // next to a short line, not on it
    const data = { id: `e${at}`, source: line.from, target: line.to, flow: line.flow, shift, z: 10 * line.depth + 1 };
    Object.assign(data, way);
    return { group: "edges", data, classes: line.skip ? [kind, "skip"] : [kind] };
  }

  function draw(keep) {
    const { width, height } = cy.container().getBoundingClientRect();
    const { boxes, lines } = Layout.arrange({ width: width - 2 * MARGIN, height: height - 2 * MARGIN });
    const top = Boxes.maxShare();
    const places = new Map(boxes.map((one) => [one.box.id, one]));
    cy.batch(() => {
      cy.elements().remove();
      cy.add(boxes.flatMap((one) => boxed(one, top)));
      cy.add(lines.map((line, at) => lined(line, at, places)));
    });
    fitView(keep);
    mark(chosen);
  }

  // Fits the whole diagram if it is legible; else its width, or a legible part around the first box, from the top; or
  // the box that was just expanded or collapsed.
  function fitView(id) {
    cy.fit(cy.elements(), MARGIN);
    if (cy.zoom() > 1.15) (cy.zoom(1.15), cy.center());
    if (cy.zoom() >= MIN_ZOOM) return;
    const all = cy.elements().boundingBox();
    const across = cy.width() / (all.w + 2 * MARGIN);
    const level = across >= MIN_ZOOM ? Math.min(across, READABLE_ZOOM) : READABLE_ZOOM;
    const middle = across >= MIN_ZOOM ? (all.x1 + all.x2) / 2 : cy.nodes(".box")[0].position("x");
    cy.zoom(level);
    cy.pan({ x: cy.width() / 2 - middle * level, y: MARGIN - all.y1 * level });
    const one = id ? cy.getElementById(id) : null;
    if (one && one.nonempty()) centerOn(one);
  }

  // Centers a box, or shows its upper end if it is higher than the canvas.
  function centerOn(one) {
    cy.center(one);
    const own = one.renderedBoundingBox();
    if (own.h > cy.height()) cy.panBy({ x: 0, y: MARGIN - own.y1 });
  }

  function mark(id) {
    chosen = id;
    cy.elements(".chosen, .near").removeClass("chosen near");
    const one = id ? cy.getElementById(id) : null;
    if (one && one.nonempty()) (one.addClass("chosen"), one.connectedEdges().addClass("near"));
  }

  // Moves a box into view if it is outside.
  function reveal(id) {
    const one = cy.getElementById(id);
    if (one.empty()) return;
    const [seen, own] = [cy.extent(), one.boundingBox()];
    const inside = own.x1 >= seen.x1 && own.x2 <= seen.x2 && own.y1 >= seen.y1 && own.y2 <= seen.y2;
    if (!inside) centerOn(one);
  }

  function zoom(factor) {
    const { width, height } = cy.container().getBoundingClientRect();
    cy.zoom({
      level: Math.min(3, Math.max(0.1, cy.zoom() * factor)),
      renderedPosition: { x: width / 2, y: height / 2 },
    });
  }

  function start(container, onClick) {
    cy = Vendor.cytoscape({
      container,
      style: style(),
      autoungrabify: true,
      autounselectify: true,
      boxSelectionEnabled: false,
      userZoomingEnabled: false,
      minZoom: 0.1,
      maxZoom: 3,
    });
    cy.on("tap", "node", (event) => onClick(event.target.id().trim()));
    cy.on("mouseover", "node", () => (container.style.cursor = "pointer"));
    cy.on("mouseout", "node", () => (container.style.cursor = ""));
    container.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey) return; // scrolling the page must not zoom the diagram
        event.preventDefault();
        zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15);
      },
      { passive: false },
    );
    document.addEventListener("theme", () => cy.style(style()));
  }

  const fit = () => cy.fit(cy.elements(), MARGIN);
  const zoomed = () => cy.zoom();
  const legible = () => cy.zoom() >= READABLE_ZOOM;
  const places = () =>
    cy.nodes(".box").map((node) => ({
      id: node.id(),
      title: node.data("title"),
      at: node.renderedPosition(),
      open: node.hasClass("frame"),
    }));
  return Object.freeze({ start, draw, mark, reveal, zoom, zoomed, fit, legible, places });
})();
