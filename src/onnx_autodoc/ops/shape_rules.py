"""Shape rules that the rows of many operators share.

`dtype` is the element type of an output: the index of the input that has it, or its name.
"""

from collections.abc import Callable

from onnx_autodoc.ops.call import Call, broadcast, sizes_differ
from onnx_autodoc.ops.operator import ShapeRule
from onnx_autodoc.ops.values import Contradiction, Shape, ValueInfo, tensor


def same(call: Call) -> list[ValueInfo]:
    """Infer one output with the type and shape of the first input."""
    return [tensor(call.dtype(0), call.shape(0))]


def same_as(*inputs: int) -> ShapeRule:
    """Return a rule whose outputs have the types and shapes of these inputs."""
    return lambda call: [tensor(call.dtype(at), call.shape(at)) for at in inputs]


def one_output(shape: Callable[[Call], Shape], dtype: int | str = 0) -> ShapeRule:
    """Return the rule of an operator with one output."""
    return lambda call: [tensor(call.dtype(dtype) if isinstance(dtype, int) else dtype, shape(call))]


def shape_of(at: int, dtype: int | str) -> ShapeRule:
    """Return a rule whose output has the shape of an input and another type."""
    return one_output(lambda call: call.shape(at), dtype)


def broadcast_of(*inputs: int, dtype: int | str = 0) -> ShapeRule:
    return one_output(lambda call: broadcast(*(call.shape(at) for at in inputs)), dtype)


def product_of(a: int = 0, b: int = 1, dtype: int | str = 0) -> ShapeRule:
    """Return the rule of a matrix product of two inputs."""
    return one_output(lambda call: product_shape(call.shape(a), call.shape(b)), dtype)


def product_shape(a: Shape, b: Shape) -> Shape:
    """Return [..., M, N] of [..., M, K] @ [..., K, N]; a vector on either side loses its dimension."""
    if not a or not b:
        raise Contradiction("a matrix product requires rank 1 or more, got a scalar")
    left = a if len(a) > 1 else (1, *a)
    right = b if len(b) > 1 else (*b, 1)
    if sizes_differ(left[-1], right[-2]):
        raise Contradiction(f"the inner dimensions of a matrix product differ: {left[-1]} and {right[-2]}")
    rows = left[-2:-1] if len(a) > 1 else ()
    columns = right[-1:] if len(b) > 1 else ()
    return (*broadcast(left[:-2], right[:-2]), *rows, *columns)


def gemm_shape(call: Call, a_at: int = 0, b_at: int = 1) -> Shape:
    a, b = call.shape(a_at), call.shape(b_at)
    if len(a) != 2 or len(b) != 2:
        raise Contradiction(f"Gemm requires rank 2, got ranks {len(a)} and {len(b)}")
    a = a[::-1] if call.attr_int("transA", 0) else a
    b = b[::-1] if call.attr_int("transB", 0) else b
    return product_shape(a, b)
