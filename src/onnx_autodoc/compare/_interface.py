"""What callers of a model meet: inputs and outputs that came, went, or are otherwise; and whom that breaks.

An input may take more than it did and nobody notices; an output may promise more. The other way round breaks callers.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card, Port
from onnx_autodoc.compare._ports import Pairs, paired
from onnx_autodoc.compare._types import PortChange
from onnx_autodoc.text import clean

_MOST_NAME: Final = 60
_INPUT, _OUTPUT = "input", "output"


def interface_changes(was: Card, now: Card) -> tuple[PortChange, ...]:
    """Inputs, then outputs; of each what is gone, what came, what was renamed, and what changed in place."""
    sides = (
        (_INPUT, was.interface.inputs, now.interface.inputs),
        (_OUTPUT, was.interface.outputs, now.interface.outputs),
    )
    return tuple(change for kind, old, new in sides for change in _side(kind, paired(old, new)))


def _side(kind: str, pairs: Pairs) -> Iterator[PortChange]:
    for port in pairs.gone:
        yield _change(kind, port.name, "removed", True, _type(port), None, _REMOVED[kind])
    for port in pairs.added:
        yield _change(kind, port.name, "added", kind == _INPUT, None, _type(port), _ADDED[kind])
    for old, new in pairs.both:
        if old.name != new.name:
            text = "the same type at the same place; callers know it by its name"
            yield _change(kind, old.name, "renamed", True, old.name, new.name, text)
        yield from _port(kind, old, new)
    if pairs.moved:
        names = [[clean(port.name, _MOST_NAME) for port in side] for side in zip(*pairs.both)]
        yield _change(kind, "", "order", kind == _OUTPUT, ", ".join(names[0]), ", ".join(names[1]), _ORDER[kind])


_REMOVED: Final = {
    _INPUT: "callers that feed it are refused",
    _OUTPUT: "callers that read it get nothing",
}
_ADDED: Final = {
    _INPUT: "callers do not feed it, and it has no default",
    _OUTPUT: "callers that do not ask for it notice nothing",
}
_ORDER: Final = {
    _INPUT: "runtimes take inputs by name",
    _OUTPUT: "it breaks who reads outputs by their place, not who reads them by name",
}


def _port(kind: str, old: Port, new: Port) -> Iterator[PortChange]:
    if old.kind != new.kind:
        yield _change(kind, old.name, "container", True, old.kind, new.kind, "another kind of value")
    if old.dtype != new.dtype:
        yield _dtype(kind, old, new)
    if old.shape is None or new.shape is None:
        if old.shape != new.shape:
            yield _undeclared(kind, old, new)
    elif len(old.shape) != len(new.shape):
        yield _change(
            kind, old.name, "rank", True, shape_text(old.shape), shape_text(new.shape), "another number of dimensions"
        )
    else:
        for axis, (one, other) in enumerate(zip(old.shape, new.shape)):
            if one != other:
                yield _dim(kind, old, axis, one, other)


def _dtype(kind: str, old: Port, new: Port) -> PortChange:
    if old.dtype is None or new.dtype is None:
        narrower = (old.dtype is None) == (kind == _INPUT)
        text = "the type is declared now" if old.dtype is None else "the type is not declared any more"
        return _change(kind, old.name, "type", narrower, old.dtype, new.dtype, text)
    text = "callers feed another type" if kind == _INPUT else "callers read another type"
    return _change(kind, old.name, "type", True, old.dtype, new.dtype, text)


def _undeclared(kind: str, old: Port, new: Port) -> PortChange:
    """A shape that is not declared is one of which everything is open."""
    declared = old.shape is None
    text = "the shape is declared now" if declared else "the shape is not declared any more"
    return _change(
        kind, old.name, "rank", declared == (kind == _INPUT), shape_text(old.shape), shape_text(new.shape), text
    )


def _dim(kind: str, port: Port, axis: int, old: int | str | None, new: int | str | None) -> PortChange:
    was, now = (None if size is None else str(size) for size in (old, new))
    what, breaking, text = _verdict(kind, isinstance(old, int), isinstance(new, int))
    return _change(kind, port.name, what, breaking, was, now, f"dimension {axis}: {text}")


def _verdict(kind: str, was_fixed: bool, is_fixed: bool) -> tuple[str, bool, str]:
    if was_fixed and is_fixed:
        return "size", True, "another fixed size"
    if was_fixed:
        taken = "it takes other sizes, too" if kind == _INPUT else "its size is not certain any more"
        return "opened", kind == _OUTPUT, taken
    if is_fixed:
        return (
            "fixed",
            kind == _INPUT,
            "it takes no other size any more" if kind == _INPUT else "its size is certain now",
        )
    return "dimension name", False, "another name, open as before"


def shape_text(shape: tuple[int | str | None, ...] | None) -> str | None:
    if shape is None:
        return None
    return "[" + ", ".join("?" if dim is None else clean(str(dim), _MOST_NAME) for dim in shape) + "]"


def _type(port: Port) -> str:
    of = "" if port.kind == "tensor" else f"{port.kind} of "
    return f"{of}{port.dtype or 'unknown type'} {shape_text(port.shape) or '(shape not declared)'}"


def _change(
    kind: str, port: str, what: str, breaking: bool, was: str | None, now: str | None, reason: str
) -> PortChange:
    return PortChange(kind=kind, port=port, what=what, breaking=breaking, was=was, now=now, reason=reason)
