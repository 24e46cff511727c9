"use strict";
// The card at other sizes: every number that has a formula is computed anew from it, exactly.
const Sliders = (() => {
  const data = JSON.parse(document.getElementById("formula-data").textContent);
  const UNKNOWN = "unknown at this size";
  const DERIVED = {
    arithmetic_intensity: (at) => {
      const [flops, moved] = [valueOf("flops", at), valueOf("bytes_moved", at)];
      return flops === null || moved === null || moved === 0n ? null : [flops, moved];
    },
    memory_bytes: (at) => {
      const peak = valueOf("peak_activation_bytes", at);
      return peak === null ? null : peak + BigInt(data.weights);
    },
  };

  function term([factor, powers], at) {
    return powers.reduce((product, power, index) => product * at[index] ** BigInt(power), BigInt(factor));
  }

  // A quantity at sizes, one for each variable: the largest of its sums; null where it has no formula.
  function valueOf(quantity, at) {
    if (DERIVED[quantity]) return DERIVED[quantity](at);
    const branches = data.terms[quantity];
    if (!branches) return null;
    const sums = branches.map((branch) => branch.reduce((sum, one) => sum + term(one, at), 0n));
    const most = sums.reduce((most, sum) => (sum > most ? sum : most));
    return most / BigInt(data.divisors[quantity] ?? 1);
  }

  // The element as the card has it, kept so that it can come back to the letter.
  const keep = (figure) => ({ figure, text: figure.textContent, kept: { ...figure.dataset } });

  function restore({ figure, text, kept }) {
    figure.textContent = text;
    figure.classList.remove("moved", "unknown");
    Object.assign(figure.dataset, kept);
    if (!kept.exact) delete figure.dataset.exact;
  }

  const said = (value, unit) =>
    `${Array.isArray(value) ? Numbers.three(Numbers.divide(value[0], value[1])) : Numbers.count(value)} ${unit}`.trim();

  function rewrite(one, at, sizes) {
    const { figure, kept } = one;
    const value = kept.way ? valueOf(kept.quantity, at) : null;
    figure.classList.toggle("unknown", value === null);
    figure.classList.toggle("moved", value !== null);
    figure.dataset.holds = sizes;
    if (value === null) {
      figure.textContent = UNKNOWN;
      delete figure.dataset.exact;
      figure.dataset.basis = "the card has no formula for it";
      return;
    }
    figure.textContent = kept.before + Numbers.write(value, kept.way, kept.unit) + kept.after;
    figure.dataset.exact = said(value, kept.unit ?? "");
    figure.dataset.basis = kept.formula ? "by the formula" : "by the formulas of what it is made of";
  }

  function start() {
    const panel = document.getElementById("sizes");
    if (!panel || !data.sliders.length) return;
    const figures = [...document.querySelectorAll("data[data-quantity]")].map(keep);
    const places = [...document.querySelectorAll("main [data-sizes]")].map((place) => [place, place.textContent]);
    const note = document.getElementById("moved");
    const banner = document.getElementById("away");
    stay();
    const reset = document.getElementById("reset");
    const at = data.sliders.map((slider) => BigInt(slider.at));
    const told = note.textContent;

    function draw() {
      const away = at.some((size, index) => size !== BigInt(data.sliders[index].at));
      const each = data.sliders.map((slider, index) => `${slider.name} ${Numbers.count(at[index])}`);
      const sizes = each.join(", ");
      const other = each.filter((_, index) => at[index] !== BigInt(data.sliders[index].at));
      figures.forEach((one) => (away ? rewrite(one, at, sizes) : restore(one)));
      places.forEach(([place, text]) => (place.textContent = away ? sizes : text));
      document.body.classList.toggle("away", away);
      reset.disabled = !away;
      note.textContent = away ? "Marked numbers follow. The rest stays at the card’s sizes and says so." : told;
      banner.hidden = !away;
      banner.querySelector("span").textContent = `What if: ${other.join(", ")}`;
    }

    data.sliders.forEach((slider, index) => connect(slider, index, at, draw));
    [reset, banner.querySelector("button")].forEach((button) =>
      button.addEventListener("click", () => {
        data.sliders.forEach((slider, index) => set(slider, index, at, slider.at));
        draw();
      }),
    );
  }

  // What holds for the card's sizes and does not move with a slider: it says so while one is away from them.
  function stay() {
    const costs = 'data:is([data-unit="MACs"], [data-unit="FLOPs"], [data-holds])';
    const still = (place) => !place.querySelector("data[data-quantity]") && place.querySelector(costs);
    document.querySelectorAll("main .table:not(.nodes)").forEach((place) => still(place) && mark(place));
    document.querySelectorAll("main .picture, main .graph, main .nodes").forEach(mark);
  }

  const mark = (place) => place.classList.add("stays");

  // The size nearest to what was asked for at which the formulas hold.
  function lattice(slider, asked) {
    const wanted = Math.min(asked, slider.most ?? Number.MAX_SAFE_INTEGER / 1024);
    const round = slider.most === null ? Math.round : Math.floor;
    return Math.max(slider.low, slider.at + round((wanted - slider.at) / slider.step) * slider.step);
  }

  function set(slider, index, at, size) {
    at[index] = BigInt(size);
    document.getElementById(`size-${index}`).value = size;
    document.getElementById(`range-${index}`).value = size;
  }

  function connect(slider, index, at, draw) {
    const [field, range] = [document.getElementById(`size-${index}`), document.getElementById(`range-${index}`)];
    field.disabled = range.disabled = false;
    range.addEventListener("input", () => (set(slider, index, at, lattice(slider, Number(range.value))), draw()));
    field.addEventListener("change", () => {
      const asked = Number.parseInt(field.value, 10);
      const size = Number.isFinite(asked) && asked > 0 ? lattice(slider, asked) : slider.at;
      set(slider, index, at, size);
      draw();
    });
  }

  return Object.freeze({ start, valueOf });
})();
