"""Numbers on the page: what the element of a number carries, which stay in sight, which the sliders move."""

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import CacheSection, Card
from onnx_autodoc.render._blocks import Figure, Name, Text
from onnx_autodoc.render.sections import _figures as known
from onnx_autodoc.render.sections.findings import tally
from onnx_autodoc.text import clean, count, memory, short, three

# The ways in which a number may have been written; numbers.js has the same ones by the same names.
_WAYS: Final[dict[str, Callable[[Figure], str]]] = {
    "unit": lambda figure: short(_whole(figure), figure.unit) if figure.unit not in ("", "bytes") else "",
    "memory": lambda figure: memory(_whole(figure)),
    "short": lambda figure: short(_whole(figure)),
    "three": lambda figure: three(figure.exact or 0),
    "count": lambda figure: count(_whole(figure)),
}


class Written(Struct, frozen=True):
    """How a figure was written: which way, and the words around the number."""

    way: str
    before: str
    after: str


def written(figure: Figure) -> Written | None:
    """So that a script can write the number of another size in the same words; None where it cannot tell."""
    if figure.quantity is None or figure.exact is None:
        return None
    for way, write in _WAYS.items():
        text = write(figure) if (way == "three") == isinstance(figure.exact, float) else ""
        if text and text in figure.shown:
            before, after = figure.shown.split(text, 1)
            return Written(way, before, after)
    return None


def exactly(figure: Figure) -> str:
    """The number behind the words, in full."""
    if figure.exact is None:
        return ""
    number = count(figure.exact) if isinstance(figure.exact, int) else f"{figure.exact:,.6g}"
    return f"{number} {figure.unit}".rstrip()


def _whole(figure: Figure) -> int:
    return int(figure.exact or 0)


class Key(Struct, frozen=True):
    label: str
    text: Text


def keys(card: Card) -> tuple[Key, ...]:
    """What a reader wants in sight wherever on the page they are."""
    opset, precision = card.model.opsets.get("ai.onnx"), card.model.precision
    return (
        Key("Parameters", (known.parameters(card),)),
        Key("Weights", (known.weights(card),)),
        Key("Compute", (known.macs(card),)),
        Key("Peak activations", (known.peak(card),)),
        *_cached(card),
        Key("Precision", (Name(precision.label),) if precision.label else ("none",)),
        Key("Opset", (str(opset),) if opset else ("none of ai.onnx",)),
        Key("Findings", (tally(card.findings),)),
    )


def _cached(card: Card) -> Iterator[Key]:
    kept = card.memory.kv_cache
    if kept is not None:
        yield Key("KV cache per token", (known.stored(kept.bytes_per_token),))


def moving(card: Card) -> tuple[Key, ...]:
    """What the sliders move: every quantity that has a formula, and what follows from those."""
    return tuple(_moving(card))


def _moving(card: Card) -> Iterator[Key]:
    terms = card.compute.formula.terms
    yield from (Key("MACs", (known.macs(card),)),) if "macs" in terms else ()
    yield from (Key("FLOPs", (known.flops(card),)),) if "flops" in terms else ()
    yield from (Key("Bytes moved", (known.moved(card),)),) if "bytes_moved" in terms else ()
    yield from (Key("Intensity", (known.intensity(card),)),) if {"flops", "bytes_moved"} <= set(terms) else ()
    if "peak_activation_bytes" in terms:
        yield Key("Peak activations", (known.peak(card),))
        yield Key("With weights", (known.together(card),))
    if "kv_cache_bytes" in terms and card.memory.kv_cache is not None:
        yield Key("KV cache", (_cache(card.memory.kv_cache, card),))


def _cache(kept: CacheSection, card: Card) -> Figure:
    formula = card.compute.formula.kv_cache_bytes
    said, basis = formula and clean(formula, 400), "exact: counted in the graph"
    return Figure(memory(kept.bytes), kept.bytes, "bytes", said, known.sizes(card), basis, "kv_cache_bytes")
