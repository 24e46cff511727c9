"use strict";
// What-if sizes: recompute every figure that has a formula, exactly, for the sizes of the sliders.
const Sliders = (() => {
  const data = JSON.parse(document.getElementById("formula-data").textContent);
  const UNKNOWN = "unknown at this size";
  const DERIVED = {
    arithmetic_intensity: (sizes) => {
      const [flops, moved] = [valueOf("flops", sizes), valueOf("bytes_moved", sizes)];
      return flops === null || moved === null || moved === 0n ? null : [flops, moved];
    },
    memory_bytes: (sizes) => {
      const peak = valueOf("peak_activation_bytes", sizes);
      return peak === null ? null : peak + BigInt(data.weights);
    },
  };

  function term([factor, powers], sizes) {
    return powers.reduce((product, power, index) => product * sizes[index] ** BigInt(power), BigInt(factor));
  }

  // The value of a quantity for one size per variable: the largest of its sums; null without a formula.
  function valueOf(quantity, sizes) {
    if (DERIVED[quantity]) return DERIVED[quantity](sizes);
    const branches = data.terms[quantity];
    if (!branches) return null;
    const sums = branches.map((branch) => branch.reduce((sum, one) => sum + term(one, sizes), 0n));
    const largest = sums.reduce((most, sum) => (sum > most ? sum : most));
    return largest / BigInt(data.divisors[quantity] ?? 1);
  }

  // Text and data attributes of the card, to restore the element exactly.
  const snapshot = (figure) => ({ figure, text: figure.textContent, original: { ...figure.dataset } });

  function restore({ figure, text, original }) {
    figure.textContent = text;
    figure.classList.remove("recomputed", "unknown");
    Object.assign(figure.dataset, original);
    if (!original.exact) delete figure.dataset.exact;
  }

  const formatExact = (value, unit) =>
    `${Array.isArray(value) ? Numbers.three(Numbers.divide(value[0], value[1])) : Numbers.count(value)} ${unit}`.trim();

  function recompute({ figure, original }, sizes, sizesText) {
    const value = original.format ? valueOf(original.quantity, sizes) : null;
    figure.classList.toggle("unknown", value === null);
    figure.classList.toggle("recomputed", value !== null);
    figure.dataset.validAt = sizesText;
    if (value === null) {
      figure.textContent = UNKNOWN;
      delete figure.dataset.exact;
      figure.dataset.basis = "the card has no formula for it";
      return;
    }
    figure.textContent = original.before + Numbers.write(value, original.format, original.unit) + original.after;
    figure.dataset.exact = formatExact(value, original.unit ?? "");
    figure.dataset.basis = original.formula ? "computed by the formula" : "computed by the formulas of its components";
  }

  function start() {
    const panel = document.getElementById("sizes");
    if (!panel || !data.sliders.length) return;
    const figures = [...document.querySelectorAll("data[data-quantity]")].map(snapshot);
    const labels = [...document.querySelectorAll("main [data-sizes]")].map((label) => [label, label.textContent]);
    const note = document.getElementById("sizes-note");
    const banner = document.getElementById("resized-banner");
    markFixedFigures();
    const reset = document.getElementById("reset");
    const sizes = data.sliders.map((slider) => BigInt(slider.value));
    const initialNote = note.textContent;

    function draw() {
      const isChanged = (size, index) => size !== BigInt(data.sliders[index].value);
      const resized = sizes.some(isChanged);
      const bindings = data.sliders.map((slider, index) => `${slider.name} ${Numbers.count(sizes[index])}`);
      const sizesText = bindings.join(", ");
      const changed = bindings.filter((_, index) => isChanged(sizes[index], index));
      figures.forEach((figure) => (resized ? recompute(figure, sizes, sizesText) : restore(figure)));
      labels.forEach(([label, text]) => (label.textContent = resized ? sizesText : text));
      document.body.classList.toggle("resized", resized);
      reset.disabled = !resized;
      note.textContent = resized
        ? "Highlighted figures are recomputed. All others are at the card’s sizes and marked as such."
        : initialNote;
      banner.hidden = !resized;
      banner.querySelector("span").textContent = `What if: ${changed.join(", ")}`;
    }

    data.sliders.forEach((slider, index) => connect(slider, index, sizes, draw));
    [reset, banner.querySelector("button")].forEach((button) =>
      button.addEventListener("click", () => {
        data.sliders.forEach((slider, index) => set(index, sizes, slider.value));
        draw();
      }),
    );
  }

  // Mark costs that do not follow the sliders: they show a label while other sizes are selected.
  function markFixedFigures() {
    const costs = 'data:is([data-unit="MACs"], [data-unit="FLOPs"], [data-valid-at])';
    const isFixed = (element) => !element.querySelector("data[data-quantity]") && element.querySelector(costs);
    const mark = (element) => element.classList.add("at-card-sizes");
    document.querySelectorAll("main .table:not(.nodes)").forEach((element) => isFixed(element) && mark(element));
    document.querySelectorAll("main .picture, main .graph, main .nodes").forEach(mark);
  }

  // The size nearest to the requested one for which the formulas are valid.
  function snap(slider, requested) {
    const wanted = Math.min(requested, slider.limit ?? Number.MAX_SAFE_INTEGER / 1024);
    const round = slider.limit === null ? Math.round : Math.floor;
    return Math.max(slider.low, slider.value + round((wanted - slider.value) / slider.step) * slider.step);
  }

  function set(index, sizes, size) {
    sizes[index] = BigInt(size);
    document.getElementById(`size-${index}`).value = size;
    document.getElementById(`range-${index}`).value = size;
  }

  function connect(slider, index, sizes, draw) {
    const [field, range] = [document.getElementById(`size-${index}`), document.getElementById(`range-${index}`)];
    field.disabled = range.disabled = false;
    range.addEventListener("input", () => (set(index, sizes, snap(slider, Number(range.value))), draw()));
    field.addEventListener("change", () => {
      const requested = Number.parseInt(field.value, 10);
      const size = Number.isFinite(requested) && requested > 0 ? snap(slider, requested) : slider.value;
      set(index, sizes, size);
      draw();
    });
  }

  return Object.freeze({ start, valueOf });
})();
