"""Figures of the card as `Number` spans."""

from collections.abc import Callable
from itertools import islice
from operator import attrgetter
from typing import Final, TypeVar

from onnx_autodoc.card import BEYOND_64_BITS, Card, find_uncertainty, is_lower_bound
from onnx_autodoc.render.content import UNKNOWN, Number
from onnx_autodoc.text import (
    display_name,
    format_bytes,
    format_count,
    format_number,
    format_percent,
    format_short,
    sanitize,
)

Value = TypeVar("Value", int, float)
_MAX_SIZES: Final = 12
COUNTED: Final = "exact: counted in the graph"
STORED: Final = "exact: read from the file"
_INCOMPLETE_WEIGHTS: Final = "lower bound: contradictory tensors are not counted"
_INCOMPLETE_COSTS: Final = "lower bound: uncounted nodes are listed under Compute"
_UNKNOWN: Final = Number(UNKNOWN)
NO_PARAMETERS: Final = "none in the file"
OTHER_SIZES: Final = "all other sizes as on this card"
_COSTS: Final = {  # path: unit, name of its formula
    "compute.macs": ("MACs", "macs"),
    "compute.flops": ("FLOPs", "flops"),
    "compute.bytes_moved": ("bytes", "bytes_moved"),
    "memory.peak_activation_bytes": ("bytes", "peak_activation_bytes"),
}


def at_least(card: Card, path: str) -> str:
    """Return "at least " before a lower bound, else ""."""
    return "at least " if is_lower_bound(card, path) else ""


def format_sizes(card: Card) -> str:
    """Format the sizes that costs are valid for."""
    dims = card.assumptions.dims
    shown = [f"{display_name(name, 40)} {format_count(size)}" for name, size in islice(dims.items(), _MAX_SIZES)]
    more = [f"{format_count(len(dims) - _MAX_SIZES)} more"] if len(dims) > _MAX_SIZES else []
    return ", ".join([*shown, *more]) or "the fixed sizes of the file"


def number(exact: Value | None, formatter: Callable[[Value], str], unit: str = "", basis: str = "") -> Number:
    return _UNKNOWN if exact is None else Number(formatter(exact), exact, unit, basis=basis)


def count(exact: int | None, unit: str = "", basis: str = STORED) -> Number:
    """Return a number in full."""
    return number(exact, format_count, unit, basis)


def short(exact: int | None, unit: str, lower_bound: bool = False) -> Number:
    """Return a number in three digits, for a column whose title states the unit."""
    prefix, basis = ("at least ", _INCOMPLETE_COSTS) if lower_bound else ("", COUNTED)
    return number(exact, lambda known: prefix + format_short(known), unit, basis)


def memory(nbytes: int | None, basis: str = STORED) -> Number:
    return number(nbytes, format_bytes, "bytes", basis)


def share(part: float | None) -> Number:
    return number(part, format_percent)


def file_size(nbytes: int | None) -> Number:
    return Number("file not found") if nbytes is None else number(nbytes, format_bytes, "bytes", STORED)


def parameters(card: Card) -> Number:
    return _stored(card, card.parameters.total, format_short, "parameters", Number(NO_PARAMETERS))


def weights(card: Card) -> Number:
    return _stored(card, card.memory.weights_bytes, format_bytes, "bytes", memory(0))


def _stored(card: Card, exact: int, formatter: Callable[[int], str], unit: str, none: Number) -> Number:
    """Return an amount of the weights, which is a lower bound if some tensors are contradictory."""
    if not is_lower_bound(card, "parameters.total"):
        return number(exact, formatter, unit, STORED) if exact else none
    return Number(f"at least {formatter(exact)}" if exact else UNKNOWN, exact or None, unit, basis=_INCOMPLETE_WEIGHTS)


def cost(card: Card, path: str) -> Number:
    """Return the cost at a path of the card, with its formula."""
    exact: int | None = attrgetter(path)(card)
    if exact is None:
        return _UNKNOWN
    unit, quantity = _COSTS[path]
    text = format_bytes(exact) if unit == "bytes" else format_short(exact, unit)
    formula = getattr(card.compute.formula, quantity)
    basis = _INCOMPLETE_COSTS if is_lower_bound(card, path) else COUNTED
    formula = formula and sanitize(formula, 400)
    return Number(at_least(card, path) + text, exact, unit, formula, format_sizes(card), basis, quantity)


def intensity(card: Card) -> Number:
    """Return the arithmetic intensity: a lower bound with uncounted FLOPs, an upper bound with uncounted bytes."""
    ratio = card.compute.arithmetic_intensity
    if ratio is None:
        return _UNKNOWN
    flops, moved = (_is_partial(card, f"compute.{name}") for name in ("flops", "bytes_moved"))
    bound = "" if flops == moved else "at most " if moved else "at least "
    counted = ", counted nodes only" if flops and moved else ""
    text = f"{bound}{format_number(ratio)} FLOPs per byte{counted}"
    basis = "FLOPs divided by bytes moved"
    return Number(text, ratio, "FLOPs per byte", None, format_sizes(card), basis, "arithmetic_intensity")


def _is_partial(card: Card, path: str) -> bool:
    """Whether a figure covers only a part of the nodes. A ratio of figures beyond 64 bits is exact nevertheless."""
    entry = find_uncertainty(card, path)
    return entry is not None and entry.code != BEYOND_64_BITS


def run_memory(card: Card) -> Number:
    """Return weights and peak activations together."""
    nbytes = card.memory.run_bytes
    if nbytes is None:
        return _UNKNOWN
    text, basis = format_bytes(nbytes), "weights as stored plus peak activations"
    prefix = at_least(card, "memory.peak_activation_bytes")
    return Number(prefix + text, nbytes, "bytes", None, format_sizes(card), basis, "memory_bytes")


def kv_cache(card: Card) -> Number:
    """Return the KV cache of one sequence after a run at the card's sizes."""
    cache, formula = card.memory.kv_cache, card.compute.formula.kv_cache_bytes
    if cache is None:
        return _UNKNOWN
    text, formula = format_bytes(cache.bytes), formula and sanitize(formula, 400)
    return Number(text, cache.bytes, "bytes", formula, format_sizes(card), COUNTED, "kv_cache_bytes")
