"""What operators ask of the numbers that they are given: rows that a table has, a length that fits, an axis.

A number that is too large for its table stops a run, and one that is zero where a size is wanted may too: whoever makes
up inputs for a model must know. Tables by operator and the place of the input, each with a small function.
"""

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from onnx_autodoc.ops import Array
from onnx_autodoc.patterns._input_constraints import ASKED, Asked
from onnx_autodoc.shapes import Step

__all__ = ["Asked", "Moved", "asked", "compared", "counted", "moved"]

_SAME: Final = frozenset(
    (
        *("Cast", "CastLike", "Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose", "Expand", "Tile"),
        *("Slice", "Split", "Gather", "GatherND", "GatherElements", "Dropout", "Compress", "Trilu", "ReverseSequence"),
        *("ReduceMax", "ReduceMin", "Abs", "Relu", "Round", "Floor", "Ceil", "Pad", "SplitToSequence", "SequenceAt"),
        *("Unique", "DepthToSpace", "SpaceToDepth", "CenterCropPad", "MaxPool", "QuantizeLinear", "DequantizeLinear"),
        *("Optional", "OptionalGetElement", "ArrayFeatureExtractor"),
    )
)
_ALL: Final = frozenset(("Concat", "Max", "SequenceConstruct", "ConcatFromSequence", "SequenceInsert"))
_SECOND: Final = {"Where": (1, 2), "ScatterND": (0, 2), "ScatterElements": (0, 2), "Scatter": (0, 2)}
_SUMS: Final = frozenset(("CumSum", "ReduceSum"))
_COMPARING: Final = frozenset(("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"))


class Moved(Struct, frozen=True):
    """An input whose numbers come out: each times `factor`, and at least `least`, at most `most` more."""

    at: int
    factor: float = 1
    least: float = 0
    most: float = 0


def moved(step: Step) -> Iterator[Moved]:
    """The inputs whose numbers a step hands on."""
    op = step.node.op
    if op in _SAME or (op == "Clip" and not _has_ceiling(step)):
        yield Moved(0)
    elif op in _ALL:
        yield from (Moved(at) for at in range(len(step.inputs)))
    elif op in _SECOND:
        yield from (Moved(at) for at in _SECOND[op])
    elif op in _ARITHMETIC and len(step.inputs) == 2:
        for at in (0, 1):
            number = _numbers(step, 1 - at)
            yield from () if number is None else _ARITHMETIC[op](at, float(number.min()), float(number.max()))


def _has_ceiling(step: Step) -> bool:
    return "max" in step.node.attributes or (len(step.inputs) > 2 and step.inputs[2] is not None)


def _numbers(step: Step, at: int) -> Array | None:
    """The elements of an input, where they are known and numbers."""
    known = step.inputs[at]
    value = known.value if known is not None else None
    return value if value is not None and value.size and value.dtype.kind in "iuf" else None


def _plus(at: int, low: float, high: float) -> Iterator[Moved]:
    yield Moved(at, 1, low, high)


def _minus(at: int, low: float, high: float) -> Iterator[Moved]:
    if at == 0:
        yield Moved(at, 1, -high, -low)


def _times(at: int, low: float, high: float) -> Iterator[Moved]:
    if high > 0 and low >= 0:
        yield Moved(at, high)


def _by(at: int, low: float, _: float) -> Iterator[Moved]:
    if at == 0 and low > 0:
        yield Moved(at, 1 / low)


_ARITHMETIC: Final[dict[str, Callable[[int, float, float], Iterator[Moved]]]] = {
    "Add": _plus,
    "Sub": _minus,
    "Mul": _times,
    "Div": _by,
}


def counted(step: Step) -> bool:
    """Whether a step adds its numbers up along an axis, as positions are counted from a mask."""
    return step.node.op in _SUMS


def asked(step: Step) -> Iterator[tuple[int, Asked]]:
    """What a step asks of its inputs, by their place."""
    for at, rule in ASKED.get(step.node.op, ()):
        if at < len(step.inputs) and step.inputs[at] is not None:
            found = rule(step)
            if found is not None:
                yield at, found


def compared(step: Step) -> Iterator[tuple[int, float | None, int | None]]:
    """(input, the number, the size) that an input is compared with: with one number, or with each along an axis."""
    if step.node.op not in _COMPARING or len(step.inputs) != 2:
        return
    for at in (0, 1):
        number = _numbers(step, 1 - at)
        one = float(number.reshape(-1)[0]) if number is not None and number.size == 1 else None
        yield at, one, _stretched(step, at)


def _stretched(step: Step, at: int) -> int | None:
    """The size of the axis along which an input is one number for all: a length beside the places it may have."""
    given, other = (known.concrete if known is not None else None for known in (step.inputs[at], step.inputs[1 - at]))
    if given is None or other is None or step.node.op == "Equal":
        return None
    padded = (1,) * (len(other) - len(given)) + given
    wide = [size for mine, size in zip(padded[-len(other) :], other) if mine == 1 < size] if other else []
    return wide[-1] if wide else None
