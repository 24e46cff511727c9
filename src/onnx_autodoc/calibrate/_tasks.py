"""A model as what onnxruntime runs on a CPU: kernels with their pace and amounts, from the graph alone."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from onnx_autodoc.blocks import Net, blocks
from onnx_autodoc.calibrate._amounts import price
from onnx_autodoc.calibrate._fusions import Group, fuse
from onnx_autodoc.calibrate._layout import Turned, reordered, widened
from onnx_autodoc.calibrate._level import Amounts, Level, bytes_of, moved
from onnx_autodoc.facts import Costs, Row
from onnx_autodoc.graph import Model
from onnx_autodoc.resolve import Shapes, open_axes

_JOINED = ("layer-norm", "rms-norm", "gelu", "silu")  # blocks that become one kernel, whoever wrote them out
_MOST_ROWS = 200_000


class Task(Struct, frozen=True):
    """One kernel over the whole run. `rows` are the nodes in it; none where onnxruntime itself put it in."""

    pace: str
    amounts: Amounts
    rows: tuple[int, ...] = ()


def tasks(model: Model, shapes: Shapes, costs: Costs) -> list[Task]:
    rows = list(enumerate(islice(costs.rows(), _MOST_ROWS)))
    net = blocks(model, shapes, [row.cost is not None for _, row in rows])
    groups, leaving = _groups(net), [value.name for value in model.graph.outputs]
    levels: dict[str, list[tuple[int, Row]]] = defaultdict(list)
    for at, row in rows:
        levels[row.scope].append((at, row))
    is_open = bool(open_axes(model))
    found = (_lowered(Level(level, [] if scope else leaving, is_open), groups) for scope, level in levels.items())
    return [task for level in found for task in level]


def _groups(net: Net) -> list[Group]:
    return [(term.op, tuple(term.rows)) for term in net.everything() if term.op in _JOINED and term.rows]


def _lowered(level: Level, groups: list[Group]) -> Iterator[Task]:
    fuse(level, groups)
    for turned in reordered(level):
        yield _written_anew("reorder", turned)
    for turned in widened(level):
        yield _written_anew("cast", turned)
    for at in level.kernels():
        pace, amounts = price(level, at)
        times = max(level.rows[at].times, 1)
        if pace:
            yield Task(pace, {"kernels": times, **_times(amounts, times)}, level.parts(at))


def _times(amounts: Amounts, times: int) -> Amounts:
    return {name: amount * times for name, amount in amounts.items() if amount}


def _written_anew(pace: str, turned: Turned) -> Task:
    known, times = turned
    return Task(pace, {"kernels": times, **_times(moved(2 * bytes_of(known)), times)})
