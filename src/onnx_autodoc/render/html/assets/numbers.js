"use strict";
// Formats numbers exactly like onnx_autodoc/text/numbers.py: three significant digits, ties to the even digit.
// Counts are BigInt, since they exceed the range in which a Number is exact.
const Numbers = (() => {
  const COUNTS = [
    [10n ** 18n, "E"],
    [10n ** 15n, "P"],
    [10n ** 12n, "T"],
    [10n ** 9n, "G"],
    [10n ** 6n, "M"],
    [10n ** 3n, "k"],
  ];
  const MEMORY = [
    [1n << 60n, " EiB"],
    [1n << 50n, " PiB"],
    [1n << 40n, " TiB"],
    [1n << 30n, " GiB"],
    [1n << 20n, " MiB"],
    [1n << 10n, " KiB"],
  ];
  const TIMES = [
    [3600n * 10n ** 9n, "h"],
    [60n * 10n ** 9n, "min"],
    [10n ** 9n, "s"],
    [10n ** 6n, "ms"],
    [10n ** 3n, "µs"],
  ];
  const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

  const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");

  const bits = (whole) => whole.toString(2).length;

  // The double nearest to the quotient; a nonzero remainder sets the last bit, so that it is not rounded as a tie.
  function divide(above, below) {
    if (above <= SAFE && below <= SAFE) return Number(above) / Number(below);
    const shift = Math.max(0, 66 - bits(above) + bits(below));
    const scaled = above << BigInt(shift);
    const quotient = scaled / below;
    const sticky = quotient * below === scaled ? quotient : quotient | 1n;
    return Number(sticky) / 2 ** shift;
  }

  // A double as a fraction, exactly: [above, below].
  function fraction(number) {
    let below = 1n;
    while (!Number.isInteger(number)) {
      number *= 2;
      below *= 2n;
    }
    return [BigInt(number), below];
  }

  // With fixed decimals, half to even, like Python's ".2f" and unlike toFixed.
  function fixed(number, decimals) {
    const [above, below] = fraction(number);
    const scaled = above * 10n ** BigInt(decimals);
    let whole = scaled / below;
    const twice = 2n * (scaled - whole * below);
    if (twice > below || (twice === below && whole % 2n === 1n)) whole += 1n;
    const digits = whole.toString().padStart(decimals + 1, "0");
    const cut = digits.length - decimals;
    return grouped(digits.slice(0, cut)) + (decimals ? "." + digits.slice(cut) : "");
  }

  function three(number) {
    if (number > 0 && number < 0.005) return "<0.01";
    const digits = BigInt(Math.trunc(number)).toString().length;
    return fixed(number, Math.max(0, 3 - digits));
  }

  function scaled(whole, units, before) {
    const unit = units.find(([scale]) => whole >= Number(scale) * 0.9995);
    return unit ? three(divide(whole, unit[0])) + before + unit[1] : "";
  }

  const count = (whole) => grouped(BigInt(whole).toString());

  function short(whole, unit = "") {
    whole = BigInt(whole);
    const text = scaled(whole, COUNTS, " ") || whole.toString() + " ";
    return unit ? text + unit : text.trimEnd();
  }

  function memory(nbytes) {
    nbytes = BigInt(nbytes);
    return scaled(nbytes, MEMORY, "") || `${count(nbytes)} ${nbytes === 1n ? "byte" : "bytes"}`;
  }

  // From nanoseconds.
  function duration(nanoseconds) {
    nanoseconds = BigInt(nanoseconds);
    return scaled(nanoseconds, TIMES, " ") || `${three(Number(nanoseconds))} ns`;
  }

  function percent(share) {
    if (share > 0 && share < 0.01) return "<1%";
    if (share > 0.99 && share < 1) return ">99%";
    return fixed(share * 100, 0) + "%";
  }

  // A whole number, or a quotient as [above, below], in one of the formats of templates.py.
  function write(value, format, unit) {
    if (format === "three") return three(Array.isArray(value) ? divide(value[0], value[1]) : Number(value));
    if (format === "memory") return memory(value);
    if (format === "unit") return short(value, unit);
    return format === "count" ? count(value) : short(value);
  }

  // A possibly unknown number, for a table cell.
  const cell = (value, format) => (value === null || value === undefined ? "unknown" : format(value));

  return Object.freeze({ cell, count, divide, duration, fixed, memory, percent, short, three, write });
})();
