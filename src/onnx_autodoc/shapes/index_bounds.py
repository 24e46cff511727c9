"""Indices out of bounds: a sequence longer than the learned position embeddings.

Such sizes contradict no shape, and costs at them are well defined; but the model cannot run at them, so they are no
default.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ops import Array, Trait, ValueInfo, has_trait, operator_of
from onnx_autodoc.shapes.results import Shapes, Step

_POSITION_TABLE: Final = 3  # input of a fused embedding


def count_out_of_bounds(shapes: Shapes) -> int:
    """Count the steps that are known to look up rows that their table does not have."""
    return sum(map(is_out_of_bounds, _unique_steps(shapes))) + sum(_positions_out_of_bounds(shapes.steps))


def _unique_steps(shapes: Shapes) -> Iterator[Step]:
    """Yield every step once, however often its body is called: nested calls can repeat it exponentially."""
    pending, seen = [shapes.steps], {id(shapes.steps)}
    while pending:
        for step in pending.pop():
            yield step
            fresh = [body.steps for body in step.bodies if id(body.steps) not in seen]
            seen.update(map(id, fresh))
            pending.extend(fresh)


def is_out_of_bounds(step: Step) -> bool:
    """Whether a step with known indices looks up rows that its table does not have."""
    positions_at = operator_of(step.node).position_input
    if positions_at is not None:
        return _lacks_positions(step, positions_at)
    known = step.inputs[1] if len(step.inputs) > 1 else None
    indices = known.value if known is not None else None
    if indices is None or not indices.size or indices.dtype.kind not in "iu":
        return False
    if step.node.is_op("GatherND") and indices.ndim:
        return any(_exceeds_axis(step, at, indices[..., at]) for at in range(indices.shape[-1]))
    rows = _table_rows(step)
    return rows is not None and int(indices.max()) >= rows


def _exceeds_axis(step: Step, at: int, indices: Array) -> bool:
    """Whether indices of one of several axes exceed its size."""
    skipped = step.node.attributes.get("batch_dims", 0)
    size = _size(step, 0, at + skipped) if isinstance(skipped, int) else None
    return size is not None and int(indices.max()) >= size


def _table_rows(step: Step) -> int | None:
    axis = step.node.attributes.get("axis", 0)
    return _size(step, 0, axis) if has_trait(step.node, Trait.PICKS_ROWS) and isinstance(axis, int) else None


def _size(step: Step, at: int, axis: int) -> int | None:
    known: ValueInfo | None = step.inputs[at] if at < len(step.inputs) else None
    dims = known.concrete if known is not None else None
    return dims[axis] if dims is not None and -len(dims) <= axis < len(dims) else None


def _lacks_positions(step: Step, positions_at: int) -> bool:
    """Whether a fused embedding has too few positions; it counts them, or has one for each token as an input."""
    tokens, rows, positions = _size(step, 0, 1), _size(step, _POSITION_TABLE, 0), _size(step, positions_at, 1)
    if tokens is None or rows is None:
        return False
    return tokens > rows if positions is None else positions != tokens


def _positions_out_of_bounds(steps: tuple[Step, ...]) -> Iterator[bool]:
    """Yield whether positions that are counted from a full mask exceed the table that they index."""
    highest: dict[str, float] = {}  # position, by value
    for step in steps:
        node = step.node
        counted = step.inputs[0] if node.is_op("CumSum") and step.inputs else None
        if counted is not None and counted.concrete:
            highest |= dict.fromkeys(node.outputs, max(counted.concrete))
        elif highest and len(node.inputs) > 1 and node.inputs[1] in highest and (rows := _table_rows(step)) is not None:
            yield highest[node.inputs[1]] >= rows
        elif highest and (shifted := _shift_position(step, highest)) is not None:
            highest |= dict.fromkeys(node.outputs, shifted)


def _shift_position(step: Step, highest: dict[str, float]) -> float | None:
    """Return the highest position after a node that shifts positions."""
    positions = [highest[name] for name in step.node.inputs if name in highest]
    position_shift = operator_of(step.node).position_shift
    if not positions or position_shift is None:
        return None
    by = [known.value for known in step.inputs if known is not None and known.value is not None]
    shift = float(by[0].max()) if by and by[0].size == 1 and by[0].dtype.kind in "iuf" else 0
    return max(positions) + position_shift * shift
