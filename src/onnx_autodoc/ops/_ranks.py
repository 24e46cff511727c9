"""Inputs that must have a certain number of dimensions."""

from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._known import Contradiction, Shape


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
