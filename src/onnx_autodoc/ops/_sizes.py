"""Numbers that a node takes from the elements of an input: sizes, places, scales."""

from collections.abc import Sequence

from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._known import Contradiction, Dim, Shape, Unknown


def numbers(call: Call, at: int) -> Sequence[float | Unknown]:
    """The elements of an input that lists numbers, whole or not."""
    return call.ints(at)


def sizes(call: Call, at: int) -> Shape:
    """The elements of an input that lists sizes."""
    return tuple(_size(call, at, item) for item in numbers(call, at))


def one_size(call: Call, at: int) -> Dim:
    """The only element of an input that is a size."""
    return _size(call, at, one_integer(call, at))


def one_integer(call: Call, at: int) -> Dim:
    """The only element of an input that is an integer."""
    return _integer(call, at, call.one(at))


def _integer(call: Call, at: int, item: float | Unknown) -> Dim:
    if not isinstance(item, (int, Unknown)) or isinstance(item, bool):
        raise Contradiction(f"{call.node.op} wants integers in its input {at}, there is {item}")
    return item


def _size(call: Call, at: int, item: float | Unknown) -> Dim:
    found = _integer(call, at, item)
    if isinstance(found, int) and found < 0:
        raise Contradiction(f"{call.node.op}'s input {at} asks for a size of {found}")
    return found
