"""A model as what onnxruntime runs on a CPU: kernels with their pace and amounts, from the graph alone."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from onnx_autodoc.analysis import Costs, Row
from onnx_autodoc.ir import Model, label
from onnx_autodoc.ops import paces
from onnx_autodoc.patterns import Net, blocks
from onnx_autodoc.runtime.calibration._amounts import price
from onnx_autodoc.runtime.calibration._fusions import Group, fuse
from onnx_autodoc.runtime.calibration._layout import Turned, reordered, widened
from onnx_autodoc.runtime.calibration._level import Amounts, Level, bytes_of, moved
from onnx_autodoc.shapes import Shapes, open_axes

_JOINED = ("layer-norm", "rms-norm", "gelu", "silu")  # blocks that become one kernel, whoever wrote them out
_MOST_ROWS = 200_000


class Task(Struct, frozen=True):
    """One kernel over the whole run. `rows` are the nodes in it; none where onnxruntime itself put it in.

    `held`: bytes of its weights, once however often it runs, and nothing where another kernel had them before.
    """

    pace: str
    amounts: Amounts
    rows: tuple[int, ...] = ()
    held: float = 0.0


def tasks(model: Model, shapes: Shapes, costs: Costs) -> list[Task]:
    rows = list(enumerate(islice(costs.rows(), _MOST_ROWS)))
    net = blocks(model, shapes, [row.cost is not None for _, row in rows])
    groups, leaving = _groups(net), [value.name for value in model.graph.outputs]
    levels: dict[str, list[tuple[int, Row]]] = defaultdict(list)
    for at, row in rows:
        levels[row.scope].append((at, row))
    is_open, given, seen = bool(open_axes(model)), _given(model, rows), set[str]()
    found = (Level(level, [] if scope else leaving, is_open, given.get(scope, {})) for scope, level in levels.items())
    return [task for level in found for task in _lowered(level, groups, seen)]


def _given(model: Model, rows: Iterable[tuple[int, Row]]) -> dict[str, dict[str, str]]:
    """Constants that functions are given, by the place of the call: onnxruntime writes their nodes in its place."""
    functions = {function.key: function.inputs for function in model.functions}
    found: dict[str, dict[str, str]] = {}
    for _, row in rows:
        node, outer, flow = row.step.node, found.get(row.scope, {}), row.flow
        inside = functions.get((node.domain, node.op, node.overload))
        if inside is None or flow is None:
            continue
        pairs = zip(inside, node.inputs)
        held = {name: outer.get(own, own) for name, own in pairs if own and (own in outer or not flow.varies(own))}
        start = f"{row.scope}/" if row.scope else ""
        found.update((f"{start}{label(node, row.step.at)}/{body.name}", held) for body in row.step.bodies)
    return found


def _groups(net: Net) -> list[Group]:
    return [(term.op, tuple(term.rows)) for term in net.everything() if term.op in _JOINED and term.rows]


def _lowered(level: Level, groups: list[Group], seen: set[str]) -> Iterator[Task]:
    fuse(level, groups)
    for turned in reordered(level):
        yield _written_anew("reorder", turned)
    for turned in widened(level):
        yield _written_anew("cast", turned)
    for at in level.kernels():
        pace, amounts = price(level, at)
        times = max(level.rows[at].times, 1)
        if pace:
            held = amounts.get("weights", 0.0) if _is_new(level, at, seen) else 0.0
            yield Task(pace, {"kernels": times, **_times(amounts, times)}, level.parts(at), held)


def _is_new(level: Level, at: int, seen: set[str]) -> bool:
    """Whether no kernel before it has the same weights: the steps of a cell that is written out share theirs."""
    names, where = level.inputs(at), paces.SECOND_FACTOR.get(level.op(at), 1)
    if where >= len(names) or not level.fixed(at, names[where]):
        return True
    name = level.given.get(names[where], names[where])
    new = name not in seen
    seen.add(name)
    return new


def _times(amounts: Amounts, times: int) -> Amounts:
    return {name: amount * times for name, amount in amounts.items() if amount}


def _written_anew(pace: str, turned: Turned) -> Task:
    known, times = turned
    return Task(pace, {"kernels": times, **_times(moved(2 * bytes_of(known)), times)})
