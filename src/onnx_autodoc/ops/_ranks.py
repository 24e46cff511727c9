"""Inputs that must have a certain number of dimensions, or certain dimensions."""

from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._known import Contradiction, Dim, Shape, dims_text
from onnx_autodoc.ops._window import differ


def ranked(call: Call, at: int, rank: int) -> Shape:
    """The dims of an input that must have so many of them."""
    shape = call.shape(at)
    if len(shape) != rank:
        raise Contradiction(f"{call.node.op} wants {rank} dimensions in its input {at}, there are {len(shape)}")
    return shape


def deep(call: Call, at: int, rank: int = 1) -> Shape:
    """The dims of an input that must have so many of them, or more."""
    shape = call.shape(at)
    if len(shape) < rank:
        raise Contradiction(f"{call.node.op} wants {rank} dimensions in its input {at}, there are {len(shape)}")
    return shape


def sized(call: Call, at: int, *dims: Dim) -> None:
    """Stops at an input that has other dims than these; one that is left out or not known has none."""
    known = call.inputs[at] if at < len(call.inputs) else None
    shape = known.shape if known is not None else None
    if shape is not None and (len(shape) != len(dims) or any(map(differ, shape, dims))):
        raise Contradiction(f"{call.node.op} wants {dims_text(dims)} in its input {at}, there is {dims_text(shape)}")


def stretched(call: Call, at: int, target: Shape) -> None:
    """Stops at an input that cannot be broadcast to so many elements, and to no more."""
    known = call.inputs[at] if at < len(call.inputs) else None
    shape = known.shape if known is not None else None
    if shape is None:
        return
    fits = all(dim == 1 or not differ(dim, other) for dim, other in zip(shape[::-1], target[::-1]))
    if len(shape) > len(target) or not fits:
        raise Contradiction(f"{call.node.op} cannot broadcast {dims_text(shape)} to {dims_text(target)}")


def parted(call: Call, whole: Dim, parts: Dim, what: str) -> None:
    """Stops at a size that does not come out even."""
    if type(whole) is int and type(parts) is int and (parts < 1 or whole % parts):
        raise Contradiction(f"{call.node.op}'s {whole} {what} do not split into {parts}")
