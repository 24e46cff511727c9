"""Rows that a table does not have: a sequence that is longer than the positions that a model has learned.

Sizes do not contradict each other there, and costs at such a size are what they would be; but the model cannot run at
it, so it is no default.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ops import Array, Known, kinds
from onnx_autodoc.shapes._shapes import Shapes, Step

_POSITIONS: Final = 3  # the table of a fused embedding that has a row for each place


def misses(shapes: Shapes) -> int:
    """How many steps look up rows that their table does not have, as far as it is known."""
    return sum(missed(step) for step in _each(shapes)) + sum(_counted_out(shapes.steps))


def _each(shapes: Shapes) -> Iterator[Step]:
    """Every step once, however often its body runs: calls of calls can ask for any number of rows."""
    waiting, seen = [shapes.steps], {id(shapes.steps)}
    while waiting:
        for step in waiting.pop():
            yield step
            fresh = [body.steps for body in step.bodies if id(body.steps) not in seen]
            seen.update(map(id, fresh))
            waiting.extend(fresh)


def missed(step: Step) -> bool:
    """Whether one does, by the numbers that it is given."""
    if step.node.op in kinds.EMBEDS:
        return _has_no_places(step, kinds.EMBEDS[step.node.op])
    known = step.inputs[1] if len(step.inputs) > 1 else None
    wanted = known.value if known is not None else None
    if wanted is None or not wanted.size or wanted.dtype.kind not in "iu":
        return False
    if step.node.op == kinds.LOOKUP_ND and wanted.ndim:
        depth = wanted.shape[-1]
        return any(_is_beyond(step, at, wanted[..., at]) for at in range(depth)) if depth else False
    rows = _rows(step)
    return rows is not None and int(wanted.max()) >= rows


def _is_beyond(step: Step, at: int, wanted: Array) -> bool:
    """Whether numbers for one of several axes go beyond it."""
    skipped = step.node.attributes.get("batch_dims", 0)
    size = _size(step, 0, at + skipped) if isinstance(skipped, int) else None
    return size is not None and int(wanted.max()) >= size


def _rows(step: Step) -> int | None:
    axis = step.node.attributes.get("axis", 0)
    return _size(step, 0, axis) if step.node.op in kinds.LOOKUPS and isinstance(axis, int) else None


def _size(step: Step, at: int, axis: int) -> int | None:
    known: Known | None = step.inputs[at] if at < len(step.inputs) else None
    dims = known.concrete if known is not None else None
    return dims[axis] if dims is not None and -len(dims) <= axis < len(dims) else None


def _has_no_places(step: Step, given: int) -> bool:
    """A fused embedding counts positions itself, or is given one for each token."""
    tokens, rows, positions = _size(step, 0, 1), _size(step, _POSITIONS, 0), _size(step, given, 1)
    if tokens is None or rows is None:
        return False
    return tokens > rows if positions is None else positions != tokens


def _counted_out(steps: tuple[Step, ...]) -> Iterator[bool]:
    """Positions may be counted from a mask: where all is seen, the last one is as high as there are places."""
    most: dict[str, float] = {}  # by value
    for step in steps:
        node = step.node
        counted = step.inputs[0] if node.op == kinds.COUNT and step.inputs else None
        if counted is not None and counted.concrete:
            most |= dict.fromkeys(node.outputs, max(counted.concrete))
        elif most and len(node.inputs) > 1 and node.inputs[1] in most and (rows := _rows(step)) is not None:
            yield most[node.inputs[1]] >= rows
        elif most and (passed := _passed(step, most)) is not None:
            most |= dict.fromkeys(node.outputs, passed)


def _passed(step: Step, most: dict[str, float]) -> float | None:
    """The highest number that comes of counted ones."""
    found = [most[name] for name in step.node.inputs if name in most]
    if not found or step.node.op not in kinds.COUNTED:
        return None
    by = [known.value for known in step.inputs if known is not None and known.value is not None]
    shift = float(by[0].max()) if by and by[0].size == 1 and by[0].dtype.kind in "iuf" else 0
    return max(found) + kinds.COUNTED[step.node.op] * shift
