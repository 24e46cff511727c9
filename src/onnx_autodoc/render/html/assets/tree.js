"use strict";
// The boxes as an accessible tree for keyboards and screen readers, in sync with the diagram.
const Tree = (() => {
  const root = document.getElementById("graph-tree");
  let current = null; // the id of the focusable box
  let chosen = null; // the id of the box in the panel
  let actions = { choose: () => {}, toggle: () => {} };

  function item(box) {
    const made = document.createElement("li");
    const name = document.createElement("span");
    const [title, ...fine] = Boxes.lines(box);
    const small = document.createElement("small");
    name.textContent = title;
    small.textContent = fine.join(" · ");
    name.append(" ", small);
    made.append(name);
    made.setAttribute("role", "treeitem");
    made.setAttribute("aria-selected", String(box.id === chosen));
    made.dataset.box = box.id;
    made.tabIndex = box.id === current ? 0 : -1;
    if (Boxes.canOpen(box)) made.setAttribute("aria-expanded", String(Boxes.isOpen(box)));
    if (Boxes.isOpen(box)) made.append(group(box));
    return made;
  }

  function group(box) {
    const list = document.createElement("ul");
    list.setAttribute("role", "group");
    list.append(...box.children.map(item));
    return list;
  }

  const itemOf = (id) => root.querySelector(`[data-box="${id}"]`);

  function draw() {
    const focused = root.contains(document.activeElement);
    if (!current || !Boxes.visible().some((box) => box.id === current)) current = Boxes.root.children[0]?.id ?? null;
    root.replaceChildren(...Boxes.root.children.map(item));
    if (focused && current) itemOf(current).focus();
  }

  function go(id, focus = true) {
    const before = current && itemOf(current);
    if (before) before.tabIndex = -1;
    current = id;
    const now = itemOf(id);
    now.tabIndex = 0;
    if (focus) now.focus();
    else scrollTo(now.firstElementChild);
  }

  // Scrolls the list only, not the page.
  function scrollTo(line) {
    const [own, list] = [line.getBoundingClientRect(), root.getBoundingClientRect()];
    if (own.top < list.top) root.scrollTop -= list.top - own.top + 4;
    else if (own.bottom > list.bottom) root.scrollTop += own.bottom - list.bottom + 4;
  }

  function choose(id) {
    chosen = id;
    root.querySelectorAll("[data-box]").forEach((one) => {
      one.setAttribute("aria-selected", String(one.dataset.box === chosen));
    });
  }

  function key(event) {
    const boxes = Boxes.visible();
    const at = boxes.findIndex((box) => box.id === current);
    const box = boxes[at];
    const moves = {
      ArrowDown: () => boxes[at + 1],
      ArrowUp: () => boxes[at - 1],
      Home: () => boxes[0],
      End: () => boxes.at(-1),
      ArrowRight: () => (Boxes.isOpen(box) ? box.children[0] : actions.toggle(box, true)),
      ArrowLeft: () => (Boxes.isOpen(box) ? actions.toggle(box, false) : box.parent.depth >= 0 ? box.parent : null),
      Enter: () => actions.toggle(box),
      " ": () => actions.toggle(box),
    };
    if (!box || !moves[event.key]) return;
    event.preventDefault();
    const next = moves[event.key]();
    if (next) (go(next.id), actions.choose(next));
    else actions.choose(box);
  }

  function start(handlers) {
    actions = handlers;
    root.addEventListener("keydown", key);
    root.addEventListener(
      "focusin",
      ({ target }) => target.dataset.box && target.dataset.box !== current && go(target.dataset.box, false),
    );
    root.addEventListener("click", (event) => {
      const entry = event.target.closest("[data-box]");
      if (!entry) return;
      const box = Boxes.all.get(entry.dataset.box);
      go(box.id);
      actions.choose(box);
      actions.toggle(box);
    });
    draw();
  }

  return Object.freeze({ start, draw, go, choose });
})();
