"use strict";
// Runs before the first paint: the theme selected last time. Storage may be unavailable for files on disk.
const Theme = (() => {
  const root = document.documentElement;
  root.classList.add("js"); // controls that require scripts are hidden without this class
  const system = matchMedia("(prefers-color-scheme: dark)");
  let stored = null;
  try {
    stored = localStorage.getItem("onnx-autodoc-theme");
  } catch {
    stored = null;
  }
  if (stored === "dark" || stored === "light") root.dataset.theme = stored;

  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

  function toggle() {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("onnx-autodoc-theme", root.dataset.theme);
    } catch {
      // The selection then applies to this page only.
    }
    notify();
  }

  const notify = () => document.dispatchEvent(new CustomEvent("theme"));
  system.addEventListener("change", notify);
  return Object.freeze({ isDark, toggle });
})();
