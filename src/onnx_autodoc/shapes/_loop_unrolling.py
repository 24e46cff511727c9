"""A loop run pass by pass, where one look at its body leaves sizes open that hang on the number of the pass.

A slice from i to i + 1, or a tensor that grows by one row each time: both are exact once every pass is followed. Only
done while the passes are few; the body's own steps then say what holds in all of them.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from onnx_autodoc.ir import Deep, Graph
from onnx_autodoc.ops import Known
from onnx_autodoc.shapes._merge import VARIES, merged_known
from onnx_autodoc.shapes._scope import Scope
from onnx_autodoc.shapes._shapes import Step

if TYPE_CHECKING:
    from onnx_autodoc.shapes._walk import Walk


def pass_number(at: int | None) -> Known:
    return Known("int64", (), None if at is None else np.array(at, np.int64), "the number of the pass changes")


def truth() -> Known:
    return Known("bool", (), np.array(True))  # a body only runs while its condition holds


def is_open(steps: tuple[Step, ...], carried: list[Known]) -> bool:
    """Does a body leave a size unknown, in a step or in what it hands on?"""
    return any(step.gap for step in steps) or any(map(_is_open, carried))


def _is_open(known: Known) -> bool:
    return bool(known.reason) if known.kind == "tensor" else known.items is None


def replay(
    walk: Walk, body: Graph, scope: Scope, start: list[Known], times: int
) -> Deep[tuple[tuple[tuple[Step, ...], ...], list[Known], list[Known]]]:
    """The steps of each pass, what the last one hands on, and what all of them add to the stacked outputs."""
    names = [value.name for value in body.inputs]
    carried, stacked = start, list[Known]()
    passes: list[tuple[Step, ...]] = []
    for at in range(times):
        given = dict(zip(names, [pass_number(at), truth(), *carried]))
        ran, outputs = yield from walk.graph(body, Scope(scope.opsets, scope), given)
        carried, added = outputs[1 : 1 + len(start)], outputs[1 + len(start) :]
        stacked = [merged_known(old, new, VARIES) for old, new in zip(stacked, added)] if stacked else added
        passes.append(ran)
    return tuple(passes), carried, stacked


def in_all(steps: tuple[Step, ...], passes: tuple[tuple[Step, ...], ...]) -> tuple[Step, ...]:
    """The body's steps with what holds in every pass."""
    found = [reduce(_common, (step.outputs for step in column)) for column in zip(*passes)]
    return tuple(msgspec.structs.replace(step, outputs=known, gap=_gap(known)) for step, known in zip(steps, found))


def _common(old: tuple[Known, ...], new: tuple[Known, ...]) -> tuple[Known, ...]:
    return tuple(merged_known(one, other, VARIES) for one, other in zip(old, new))


def _gap(outputs: tuple[Known, ...]) -> str:
    return next((known.reason for known in outputs if known.kind == "tensor" and known.reason), "")
