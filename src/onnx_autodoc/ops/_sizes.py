"""Numbers that a node takes from the elements of an input: sizes, places, scales."""

from collections.abc import Sequence

from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._known import Contradiction, Dim, NotKnown, Shape, Unknown

_MOST = 64  # numbers in one list: no tensor has more dimensions


def numbers(call: Call, at: int) -> Sequence[float | Unknown]:
    """The elements of an input that lists numbers; where only their count is known, that many unknown ones."""
    known = call.known(at)
    if known.value is not None:
        return known.value.reshape(-1).tolist()
    shape = call.shape(at)
    count = shape[0] if shape else 1
    if isinstance(count, Unknown):
        raise NotKnown(count.why)
    if len(shape) > 1 or count > _MOST:
        raise Contradiction(f"{call.node.op}'s input {at} should list sizes, it has the dims {shape}")
    why = known.why or f"the value of {call.node.op}'s input {at} is only known when the model runs"
    return tuple(Unknown(why) for _ in range(count))


def sizes(call: Call, at: int) -> Shape:
    """The elements of an input that lists sizes."""
    return tuple(_size(call, at, item) for item in numbers(call, at))


def one_size(call: Call, at: int) -> Dim:
    """The only element of an input that is a size."""
    return _size(call, at, one_integer(call, at))


def one_integer(call: Call, at: int) -> Dim:
    """The only element of an input that is an integer."""
    found = numbers(call, at)
    if len(found) != 1:
        raise Contradiction(f"{call.node.op} wants one number in its input {at}, there are {len(found)}")
    return _integer(call, at, found[0])


def _integer(call: Call, at: int, item: float | Unknown) -> Dim:
    if not isinstance(item, (int, Unknown)) or isinstance(item, bool):
        raise Contradiction(f"{call.node.op} wants integers in its input {at}, there is {item}")
    return item


def _size(call: Call, at: int, item: float | Unknown) -> Dim:
    found = _integer(call, at, item)
    if isinstance(found, int) and found < 0:
        raise Contradiction(f"{call.node.op}'s input {at} asks for a size of {found}")
    return found
