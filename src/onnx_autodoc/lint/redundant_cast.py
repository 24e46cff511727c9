"""A cast follows another one, and the two could be one or none.

Why it matters: each cast reads and writes the whole tensor. Where the first loses nothing, the second could read what
the first one reads; and where it casts back, nothing happens at all.

What to do: take out the first of the two, or both: onnxruntime's basic optimization does so
(SessionOptions.optimized_model_filepath saves what it makes), and a model that is wholly in one precision is exported
without them.

A cast to a type that cannot hold every number of the one before (float32 to float16 and back) rounds, so it is none
of these.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import BITS, is_float, is_integer
from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._waste import outside_functions
from onnx_autodoc.ops import judged
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.NOTE
_WHOLE: Final = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}  # bits of whole numbers that each holds


def check(case: Case) -> Iterator[Found]:
    casts = [spot for spot in outside_functions(case, case.of(judged.CAST)) if _follows(spot)]
    back = [spot for spot in casts if _is_back(spot)]
    onward = [spot for spot in casts if _is_onward(spot)]
    told = (
        [f"{plural(len(back), 'cast')} only {'turns' if len(back) == 1 else 'turn'} an earlier one back"]
        if back
        else []
    )
    if onward:
        told.append(f"{plural(len(onward), 'cast')} could read what the cast before reads")
    if told:
        yield Found(", ".join(told), tuple(spot.path for spot in back + onward))


def _follows(spot: Spot) -> bool:
    """Whether it reads what another cast made of data."""
    first = spot.scope.maker(spot.node.inputs[0]) if spot.node.inputs else None
    if first is None or first.node.op != judged.CAST or first.node.domain:
        return False
    return not spot.scope.is_fixed(spot.node.inputs[0])


def _is_back(spot: Spot) -> bool:
    start, between, end = _types(spot)
    return start is not None and start == end and start != between and _holds(between, start)


def _is_onward(spot: Spot) -> bool:
    """From one type over a second, which only this cast reads, to a third."""
    start, between, end = _types(spot)
    if start is None or between is None or end is None or start == between or end in (start, between):
        return False
    first = next(spot.makers())
    return first is not None and first.only_reader() is spot and _holds(between, start) and _same(start, between, end)


def _types(spot: Spot) -> tuple[str | None, str | None, str | None]:
    """Before the cast that this one follows, between the two, and after."""
    first = spot.scope.maker(spot.node.inputs[0])
    values = (first.input(0) if first is not None else None, spot.input(0), spot.output())
    start, between, end = (known.dtype if known is not None else None for known in values)
    return start, between, end


def _same(start: str, between: str, end: str) -> bool:
    """Whether both ways end in the same numbers: what does not fit is cut differently by whole and by other numbers."""
    return end == "bool" or is_float(end) or _holds(end, start) or (is_integer(between) and is_integer(end))


def _holds(wide: str | None, narrow: str) -> bool:
    """Whether a type has every number of another one."""
    if wide is None or wide == narrow or "string" in (wide, narrow):
        return wide == narrow
    if narrow == "bool":
        return is_integer(wide) or wide in _WHOLE
    if narrow in _WHOLE:
        return wide == "float64" or (wide == "float32" and narrow != "float64")
    return is_integer(narrow) and _digits(wide, narrow) >= _digits(narrow, narrow)


def _digits(dtype: str, like: str) -> int:
    """Bits for the size of whole numbers; none for signed ones in an unsigned type."""
    if dtype in _WHOLE:
        return _WHOLE[dtype]
    if not is_integer(dtype) or (dtype.startswith("u") and not like.startswith("u")):
        return -1
    return BITS[dtype] - (not dtype.startswith("u"))
