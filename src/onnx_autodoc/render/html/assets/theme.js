"use strict";
// Before anything is drawn: the theme that the reader chose the last time. Storage may be forbidden for files on disk.
const Theme = (() => {
  const root = document.documentElement;
  root.classList.add("js"); // what needs a script is not shown without one
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try {
    chosen = localStorage.getItem("onnx-autodoc-theme");
  } catch {
    chosen = null;
  }
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;

  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

  function toggle() {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("onnx-autodoc-theme", root.dataset.theme);
    } catch {
      // The choice then holds for this page.
    }
    tell();
  }

  const tell = () => document.dispatchEvent(new CustomEvent("theme"));
  system.addEventListener("change", tell);
  return Object.freeze({ isDark, toggle });
})();
