"""Loops over the elements of tensors and sequences: Scan and SequenceMap."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from onnx_autodoc.ir import Deep
from onnx_autodoc.ops import Call, Contradiction, Dim, Shape, Unknown, ValueInfo, normalize_axis, unknown_value
from onnx_autodoc.shapes.loop_passes import is_open, merged_known, settled
from onnx_autodoc.shapes.results import Body
from onnx_autodoc.shapes.scope import Scope, weight

if TYPE_CHECKING:
    from onnx_autodoc.shapes.walk import Walk

_FIRST_WITHOUT_BATCH = 9


def scan(walk: Walk, call: Call, scope: Scope) -> Deep[tuple[Sequence[ValueInfo], tuple[Body, ...]]]:
    """Scan(states ..., scanned ...): one pass for each element along the scanned axis.

    In opset 8 every tensor had a batch dimension in front, and an optional input of lengths came first.
    """
    body, scanned = call.attr_graph("body"), call.attr_required("num_scan_inputs")
    batched = call.opset < _FIRST_WITHOUT_BATCH
    inputs = [call.known(at) for at in range(1 if batched else 0, len(call.inputs))]
    names = [value.name for value in body.inputs]
    states = len(inputs) - scanned
    if states < 0 or len(names) != len(inputs):
        raise Contradiction("a Scan hands its body another number of values than it takes")
    batch, times, slices = _slices(call, inputs[states:], batched)
    start = [_without(known, 0) if batched else known for known in inputs[:states]]
    fixed = dict(zip(names[states:], slices))
    steps, carried, outputs = yield from settled(walk, body, scope, fixed, names[:states], start, 0)
    added = outputs[states:]
    axes = _axes(call, "scan_output_axes", len(added))
    stacked = [_stacked(known, axis, times) for known, axis in zip(added, axes, strict=True)]
    results = [_with(known, 0, batch) if batched else known for known in (*carried, *stacked)]
    return results, (Body("body", steps, times * batch if batched else times),)


def _slices(call: Call, scanned: list[ValueInfo], batched: bool) -> tuple[Dim, Dim, list[ValueInfo]]:
    """The batch, the number of passes, and what one pass sees of each scanned input."""
    axes = _axes(call, "scan_input_axes", len(scanned))
    batch: Dim = 1
    why = "how often the Scan runs is not known: " + (scanned[0].reason if scanned else "it scans nothing")
    lengths, slices = list[Dim](), []
    for known, axis in zip(scanned, axes, strict=True):
        if batched and known.shape:
            batch, known = known.shape[0], _without(known, 0)
        if known.shape is not None:
            at = normalize_axis(axis, len(known.shape))
            lengths.append(known.shape[at])
            known = _without(known, at)
        slices.append(known)
    return batch, _one_length(lengths, why), slices


def _one_length(lengths: list[Dim], why: str) -> Dim:
    sizes = sorted({size for size in lengths if type(size) is int})
    if len(sizes) > 1:
        raise Contradiction(f"a Scan goes along axes of {' and '.join(map(str, sizes))} elements at once")
    return sizes[0] if sizes else lengths[0] if lengths else Unknown(why)


def _axes(call: Call, name: str, count: int) -> tuple[int, ...]:
    axes = call.attr_ints(name) or (0,) * count
    if len(axes) != count:
        raise Contradiction(f"a Scan has {len(axes)} {name} for {count} values")
    return axes


def _stacked(known: ValueInfo, axis: int, times: Dim) -> ValueInfo:
    return known if known.shape is None else _with(known, normalize_axis(axis, len(known.shape) + 1), times)


def _without(known: ValueInfo, axis: int) -> ValueInfo:
    if known.shape is None:
        return known
    return ValueInfo(known.dtype, (*known.shape[:axis], *known.shape[axis + 1 :]))


def _with(known: ValueInfo, axis: int, dim: Dim) -> ValueInfo:
    if known.shape is None:
        return known
    shape: Shape = (*known.shape[:axis], dim, *known.shape[axis:])
    return ValueInfo(known.dtype, shape)


def sequence_map(walk: Walk, call: Call, scope: Scope) -> Deep[tuple[Sequence[ValueInfo], tuple[Body, ...]]]:
    """SequenceMap(sequence, more ...): the body once for each element."""
    body = call.attr_graph("body")
    given = [_element(call.known(at)) for at in range(len(call.inputs))]
    names = [value.name for value in body.inputs]
    steps, outputs = yield from walk.graph(body, Scope(scope.opsets, scope), dict(zip(names, given)))
    items = call.known(0).items
    if items is None:
        times = Unknown("how many elements the sequence has is not known")
        return [_sequence(known, None) for known in outputs], (Body("body", steps, times),)
    results = [_sequence(known, (known,) * len(items)) for known in outputs]
    if items and is_open(steps, []) and len(items) * weight(body) <= walk.work.replayed:
        results = yield from _each(walk, call, scope, len(items))
    return results, (Body("body", steps, len(items)),)


def _each(walk: Walk, call: Call, scope: Scope, count: int) -> Deep[list[ValueInfo]]:
    """The body followed element by element, where they differ in size."""
    body = call.attr_graph("body")
    rows = list[list[ValueInfo]]()
    for at in range(count):
        given = [_element(call.known(i), at) for i in range(len(call.inputs))]
        names = [value.name for value in body.inputs]
        _, outputs = yield from walk.graph(body, Scope(scope.opsets, scope), dict(zip(names, given)))
        rows.append(outputs)
    return [_sequence(reduce(_common, column), column) for column in zip(*rows, strict=True)]


def _common(one: ValueInfo, other: ValueInfo) -> ValueInfo:
    return merged_known(one, other, "the tensors of the sequence differ in size")


def _element(known: ValueInfo, at: int | None = None) -> ValueInfo:
    """What one pass sees of an input: an element of a sequence (which, or what all share), or the whole tensor."""
    if known.kind != "sequence":
        return known
    if known.items is not None and at is not None and at < len(known.items):
        return known.items[at]
    return known.element or unknown_value("the elements of the sequence are not known")


def _sequence(element: ValueInfo, items: tuple[ValueInfo, ...] | None) -> ValueInfo:
    if element.kind != "tensor":
        return unknown_value("a sequence of sequences is not followed")
    return ValueInfo(element.dtype, None, kind="sequence", element=element, why="a sequence of tensors", items=items)
