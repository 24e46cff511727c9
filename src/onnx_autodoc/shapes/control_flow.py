"""Nodes that run other graphs: If, Loop, Scan and SequenceMap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from onnx_autodoc.ir import Deep, Graph
from onnx_autodoc.ops import (
    Array,
    Call,
    Contradiction,
    Dim,
    InferenceError,
    Unknown,
    ValueInfo,
    normalize_axis,
    tensor_info,
    unknown_value,
)
from onnx_autodoc.shapes.merging import is_same, merge_passes, merge_values, reuse_unknown_dims
from onnx_autodoc.shapes.results import Body, Conflict, Step, skip_steps
from onnx_autodoc.shapes.scope import Scope, limit_hint, pass_work

if TYPE_CHECKING:
    from onnx_autodoc.shapes.walk import Walk

_MAX_PASSES: Final = 8  # until the sizes of a loop are stable
_TOO_MANY_PASSES: Final = "the loop runs more than {:,} times" + limit_hint("steps")
_VARIES: Final = "it changes between iterations of the loop"
_DIFFERENT_ITEMS: Final = "the tensors of the sequence differ in size"
_FIRST_WITHOUT_BATCH: Final = 9  # opset of Scan
_TRUE: Final = ValueInfo("bool", (), np.array(True))  # a body runs only while its condition holds

Result = tuple[Sequence[ValueInfo], tuple[Body, ...]]  # the outputs of a node, and the runs inside it


def _infer_if(walk: Walk, call: Call, scope: Scope) -> Deep[Result]:
    """Infer the branch that the condition selects; both branches if the condition depends on the data."""
    branches = {name: call.attr_graph(name) for name in ("then_branch", "else_branch")}
    call.single(0)
    condition = call.value(0)
    if condition is None or condition.dtype == object:
        return (yield from _infer_both(walk, branches, scope))
    taken = "then_branch" if condition.reshape(-1).any() else "else_branch"
    steps, outputs = yield from walk.graph(branches[taken], Scope(scope.opsets, scope), {})
    why = f"not run: the condition is {'true' if taken == 'then_branch' else 'false'}"
    return outputs, _branch_bodies(branches, taken, steps, why)


def _branch_bodies(branches: dict[str, Graph], taken: str, steps: tuple[Step, ...], why: str) -> tuple[Body, ...]:
    return tuple(
        Body(name, steps) if name == taken else Body(name, skip_steps(graph.nodes, why), 0)
        for name, graph in branches.items()
    )


def _infer_both(walk: Walk, branches: dict[str, Graph], scope: Scope) -> Deep[Result]:
    """Infer what holds for both branches; if only one of them can run, a model that runs takes that one."""
    runs = dict[str, tuple[tuple[Step, ...], list[ValueInfo], dict[Conflict, None]]]()
    for name, graph in branches.items():
        before, walk.contradictions = walk.contradictions, {}
        misdeclared = dict(walk.misdeclared)
        steps, outputs = yield from walk.graph(graph, Scope(scope.opsets, scope), {})
        runs[name] = steps, outputs, walk.contradictions
        if walk.contradictions:
            walk.misdeclared = misdeclared  # the branch is declared for other sizes
        walk.contradictions = before
    runnable = [name for name, (_, _, conflicts) in runs.items() if not conflicts]
    if len(runnable) == 1:
        steps, outputs, _ = runs[runnable[0]]
        walk.avoided |= {conflict: None for _, _, conflicts in runs.values() for conflict in conflicts}
        return outputs, _branch_bodies(branches, runnable[0], steps, "not run: this branch cannot run at these sizes")
    (_, one, conflicts), (_, other, other_conflicts) = runs.values()
    walk.contradictions |= conflicts | other_conflicts
    if len(one) != len(other):
        raise Contradiction(f"the branches of If have {len(one)} and {len(other)} outputs")
    why = "the branches of If produce different sizes, and which branch runs is data-dependent"
    merged = [merge_values(left, right, why) for left, right in zip(one, other, strict=True)]
    return merged, tuple(Body(name, steps, either=True) for name, (steps, _, _) in runs.items())


# Loops
def _infer_loop(walk: Walk, call: Call, scope: Scope) -> Deep[Result]:
    """Loop(trip count?, condition?, carried ...): the body is inferred once and counted as often as it runs."""
    body = call.attr_graph("body")
    names = [value.name for value in body.inputs]
    if len(names) != len(call.inputs) or len(names) < 2:
        raise Contradiction("Loop passes its body a different number of values than the body declares")
    for at in (0, 1):
        call.single(at)
    start = [call.input_info(at) for at in range(2, len(call.inputs))]
    fixed = {names[0]: _pass_number(None), names[1]: _TRUE}
    steps, carried, outputs = yield from _infer_stable_body(walk, body, scope, fixed, names[2:], start, 1)
    limit, condition = _trip_count(call), call.value(1) if call.has(1) else np.array(True)
    if condition is not None and condition.dtype == object:
        condition = None  # it depends on the data
    times = yield from _count_passes(walk, call, scope, body, outputs[0], limit, condition)
    last, added = outputs[1 : 1 + len(carried)], outputs[1 + len(carried) :]
    passes: tuple[tuple[Step, ...], ...] = ()
    if type(times) is int and _has_gap(steps, carried) and 0 < times * pass_work(body) <= walk.limits.unrolled_rules:
        passes, last, added = yield from _unroll(walk, body, scope, start, times)
        steps = merge_passes(steps, passes, _VARIES)
    is_surely_run = condition is not None and bool(condition.any())
    is_surely_run = is_surely_run and (limit is None or (type(limit) is int and limit > 0))
    if not is_surely_run:
        last = start if type(times) is int and times == 0 else carried
    stacked = [
        ValueInfo(known.dtype, None if known.shape is None else (times, *known.shape), why=known.why) for known in added
    ]
    return [*last, *stacked], (Body("body", steps, times, least=int(is_surely_run), passes=passes),)


def _infer_stable_body(
    walk: Walk,
    graph: Graph,
    scope: Scope,
    fixed: dict[str, ValueInfo],
    names: list[str],
    start: list[ValueInfo],
    first: int,
) -> Deep[tuple[tuple[Step, ...], list[ValueInfo], list[ValueInfo]]]:
    """Infer the body of a loop until its carried values are stable: what differs between passes becomes unknown.

    Carried are the inputs `names`, from `start` on, and the outputs from `first` on. Returns steps, carried, outputs.
    """
    carried, unknown = start, set[Dim]()
    for _ in range(_MAX_PASSES):
        inner = Scope(scope.opsets, scope)
        steps, outputs = yield from walk.graph(graph, inner, {**fixed, **dict(zip(names, carried))})
        after = outputs[first : first + len(names)]
        if len(after) != len(carried):
            raise Contradiction("the loop body returns a different number of carried values than it takes")
        merged = [
            reuse_unknown_dims(old, merge_values(old, new, _VARIES), unknown)
            for old, new in zip(carried, after, strict=True)
        ]
        if all(map(is_same, merged, carried)):
            return steps, carried, outputs
        carried = merged
    raise InferenceError("the sizes inside the loop do not converge")


def _has_gap(steps: tuple[Step, ...], carried: list[ValueInfo]) -> bool:
    """Whether the body of a loop leaves a size unknown, in a step or in a carried value."""
    return any(step.gap for step in steps) or any(
        bool(known.reason) if known.kind == "tensor" else known.items is None for known in carried
    )


def _unroll(
    walk: Walk, body: Graph, scope: Scope, start: list[ValueInfo], times: int
) -> Deep[tuple[tuple[tuple[Step, ...], ...], list[ValueInfo], list[ValueInfo]]]:
    """Return the steps of each pass, the carried values of the last one, and one slice of the stacked outputs."""
    names = [value.name for value in body.inputs]
    carried, stacked = start, list[ValueInfo]()
    passes: list[tuple[Step, ...]] = []
    for at in range(times):
        inputs = dict(zip(names, [_pass_number(at), _TRUE, *carried]))
        steps, outputs = yield from walk.graph(body, Scope(scope.opsets, scope), inputs)
        carried, added = outputs[1 : 1 + len(start)], outputs[1 + len(start) :]
        stacked = [merge_values(old, new, _VARIES) for old, new in zip(stacked, added)] if stacked else added
        passes.append(steps)
    return tuple(passes), carried, stacked


def _pass_number(at: int | None) -> ValueInfo:
    return ValueInfo("int64", (), None if at is None else np.array(at, np.int64), "the iteration number changes")


def _trip_count(call: Call) -> Dim | None:
    """Return the trip count of a loop; None if it has none."""
    if not call.has(0):
        return None
    value = call.value(0)
    if value is None:
        return Unknown(
            "the number of iterations is data-dependent: " + (call.input_info(0).why or "its trip count is computed")
        )
    item: Dim = value.reshape(-1).tolist()[0]
    return item if isinstance(item, Unknown) else max(int(item), 0)


def _count_passes(
    walk: Walk, call: Call, scope: Scope, body: Graph, goes_on: ValueInfo, limit: Dim | None, condition: Array | None
) -> Deep[Dim]:
    """Return the number of passes: the trip count, unless the condition ends the loop before."""
    if condition is not None and not condition.any():
        return 0
    if isinstance(limit, Unknown) or condition is None:
        return limit if isinstance(limit, Unknown) else Unknown("whether the loop runs is data-dependent")
    if goes_on.value is None:
        return (yield from _simulate_condition(walk, call, scope, body, limit))
    if goes_on.value.any():
        return limit if limit is not None else Unknown("the loop condition never becomes false")
    return 1 if limit is None else min(limit, 1)


def _simulate_condition(walk: Walk, call: Call, scope: Scope, body: Graph, limit: int | None) -> Deep[Dim]:
    """Infer only the nodes that the condition depends on, pass by pass, until it ends the loop."""
    names = [value.name for value in body.inputs]
    handed_on = [value.name for value in body.outputs[1 : len(names) - 1]]
    needed = _condition_nodes(body, dict(zip(names[2:], handed_on)))
    carried = [call.input_info(at) for at in range(2, len(call.inputs))]
    initializers = {tensor.name: tensor_info(tensor) for tensor in body.initializers}
    part = replace(body, nodes=tuple(body.nodes[at] for at in needed), value_info=())
    passes = walk.limits.trip_count_rules // max(pass_work(part), 1)
    for at in range(min(passes, limit) if limit is not None else passes):
        inner = Scope(scope.opsets, scope)
        inner.values.update(initializers)
        inner.values.update(zip(names, [_pass_number(at), _TRUE, *carried]))
        yield from walk.nodes(body.nodes, inner, needed)
        goes_on = inner.find(body.outputs[0].name)
        if walk.left <= 0:
            return Unknown(walk.spent)
        if goes_on is None or goes_on.value is None:
            return Unknown("the number of iterations is data-dependent: the loop condition is computed from data")
        if not goes_on.value.any():
            return at + 1
        carried = [inner.find(name) or unknown_value(_VARIES) for name in handed_on]
    return limit if limit is not None and limit <= passes else Unknown(_TOO_MANY_PASSES.format(passes))


def _condition_nodes(body: Graph, carried: dict[str, str]) -> list[int]:
    """Return the nodes that the condition depends on, also through the values that each pass hands to the next."""
    producers = body.index.producers
    pending, seen, nodes = [body.outputs[0].name], set[str](), set[int]()
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in carried:
            pending.append(carried[name])
        if name in producers:
            nodes.add(producers[name])
            pending.extend(item for item in body.nodes[producers[name]].all_inputs if item)
    return sorted(nodes)


# Scans
def _infer_scan(walk: Walk, call: Call, scope: Scope) -> Deep[Result]:
    """Scan(states ..., scanned ...): one pass for each element along the scanned axis.

    In opset 8 every tensor had a batch dimension in front, and an optional input of lengths came first.
    """
    body, scanned = call.attr_graph("body"), call.attr_required("num_scan_inputs")
    is_batched = call.opset < _FIRST_WITHOUT_BATCH
    inputs = [call.input_info(at) for at in range(1 if is_batched else 0, len(call.inputs))]
    names = [value.name for value in body.inputs]
    states = len(inputs) - scanned
    if states < 0 or len(names) != len(inputs):
        raise Contradiction("Scan passes its body a different number of values than the body declares")
    batch, times, slices = _slice_inputs(call, inputs[states:], is_batched)
    start = [_remove_axis(known, 0) if is_batched else known for known in inputs[:states]]
    fixed = dict(zip(names[states:], slices))
    steps, carried, outputs = yield from _infer_stable_body(walk, body, scope, fixed, names[:states], start, 0)
    added = outputs[states:]
    axes = _scan_axes(call, "scan_output_axes", len(added))
    stacked = [
        known if known.shape is None else _insert_axis(known, normalize_axis(axis, len(known.shape) + 1), times)
        for known, axis in zip(added, axes, strict=True)
    ]
    results = [_insert_axis(known, 0, batch) if is_batched else known for known in (*carried, *stacked)]
    return results, (Body("body", steps, times * batch if is_batched else times),)


def _slice_inputs(call: Call, scanned: list[ValueInfo], is_batched: bool) -> tuple[Dim, Dim, list[ValueInfo]]:
    """Return the batch, the number of passes, and the slice of each scanned input that one pass reads."""
    axes = _scan_axes(call, "scan_input_axes", len(scanned))
    batch: Dim = 1
    lengths, slices = list[Dim](), []
    for known, axis in zip(scanned, axes, strict=True):
        if is_batched and known.shape:
            batch, known = known.shape[0], _remove_axis(known, 0)
        if known.shape is not None:
            at = normalize_axis(axis, len(known.shape))
            lengths.append(known.shape[at])
            known = _remove_axis(known, at)
        slices.append(known)
    sizes = sorted({size for size in lengths if type(size) is int})
    if len(sizes) > 1:
        raise Contradiction(f"the scanned axes of Scan differ in size: {' and '.join(map(str, sizes))}")
    why = "the number of iterations of Scan is unknown: " + (
        scanned[0].reason if scanned else "it has no scanned inputs"
    )
    return batch, (sizes or lengths or [Unknown(why)])[0], slices


def _scan_axes(call: Call, name: str, count: int) -> tuple[int, ...]:
    axes = call.attr_ints(name) or (0,) * count
    if len(axes) != count:
        raise Contradiction(f"{name} of Scan has length {len(axes)}, not {count}")
    return axes


def _remove_axis(known: ValueInfo, axis: int) -> ValueInfo:
    if known.shape is None:
        return known
    return ValueInfo(known.dtype, (*known.shape[:axis], *known.shape[axis + 1 :]))


def _insert_axis(known: ValueInfo, axis: int, dim: Dim) -> ValueInfo:
    if known.shape is None:
        return known
    return ValueInfo(known.dtype, (*known.shape[:axis], dim, *known.shape[axis:]))


def _infer_sequence_map(walk: Walk, call: Call, scope: Scope) -> Deep[Result]:
    """SequenceMap(sequence, more ...): the body once for each element."""
    body = call.attr_graph("body")
    inputs = [call.input_info(at) for at in range(len(call.inputs))]
    names = [value.name for value in body.inputs]
    first = dict(zip(names, map(_sequence_item, inputs)))
    steps, outputs = yield from walk.graph(body, Scope(scope.opsets, scope), first)
    items = call.input_info(0).items
    if items is None:
        times = Unknown("the number of elements of the sequence is unknown")
        return [_sequence(known, None) for known in outputs], (Body("body", steps, times),)
    results = [_sequence(known, (known,) * len(items)) for known in outputs]
    if items and _has_gap(steps, []) and len(items) * pass_work(body) <= walk.limits.unrolled_rules:
        rows = []  # the outputs for each item, where the items differ in size
        for at in range(len(items)):
            item = dict(zip(names, [_sequence_item(known, at) for known in inputs]))
            rows.append((yield from walk.graph(body, Scope(scope.opsets, scope), item))[1])
        merge = partial(merge_values, why=_DIFFERENT_ITEMS)
        results = [_sequence(reduce(merge, column), column) for column in zip(*rows, strict=True)]
    return results, (Body("body", steps, len(items)),)


def _sequence_item(known: ValueInfo, at: int | None = None) -> ValueInfo:
    """Return an element of a sequence, or what all its elements have in common; any other value as it is."""
    if known.kind != "sequence":
        return known
    if known.items is not None and at is not None and at < len(known.items):
        return known.items[at]
    return known.element or unknown_value("the elements of the sequence are unknown")


def _sequence(element: ValueInfo, items: tuple[ValueInfo, ...] | None) -> ValueInfo:
    if element.kind != "tensor":
        return unknown_value("nested sequences are not supported by shape inference")
    return ValueInfo(
        element.dtype, None, kind="sequence", element=element, why="a sequence of tensors has no shape", items=items
    )


CONTROL: dict[str, Callable[[Walk, Call, Scope], Deep[Result]]] = {
    "If": _infer_if,
    "Loop": _infer_loop,
    "Scan": _infer_scan,
    "SequenceMap": _infer_sequence_map,
}
