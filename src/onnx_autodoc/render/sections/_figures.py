"""The card's numbers as figures: rounded for people, with what stands behind them."""

from onnx_autodoc.card import Card
from onnx_autodoc.render._blocks import Figure
from onnx_autodoc.render._headline import intensity_of, is_partly_counted
from onnx_autodoc.text import clean, count, file_size, memory, named, percent, short

_MOST = 12  # sizes that are named
_EXACT = "exact: counted in the graph"
_STORED = "exact: read off the file"
_PARTLY = "at least: tensors that contradict themselves are not counted"
_LEAST = "at least: what could not be counted is named under Complexity"


def sizes(card: Card) -> str:
    """The sizes that the costs hold for."""
    dims = card.assumptions.dims
    shown = [f"{named(name, 40)} {count(size)}" for name, size in dims.items()]
    more = [f"{count(len(shown) - _MOST)} more"] if len(shown) > _MOST else []
    return ", ".join([*shown[:_MOST], *more]) or "the sizes that the file fixes"


def number(exact: int | None, unit: str = "", basis: str = _STORED) -> Figure:
    """A count in full, as tables have it."""
    return Figure("not known") if exact is None else Figure(count(exact), exact, unit, basis=basis)


def rounded(exact: int | None, unit: str, least: bool = False) -> Figure:
    """A cost in three digits, for a column whose title has the unit."""
    if exact is None:
        return Figure("not known")
    return Figure("at least " * least + short(exact), exact, unit, basis=_LEAST if least else _EXACT)


def stored(nbytes: int | None, basis: str = _STORED) -> Figure:
    return Figure("not known") if nbytes is None else Figure(memory(nbytes), nbytes, "bytes", basis=basis)


def share(part: float | None) -> Figure:
    return Figure("not known") if part is None else Figure(percent(part), part)


def file_bytes(nbytes: int | None) -> Figure:
    return Figure("not there") if nbytes is None else Figure(file_size(nbytes), nbytes, "bytes", basis=_STORED)


def parameters(card: Card) -> Figure:
    total = card.parameters.total
    if is_partly_counted(card):
        return Figure(f"at least {short(total)}" if total else "not known", total or None, "parameters", basis=_PARTLY)
    return Figure(short(total), total, "parameters", basis=_STORED) if total else Figure("none in the file")


def weights(card: Card) -> Figure:
    nbytes = card.memory.weights_bytes
    if is_partly_counted(card):
        return Figure(f"at least {memory(nbytes)}" if nbytes else "not known", nbytes or None, "bytes", basis=_PARTLY)
    return stored(nbytes)


def macs(card: Card) -> Figure:
    least = any(gap.macs for gap in card.compute.coverage.gaps)
    return _cost(card, card.compute.macs, "MACs", "macs", least)


def flops(card: Card) -> Figure:
    return _cost(card, card.compute.flops, "FLOPs", "flops", bool(card.compute.coverage.gaps))


def moved(card: Card) -> Figure:
    return _cost(card, card.compute.bytes_moved, "bytes", "bytes_moved", bool(card.compute.coverage.unmoved))


def peak(card: Card) -> Figure:
    return _cost(card, card.memory.peak_activation_bytes, "bytes", "peak_activation_bytes", bool(card.memory.unsized))


def intensity(card: Card) -> Figure:
    found, shown = card.compute.arithmetic_intensity, intensity_of(card)
    if shown is None:
        return Figure("not known")
    basis = "FLOPs divided by bytes moved"
    return Figure(shown, found, "FLOPs per byte", None, sizes(card), basis, "arithmetic_intensity")


def together(card: Card) -> Figure:
    """Weights and activations: what a device must hold at once."""
    used = card.memory
    if used.run_bytes is None:
        return Figure("not known")
    least, basis = "at least " if used.unsized else "", "weights as stored + activations at the peak"
    return Figure(least + memory(used.run_bytes), used.run_bytes, "bytes", None, sizes(card), basis, "memory_bytes")


def _cost(card: Card, exact: int | None, unit: str, quantity: str, least: bool) -> Figure:
    if exact is None:
        return Figure("not known")
    text = memory(exact) if unit == "bytes" else short(exact, unit)
    formula = getattr(card.compute.formula, quantity)
    basis = _LEAST if least else _EXACT
    shown = f"at least {text}" if least else text
    return Figure(shown, exact, unit, formula and clean(formula, 400), sizes(card), basis, quantity)
