"""What surely does nothing, operator by operator. `static`: the sizes on the card are those of every run."""

from typing import Final

import numpy as np

from onnx_autodoc.lint._case import Spot
from onnx_autodoc.ops import Known, judged

_TO_THE_END: Final = (1 << 31) - 1  # what exporters write for "all of it"


def numbers(spot: Spot, at: int, attribute: str = "") -> tuple[int, ...] | None:
    """Whole numbers that a node is given as an attribute or a constant; empty if it has none, None if not known."""
    named = spot.node.attributes.get(attribute)
    if isinstance(named, tuple):
        return tuple(item for item in named if isinstance(item, int))
    if at >= len(spot.node.inputs) or not spot.node.inputs[at]:
        return ()
    known = spot.input(at)
    if (
        known is None
        or known.value is None
        or known.value.dtype == object
        or not spot.scope.is_fixed(spot.node.inputs[at])
    ):
        return None
    return tuple(int(item) for item in known.value.reshape(-1).tolist())


def _rank(spot: Spot) -> int | None:
    known = spot.input(0)
    return len(known.shape) if known is not None and known.shape is not None else None


def _keeps_shape(before: Known | None, after: Known | None) -> bool:
    return (
        before is not None and after is not None and before.concrete is not None and before.concrete == after.concrete
    )


def always(spot: Spot, static: bool) -> bool:
    return True


def dropout(spot: Spot, static: bool) -> bool:
    """In inference: the third input is not given, or false; and nobody asks which numbers were kept."""
    node, version = spot.node, spot.step.version or 0
    asked = len(node.outputs) > 1 and (spot.scope.readers(node.outputs[1]) or node.outputs[1] in spot.scope.leaving)
    trains = numbers(spot, 2)
    return version >= 7 and not asked and trains is not None and not any(trains)


def cast(spot: Spot, static: bool) -> bool:
    before, after = spot.input(0), spot.output()
    return before is not None and after is not None and before.dtype is not None and before.dtype == after.dtype


def turned(spot: Spot, static: bool) -> bool:
    order, rank = spot.node.attributes.get("perm"), _rank(spot)
    return order == tuple(range(len(order))) if isinstance(order, tuple) else rank in (0, 1)


def reshape(spot: Spot, static: bool) -> bool:
    """To the sizes it has: they are copied one by one, but for one that is left over; or all are fixed."""
    if static and _keeps_shape(spot.input(0), spot.output()):
        return True
    target = numbers(spot, 1, "shape")
    if not target or spot.node.attributes.get("allowzero") or len(target) != _rank(spot):
        return False
    return sorted(target)[1:] == [0] * (len(target) - 1) and min(target) in (-1, 0) and max(target) in (-1, 0)


def flatten(spot: Spot, static: bool) -> bool:
    return _rank(spot) == 2 and spot.node.attributes.get("axis", 1) in (1, -1)


def cut(spot: Spot, static: bool) -> bool:
    """All along each axis, one by one."""
    starts, ends, steps = numbers(spot, 1, "starts"), numbers(spot, 2, "ends"), numbers(spot, 4)
    if not starts or not ends or steps is None or any(step != 1 for step in steps):
        return False
    whole = not any(starts) and all(end >= _TO_THE_END for end in ends)
    return whole or (static and _keeps_shape(spot.input(0), spot.output()))


def padded(spot: Spot, static: bool) -> bool:
    pads = numbers(spot, 1, "pads") or numbers(spot, 1, "paddings")
    return bool(pads) and not any(pads or ())


def lone(spot: Spot, static: bool) -> bool:
    """Joined with nothing, or split into one part."""
    parts = spot.node.outputs if spot.node.op == judged.SPLIT else spot.node.inputs
    return len(parts) == 1


def once(spot: Spot, static: bool) -> bool:
    """Repeated once along each axis."""
    if static and _keeps_shape(spot.input(0), spot.output()):
        return True
    times, rank = numbers(spot, judged.REPEATS[spot.node.op]), _rank(spot)
    named = times is not None and rank is not None and 0 < len(times) <= rank and len(spot.node.inputs) == 2
    return named and all(number == 1 for number in times or ())


def times_one(spot: Spot, static: bool) -> bool:
    return any(_is_one(spot, at) and _fits(spot, at, static) for at in judged.KEEPS_BY_ONE[spot.node.op])


def _is_one(spot: Spot, at: int) -> bool:
    known = spot.input(at)
    if known is None or known.value is None or known.value.dtype == object or not known.value.size:
        return False
    return spot.scope.is_fixed(spot.node.inputs[at]) and bool(np.all(known.value == 1))


def _fits(spot: Spot, at: int, static: bool) -> bool:
    """The ones do not make the other input larger."""
    ones, other = spot.input(at), spot.input(1 - at)
    if ones is None or other is None or ones.shape is None or other.shape is None:
        return False
    single = all(type(dim) is int and dim == 1 for dim in ones.shape) and len(ones.shape) <= len(other.shape)
    return single or (static and _keeps_shape(other, spot.output()))
