"""Differences between the inputs and outputs of two models, and which of them break callers.

A wider input and a narrower output break nobody; the reverse breaks callers.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Card, Port
from onnx_autodoc.compare.types import PortChange
from onnx_autodoc.text import sanitize

_MAX_NAME_CHARS: Final = 60
_INPUT, _OUTPUT = "input", "output"
_REMOVED: Final = {
    _INPUT: "callers that pass it get an error",
    _OUTPUT: "callers that read it fail",
}
_ADDED: Final = {
    _INPUT: "existing callers do not pass it, and it has no default",
    _OUTPUT: "callers that do not request it are unaffected",
}
_REORDERED: Final = {
    _INPUT: "runtimes bind inputs by name",
    _OUTPUT: "breaks callers that read outputs by position, not by name",
}


class PortPairs(Struct, frozen=True):
    """`both` in the order of the first model; `reordered`: the second has them in another order."""

    both: tuple[tuple[Port, Port], ...]
    gone: tuple[Port, ...]
    added: tuple[Port, ...]
    reordered: bool


def pair_ports(was: tuple[Port, ...], now: tuple[Port, ...]) -> PortPairs:
    """Pair ports by name, then unpaired ones of equal type by position: those were renamed."""
    positions = {port.name: j for j, port in enumerate(now)}
    paired = {i: positions[port.name] for i, port in enumerate(was) if port.name in positions}
    same_names = list(paired.values())
    named = set(same_names)
    old = [i for i in range(len(was)) if i not in paired]
    new = [j for j in range(len(now)) if j not in named]
    candidates = zip(old, new) if len(old) == len(new) else ((i, i) for i in old if i in new)
    paired |= {i: j for i, j in candidates if _has_same_type(was[i], now[j])}
    matched = set(paired.values())
    return PortPairs(
        both=tuple((was[i], now[paired[i]]) for i in sorted(paired)),
        gone=tuple(was[i] for i in old if i not in paired),
        added=tuple(now[j] for j in new if j not in matched),
        reordered=same_names != sorted(same_names),
    )


def _has_same_type(old: Port, new: Port) -> bool:
    """Whether kind, dtype and rank are equal, and every dimension that both fix."""
    if (old.kind, old.dtype) != (new.kind, new.dtype) or (old.shape is None) != (new.shape is None):
        return False
    old_shape, new_shape = old.shape or (), new.shape or ()
    if len(old_shape) != len(new_shape):
        return False
    return all(a == b for a, b in zip(old_shape, new_shape) if isinstance(a, int) and isinstance(b, int))


def has_same_inputs(was: Card, now: Card) -> bool:
    """Whether both models have a common input, or no inputs at all."""
    old, new = was.interface.inputs, now.interface.inputs
    return bool(pair_ports(old, new).both) or not (old or new)


def resized_inputs(was: Card, now: Card) -> list[tuple[Port, Port]]:
    """Return common inputs that were bound to different sizes."""
    return [pair for pair in pair_ports(was.interface.inputs, now.interface.inputs).both if not _has_same_size(*pair)]


def _has_same_size(old: Port, new: Port) -> bool:
    if old.bound == new.bound:
        return True
    if old.bound is None or new.bound is None or len(old.bound) != len(new.bound):
        return False
    dims = zip(old.bound, new.bound, old.shape or (), new.shape or ())
    return all(a == b or (isinstance(was, int) and isinstance(now, int)) for a, b, was, now in dims)


def same_sizes(was: Card, now: Card) -> bool:
    """Whether costs of the two are comparable.

    Dimensions that both files fix belong to the models; a dynamic one must be bound to the same size in both.
    """
    values = was.assumptions.values.items()
    if any(now.assumptions.values.get(name, value) != value for name, value in values):
        return False
    return has_same_inputs(was, now) and not resized_inputs(was, now)


def interface_changes(was: Card, now: Card) -> tuple[PortChange, ...]:
    """Return the changes of inputs, then of outputs: removed, added, renamed, changed, reordered."""
    sides = (
        (_INPUT, was.interface.inputs, now.interface.inputs),
        (_OUTPUT, was.interface.outputs, now.interface.outputs),
    )
    return tuple(change for kind, old, new in sides for change in _side_changes(kind, pair_ports(old, new)))


def _side_changes(kind: str, pairs: PortPairs) -> Iterator[PortChange]:
    for port in pairs.gone:
        yield PortChange(kind, port.name, "removed", True, _format_type(port), None, _REMOVED[kind])
    for port in pairs.added:
        yield PortChange(kind, port.name, "added", kind == _INPUT, None, _format_type(port), _ADDED[kind])
    for old, new in pairs.both:
        if old.name != new.name:
            reason = "same type and position, but callers refer to it by name"
            yield PortChange(kind, old.name, "renamed", True, old.name, new.name, reason)
        yield from _type_changes(kind, old, new)
    if pairs.reordered:
        was, now = (", ".join(sanitize(port.name, _MAX_NAME_CHARS) for port in side) for side in zip(*pairs.both))
        yield PortChange(kind, "", "order", kind == _OUTPUT, was, now, _REORDERED[kind])


def _type_changes(kind: str, old: Port, new: Port) -> Iterator[PortChange]:
    if old.kind != new.kind:
        yield PortChange(kind, old.name, "container", True, old.kind, new.kind, "different kind of value")
    if old.dtype != new.dtype:
        reason = "existing callers pass the old type" if kind == _INPUT else "existing callers expect the old type"
        breaking, reason = _declaration_change(kind, old.dtype, new.dtype, "type") or (True, reason)
        yield PortChange(kind, old.name, "type", breaking, old.dtype, new.dtype, reason)
    if old.shape == new.shape:
        return
    if old.shape is None or new.shape is None or len(old.shape) != len(new.shape):
        reason = "different number of dimensions"
        breaking, reason = _declaration_change(kind, old.shape, new.shape, "shape") or (True, reason)
        yield PortChange(kind, old.name, "rank", breaking, _format_shape(old.shape), _format_shape(new.shape), reason)
        return
    for axis, dims in enumerate(zip(old.shape, new.shape)):
        if dims[0] != dims[1]:
            change, breaking, reason = _dimension_change(kind, *(isinstance(dim, int) for dim in dims))
            was, now = (None if dim is None else str(dim) for dim in dims)
            yield PortChange(kind, old.name, change, breaking, was, now, f"dimension {axis}: {reason}")


def _declaration_change(kind: str, was: object, now: object, field: str) -> tuple[bool, str] | None:
    """Return whether a declaration that was added or removed breaks callers, and why; None where both declare one."""
    if was is None:
        return kind == _INPUT, f"the {field} is now declared"
    return (kind == _OUTPUT, f"the {field} is no longer declared") if now is None else None


def _dimension_change(kind: str, was_fixed: bool, is_fixed: bool) -> tuple[str, bool, str]:
    if was_fixed and is_fixed:
        return "size", True, "different fixed size"
    if was_fixed:
        reason = "now accepts other sizes" if kind == _INPUT else "its size is no longer fixed"
        return "opened", kind == _OUTPUT, reason
    if is_fixed:
        reason = "no longer accepts other sizes" if kind == _INPUT else "its size is now fixed"
        return "fixed", kind == _INPUT, reason
    return "dimension name", False, "still dynamic"


def _format_shape(shape: tuple[int | str | None, ...] | None) -> str | None:
    if shape is None:
        return None
    return "[" + ", ".join("?" if dim is None else sanitize(str(dim), _MAX_NAME_CHARS) for dim in shape) + "]"


def _format_type(port: Port) -> str:
    container = "" if port.kind == "tensor" else f"{port.kind} of "
    return f"{container}{port.dtype or 'unknown type'} {_format_shape(port.shape) or '(shape not declared)'}"
