"""Nodes that run other graphs: If, Loop, Scan and SequenceMap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from onnx_autodoc.ir import Deep, Graph
from onnx_autodoc.ops import Array, Call, Contradiction, Dim, Unknown, ValueInfo, tensor_info, unknown_value
from onnx_autodoc.shapes.loop_passes import VARIES, in_all, is_open, merged_known, pass_number, replay, settled, truth
from onnx_autodoc.shapes.results import Body, Conflict, Step
from onnx_autodoc.shapes.scan import scan, sequence_map
from onnx_autodoc.shapes.scope import Scope, raised_by, weight

if TYPE_CHECKING:
    from onnx_autodoc.shapes.walk import Walk

_MORE = "the loop runs more than {:,} times" + raised_by("steps")

Result = tuple[Sequence[ValueInfo], tuple[Body, ...]]
Tried = tuple[tuple[Step, ...], list[ValueInfo], dict[Conflict, None]]


def _if(walk: Walk, call: Call, scope: Scope) -> Deep[Result]:
    """The branch that the condition picks; both where only the data decides."""
    branches = {name: call.attr_graph(name) for name in ("then_branch", "else_branch")}
    call.single(0)
    condition = call.value(0)
    if condition is None or condition.dtype == object:
        return (yield from _either(walk, branches, scope))
    taken = "then_branch" if condition.reshape(-1).any() else "else_branch"
    steps, outputs = yield from walk.graph(branches[taken], Scope(scope.opsets, scope), {})
    why = f"not run: the condition is {'true' if taken == 'then_branch' else 'false'}"
    return outputs, _bodies(walk, branches, taken, steps, why)


def _bodies(walk: Walk, branches: dict[str, Graph], taken: str, steps: tuple[Step, ...], why: str) -> tuple[Body, ...]:
    return tuple(
        Body(name, steps) if name == taken else Body(name, walk.untaken(graph, why), 0)
        for name, graph in branches.items()
    )


def _either(walk: Walk, branches: dict[str, Graph], scope: Scope) -> Deep[Result]:
    """What holds for both branches, or for the one that can run at all: a model that runs takes no other."""
    runs = dict[str, Tried]()
    for name, graph in branches.items():
        runs[name] = yield from _tried(walk, graph, scope)
    able = [name for name, (_, _, wrong) in runs.items() if not wrong]
    if len(able) == 1:
        steps, outputs, _ = runs[able[0]]
        walk.avoided |= {conflict: None for _, _, wrong in runs.values() for conflict in wrong}
        return outputs, _bodies(walk, branches, able[0], steps, "not run: this branch cannot run at these sizes")
    (_, one, wrong), (_, other, more) = runs.values()
    walk.contradictions |= wrong | more
    if len(one) != len(other):
        raise Contradiction(f"If has {len(one)} outputs in one branch and {len(other)} in the other")
    why = "the branches of If give different sizes, and the data decides which one runs"
    merged = [merged_known(left, right, why) for left, right in zip(one, other, strict=True)]
    return merged, tuple(Body(name, steps, either=True) for name, (steps, _, _) in runs.items())


def _tried(walk: Walk, graph: Graph, scope: Scope) -> Deep[Tried]:
    """A branch that may not be the one that runs, and what in it contradicts itself."""
    before, walk.contradictions = walk.contradictions, {}
    misdeclared = dict(walk.misdeclared)
    steps, outputs = yield from walk.graph(graph, Scope(scope.opsets, scope), {})
    wrong, walk.contradictions = walk.contradictions, before
    if wrong:
        walk.misdeclared = misdeclared  # what the file declares holds for the sizes it was made for
    return steps, outputs, wrong


def _loop(walk: Walk, call: Call, scope: Scope) -> Deep[Result]:
    """Loop(trip count?, condition?, carried ...): the body is resolved once, and counted as often as it runs."""
    body = call.attr_graph("body")
    names = [value.name for value in body.inputs]
    if len(names) != len(call.inputs) or len(names) < 2:
        raise Contradiction("a Loop hands its body another number of values than it takes")
    for at in (0, 1):
        call.single(at)
    start = [call.known(at) for at in range(2, len(call.inputs))]
    fixed = {names[0]: pass_number(None), names[1]: truth()}
    steps, carried, outputs = yield from settled(walk, body, scope, fixed, names[2:], start, 1)
    times = yield from _times(walk, call, scope, body, outputs[0])
    last, added = outputs[1 : 1 + len(carried)], outputs[1 + len(carried) :]
    passes: tuple[tuple[Step, ...], ...] = ()
    if type(times) is int and is_open(steps, carried) and 0 < times * weight(body) <= walk.work.replayed:
        passes, last, added = yield from replay(walk, body, scope, start, times)
        steps = in_all(steps, passes)
    runs = _surely_runs(call)
    after = last if runs else _after_loop(times, start, carried)
    scans = [_stacked(known, times) for known in added]
    return [*after, *scans], (Body("body", steps, times, least=int(runs), passes=passes),)


def _after_loop(times: Dim, start: list[ValueInfo], carried: list[ValueInfo]) -> list[ValueInfo]:
    """A loop that never runs hands on what it was given."""
    return start if type(times) is int and times == 0 else carried


def _starts(call: Call) -> Array | None:
    """The condition that a loop begins with, where it is known."""
    held = call.value(1) if call.has(1) else np.array(True)
    return None if held is None or held.dtype == object else held


def _surely_runs(call: Call) -> bool:
    """Then what comes out is what a pass hands on, however the loop was started."""
    held = _starts(call)
    most = _trip_count(call)
    return held is not None and bool(held.any()) and (most is None or (type(most) is int and most > 0))


def _stacked(known: ValueInfo, times: Dim) -> ValueInfo:
    return ValueInfo(known.dtype, None if known.shape is None else (times, *known.shape), why=known.why)


def _times(walk: Walk, call: Call, scope: Scope, body: Graph, goes_on: ValueInfo) -> Deep[Dim]:
    """How often the body runs: the trip count, unless the condition ends it before."""
    most = _trip_count(call)
    held = _starts(call)
    if held is not None and not held.any():
        return 0
    if isinstance(most, Unknown) or held is None:
        return most if isinstance(most, Unknown) else Unknown("the data decides whether the loop runs")
    if goes_on.value is not None:
        if goes_on.value.any():
            return most if most is not None else Unknown("the loop's condition never ends it")
        return 1 if most is None else min(most, 1)
    return (yield from _simulated(walk, call, scope, body, most))


def _trip_count(call: Call) -> Dim | None:
    """The loop's first input: a number, not given, or not known."""
    if not call.has(0):
        return None
    value = call.value(0)
    if value is None:
        return Unknown(
            "how often the loop runs depends on the data: " + (call.known(0).why or "its trip count is computed")
        )
    item: Dim = value.reshape(-1).tolist()[0]
    return item if isinstance(item, Unknown) else max(int(item), 0)


def _simulated(walk: Walk, call: Call, scope: Scope, body: Graph, most: int | None) -> Deep[Dim]:
    """Run only the nodes that the condition hangs on, pass by pass, until it ends the loop."""
    names = [value.name for value in body.inputs]
    handed = [value.name for value in body.outputs[1 : len(names) - 1]]
    needed = _condition_nodes(body, dict(zip(names[2:], handed)))
    carried = [call.known(at) for at in range(2, len(call.inputs))]
    held = {tensor.name: tensor_info(tensor) for tensor in body.initializers}
    passes = walk.work.simulated // max(_weight(body, needed), 1)
    for at in range(min(passes, most) if most is not None else passes):
        inner = Scope(scope.opsets, scope)
        given = dict(zip(names, [pass_number(at), truth(), *carried]))
        inner.values.update(held)
        inner.values.update(given)
        yield from walk.nodes(body.nodes, inner, needed)
        goes_on = inner.find(body.outputs[0].name)
        if walk.left <= 0:
            return Unknown(walk.spent)
        if goes_on is None or goes_on.value is None:
            return Unknown("how often the loop runs depends on the data: its condition is computed from them")
        if not goes_on.value.any():
            return at + 1
        carried = [inner.find(name) or unknown_value(VARIES) for name in handed]
    return most if most is not None and most <= passes else Unknown(_MORE.format(passes))


def _weight(body: Graph, needed: list[int]) -> int:
    """What a pass through some of a body's nodes takes."""
    return weight(msgspec.structs.replace(body, nodes=tuple(body.nodes[at] for at in needed), value_info=()))


def _condition_nodes(body: Graph, carried: dict[str, str]) -> list[int]:
    """The nodes that the condition hangs on, through the values that each pass hands to the next."""
    producers = body.index.producers
    wanted, seen, nodes = [body.outputs[0].name], set[str](), set[int]()
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in carried:
            wanted.append(carried[name])
        if name in producers:
            nodes.add(producers[name])
            wanted.extend(item for item in body.nodes[producers[name]].all_inputs if item)
    return sorted(nodes)


CONTROL: dict[str, Callable[[Walk, Call, Scope], Deep[Result]]] = {
    "If": _if,
    "Loop": _loop,
    "Scan": scan,
    "SequenceMap": sequence_map,
}
