"use strict";
// Tooltips of figures: exact value, formula, sizes and basis. Shown on hover and focus, closed by Escape.
const Tips = (() => {
  const tip = document.getElementById("tip");
  const WAIT = 120; // milliseconds, so that a passing pointer opens nothing
  let owner = null;
  let timer = 0;

  function line(label, text) {
    const term = document.createElement("dt");
    const value = document.createElement("dd");
    term.textContent = label;
    value.textContent = text;
    return [term, value];
  }

  function fill(figure) {
    const { exact, formula, validAt, basis } = figure.dataset;
    const list = document.createElement("dl");
    if (exact) list.append(...line("Exact value", exact));
    if (formula) list.append(...line("Formula", formula));
    if (validAt) list.append(...line("At", validAt));
    if (basis) list.append(...line("Basis", basis));
    tip.replaceChildren(list);
  }

  function place(figure) {
    const at = figure.getBoundingClientRect();
    const own = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, at.left), document.documentElement.clientWidth - own.width - 8);
    const below = at.bottom + 6;
    const fits = below + own.height < document.documentElement.clientHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${fits ? below : Math.max(8, at.top - own.height - 6)}px`;
  }

  function open(figure) {
    close();
    owner = figure;
    fill(figure);
    tip.hidden = false;
    place(figure);
    figure.setAttribute("aria-describedby", "tip");
  }

  function close() {
    clearTimeout(timer);
    if (owner) owner.removeAttribute("aria-describedby");
    owner = null;
    tip.hidden = true;
  }

  const under = (event) => (event.target.closest ? event.target.closest("[data-tip]") : null);

  function start() {
    document.addEventListener("pointerover", (event) => {
      const figure = under(event);
      if (tip.contains(event.target) || (figure && figure === owner)) return clearTimeout(timer);
      clearTimeout(timer);
      timer = setTimeout(figure ? () => open(figure) : close, WAIT);
    });
    document.addEventListener("focusin", (event) => (under(event) ? open(under(event)) : close()));
    document.addEventListener("focusout", close);
    document.addEventListener("keydown", (event) => event.key === "Escape" && close());
    // A focused figure keeps its tooltip: focusing it may scroll the page.
    const scrolled = () => (owner && owner === document.activeElement ? place(owner) : close());
    document.addEventListener("scroll", scrolled, { capture: true, passive: true });
  }

  return Object.freeze({ start, close });
})();
