"use strict";
// Click on a column header to sort: descending, ascending, original order. Unknown values come last, totals stay.
const Tables = (() => {
  // The value of a numeric cell: the exact value of its figure, else the parsed text.
  function numberOf(cell) {
    const figure = cell.querySelector("data");
    const text = figure && figure.value !== "" ? figure.value : cell.textContent.replace(/[,\s]/g, "");
    const number = parseFloat(text);
    return Number.isNaN(number) ? null : number;
  }

  const compare = (one, two) => (typeof one === "number" ? one - two : one.localeCompare(two, "en", { numeric: true }));

  function keyed(row, column, numeric) {
    const cell = row.cells[column];
    if (!cell) return null;
    return numeric ? numberOf(cell) : cell.textContent.trim();
  }

  function sorted(rows, column, numeric, direction) {
    const keys = new Map(rows.map((row) => [row, keyed(row, column, numeric)]));
    const known = rows.filter((row) => keys.get(row) !== null);
    const rest = rows.filter((row) => keys.get(row) === null);
    known.sort((one, two) => direction * compare(keys.get(one), keys.get(two)));
    return [...known, ...rest];
  }

  // Numbers sort descending first, text ascending first.
  function next(now, numeric) {
    const directions = numeric ? ["none", "descending", "ascending"] : ["none", "ascending", "descending"];
    return directions[(directions.indexOf(now) + 1) % directions.length];
  }

  // Makes a header sortable: `apply` receives the direction; "none" is the original order.
  function head(cell, heads, apply) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...cell.childNodes);
    cell.append(button);
    cell.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const way = next(cell.getAttribute("aria-sort"), cell.classList.contains("number"));
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      cell.setAttribute("aria-sort", way);
      apply(way);
    });
  }

  function make(table) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((cell, column) => {
      const numeric = cell.classList.contains("number");
      head(cell, heads, (way) => {
        const direction = way === "ascending" ? 1 : -1;
        body.append(...(way === "none" ? original : sorted(original, column, numeric, direction)));
      });
    });
  }

  const STEPS = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

  // Arrow keys move from a header into its column and between figures, so that a long table is one tab stop.
  function walk(event) {
    const step = STEPS[event.key];
    const cell = event.target.closest("td, th");
    if (!step || !cell || !event.target.matches("[data-tip], .sort")) return;
    const rows = [...cell.closest("table").rows];
    let [row, column] = [rows.indexOf(cell.parentElement), cell.cellIndex];
    let next = null;
    do {
      [row, column] = [row + step[0], column + step[1]];
      next = rows[row]?.cells[column];
    } while (next && !next.querySelector("[data-tip], .sort"));
    if (!next) return;
    event.preventDefault();
    next.querySelector("[data-tip], .sort").focus();
  }

  function start() {
    document.querySelectorAll("table[data-sortable]").forEach(make);
    document.addEventListener("keydown", walk);
  }
  return Object.freeze({ start, head });
})();
