"""Data leave half precision for single precision and come back.

Why it matters: each seam reads and writes the whole tensor just to change its type, and what lies between runs at
twice the bytes and, on many devices, at half the speed. Islands around normalizations and softmax are usual, and keep
their sums exact; others come from a converter that did not know an operator.

What to do: look at what lies between the casts. What needs no single precision can be converted as well: take it off
op_block_list of onnxconverter_common's or onnxruntime.transformers' convert_float_to_float16, or export from a model
that is wholly in half precision. A fused normalization or attention operator computes its sums in single precision
without the casts.

Casts of constants, of inputs and to outputs are no seams. A seam counts where data come back: from a cast to single
precision along floating-point values to a cast to the half precision that they had. Data that are cast to half
precision and straight back, with nothing between, are told apart: there the casts only round.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import is_float
from onnx_autodoc.lint._case import Case, Scope, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._waste import outside_functions
from onnx_autodoc.ops import judged
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.INFO
_HALF: Final = ("float16", "bfloat16")
_WIDE: Final = ("float32", "float64")
_TAKE_OUT: Final = (
    "Take both casts out: nothing is computed between them. The answers change by the rounding that is saved, so "
    "compare them once."
)


def check(case: Case) -> Iterator[Found]:
    yield from _left_and_back(case)
    casts = list(outside_functions(case, case.of(judged.CAST)))
    rounding = [spot for spot in casts if _is_rounding(spot)]
    if rounding:
        pairs = plural(len(rounding), "pair of casts only rounds", "pairs of casts only round")
        half = " and ".join(sorted({str(_types(spot)[0]) for spot in rounding}))
        evidence = tuple(spot.path for spot in rounding)
        yield Found(f"{pairs} data to {half}, with nothing in between", evidence, _TAKE_OUT, about="rounding")


def _is_rounding(spot: Spot) -> bool:
    """A cast out of half precision whose maker cast the same data into it, for this one alone."""
    first = next(spot.makers(), None)
    if first is None or first.node.op != judged.CAST or first.node.domain or first.only_reader() is not spot:
        return False
    before, after = _types(first)[0], _types(spot)[1]
    return _types(spot)[0] in _HALF and before in _WIDE and before == after and not _is_constant(first)


def _is_constant(spot: Spot) -> bool:
    return spot.scope.is_fixed(spot.node.inputs[0])


def _left_and_back(case: Case) -> Iterator[Found]:
    edge = {value.name for value in (*case.model.graph.inputs, *case.model.graph.outputs)}
    casts = [spot for spot in outside_functions(case, case.of(judged.CAST)) if _is_up(spot)]
    up = [spot for spot in casts if _is_inside(spot, set() if spot.scope.path else edge)]
    left = {_types(spot)[0] for spot in up}
    back, between = _islands(up)
    back = [spot for spot in back if _types(spot)[1] in left]
    if back:
        half = " and ".join(sorted({name for spot in back if (name := _types(spot)[1]) is not None}))
        nodes = f", around {plural(between, 'node')}" if between else ""
        out = plural(len(up), "cast")
        message = f"data leave {half} for float32 in {out} and come back in {len(back):,}{nodes}"
        yield Found(message, tuple(spot.path for spot in [*up, *back]))


def _types(spot: Spot) -> tuple[str | None, str | None]:
    before, after = spot.input(0), spot.output()
    return (before.dtype if before is not None else None), (after.dtype if after is not None else None)


def _is_up(spot: Spot) -> bool:
    before, after = _types(spot)
    return before in _HALF and after == "float32"


def _is_inside(spot: Spot, edge: set[str]) -> bool:
    """Neither of a constant, nor at the edge of the model, whose callers may want another precision."""
    return edge.isdisjoint((*spot.node.inputs, *spot.node.outputs)) and not _is_constant(spot)


def _islands(up: list[Spot]) -> tuple[list[Spot], int]:
    """The casts back that data reach from these, and how many nodes lie between."""
    waiting, seen, back = list(up), set[tuple[int, int]](), list[Spot]()
    between = 0
    while waiting:
        for spot in _readers(waiting.pop()):
            if (key := (id(spot.scope), spot.step.at)) in seen:
                continue
            seen.add(key)
            after = _types(spot)[1]
            if spot.node.op == judged.CAST and after in _HALF:
                back.append(spot)
            elif is_float(after) and after not in _HALF:
                between += 1
                waiting.append(spot)
    return sorted(back, key=lambda spot: (spot.scope.path, spot.step.at)), between


def _readers(spot: Spot) -> list[Spot]:
    scope: Scope = spot.scope
    return [reader for name in spot.node.outputs if name for reader in scope.readers(name)]
