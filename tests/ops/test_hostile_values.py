"""Value rules compute elements from untrusted files: none takes much memory or time, whatever the elements are."""

import itertools
import time
import tracemalloc
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from onnx_autodoc import ops
from onnx_autodoc.ir import Attribute, Node
from onnx_autodoc.ops import MAX_ELEMENTS, Call, InferenceError, Operator, Unknown, ValueInfo
from onnx_autodoc.shapes.rule_application import apply_rules

_MOST_BYTES = 64 << 20
_MAX_SECONDS = 5.0  # a bound, far above what any of them takes: the machine may be busy
_EVALUATED = {op: entry for (_, op), entry in ops.OPERATORS.items() if entry.value}
_NUMBERS = {
    "int64": (0, 1, -1, 2, 1 << 31, 1 << 62, -1 << 63, (1 << 63) - 1),
    "int32": (0, -1, 3, -1 << 31, (1 << 31) - 1),
    "uint8": (0, 1, 255),
    "uint64": (0, 1, (1 << 64) - 1),
    "float32": (0.0, -1.5, float("nan"), float("inf"), -float("inf"), 3e38),
    "float16": (0.0, 65504.0),
    "bool": (0, 1),
}
# the most elements that a value can have, the other way round, beside nothing, in the most dimensions, and in none
_WIDE: tuple[tuple[int, ...], ...] = (
    (1, MAX_ELEMENTS),
    (MAX_ELEMENTS, 1),
    (MAX_ELEMENTS,),
    (0, MAX_ELEMENTS),
    (0,),
    (),
    (1,) * 32,
    (2,) * 16,
    (1, 1, 256, 256),
)
_ATTRIBUTES: tuple[dict[str, Attribute], ...] = (
    {},
    *({"axis": axis, "broadcast": 1} for axis in (0, 1, -1, 1 << 62, -1 << 63)),
    {"axes": (0,), "keepdims": 0},
    {"axes": (1 << 62, -1 << 63), "starts": (0, 0), "ends": (1 << 62, -1), "perm": (1, 0)},
    {"axes": (-1,), "starts": (-1 << 63,), "ends": (1 << 62,), "split": (1, -1), "shape": (-1, 1 << 62)},
    {"num_outputs": 1 << 62, "to": 7, "allowzero": 1, "fmod": 1},
    {"num_outputs": -1, "to": 2, "min": float("nan"), "max": float("inf"), "reduction": "add"},
    {"to": 1, "noop_with_empty_axes": 1, "axis": "text", "keepdims": (1,)},
)


def _full(shape: tuple[int, ...], number: float, dtype: str) -> ValueInfo:
    return ValueInfo(dtype, shape, np.full(shape, number, dtype))


def _sizes(*dims: int) -> ValueInfo:
    """Sizes of which the first is unknown."""
    array = np.empty(len(dims) + 1, object)
    array[:] = [Unknown("unknown"), *dims]
    return ValueInfo("int64", array.shape, array)


_LISTED = (
    *(_full((), number, dtype) for dtype, numbers in _NUMBERS.items() for number in numbers),
    *(
        ValueInfo("int64", (len(items),), np.array(items))
        for items in ([1, MAX_ELEMENTS], [MAX_ELEMENTS, 0], [1 << 62, 0])
    ),
    *(
        ValueInfo("int64", (n,), np.full(n, fill))
        for n, fill in ((1, 0), (3, 1 << 20), (33, 2), (2, -1), (4096, 1 << 62))
    ),
    _sizes(3),
    _sizes(*[(1 << 63) - 1] * 15),
    _sizes(*[(1 << 63) - 1] * (MAX_ELEMENTS - 1)),
    ValueInfo("string", (2,)),
    ValueInfo("int64", (2, Unknown("unknown"))),
    ValueInfo(None, why="nothing is known"),
)
_WIDELY = tuple(_full(shape, 1, dtype) for shape in _WIDE for dtype in ("int64", "float32"))


def _inputs() -> Iterator[tuple[ValueInfo | None, ...]]:
    yield ()
    yield from ((one,) for one in (*_LISTED, *_WIDELY))
    yield from itertools.product(_WIDELY[:8:2], repeat=2)
    yield from itertools.product(_WIDELY[:10:2], _LISTED)
    yield from ((one, one, one) for one in (*_LISTED, *_WIDELY[::3]))
    yield from itertools.permutations(_LISTED[1:26:4], 3)
    zeros = _full(_WIDE[1], 0, "int64")
    yield from ((one, zeros, other) for one in _WIDELY[:8:2] for other in (*_WIDELY[:3], _LISTED[0]))
    yield from ((one, None, other) for one in _WIDELY[:6:2] for other in _WIDELY[:6:2])


def _measured(entry: Operator, call: Call) -> tuple[list[ValueInfo], int, float]:
    """Return the result, the peak memory in bytes, and the time."""
    tracemalloc.reset_peak()
    before, start = tracemalloc.get_traced_memory()[0], time.process_time()
    inferred: list[ValueInfo] = []
    try:
        with np.errstate(all="ignore"):  # as the walk does
            inferred = apply_rules(entry, call)
    except InferenceError as reason:
        assert str(reason)
    return inferred, tracemalloc.get_traced_memory()[1] - before, time.process_time() - start


def _node(op: str, inputs: Sequence[Any], attributes: dict[str, Attribute]) -> Node:
    return Node(op, tuple(f"x{at}" for at in range(len(inputs))), ("y", "z"), attributes=attributes)


@pytest.mark.parametrize("op", sorted(_EVALUATED))
def test_hostile_values_cost_little_and_raise_only_inference_errors(op: str) -> None:
    entry = _EVALUATED[op]
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for at, inputs in enumerate(_inputs()):
                attributes = _ATTRIBUTES[at % len(_ATTRIBUTES)] if at % 3 else _ATTRIBUTES[1]
                call = Call(_node(op, inputs, attributes), inputs, 13)
                inferred, nbytes, seconds = _measured(entry, call)
                shown = (attributes, [known and (known.dtype, known.shape) for known in inputs])
                assert nbytes < _MOST_BYTES, shown
                assert seconds < _MAX_SECONDS, shown
                assert all(known.value is None or known.value.size <= MAX_ELEMENTS for known in inferred), shown
    finally:
        tracemalloc.stop()
