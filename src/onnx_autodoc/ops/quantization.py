"""Between floating point and few bits: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear."""

from onnx_autodoc.ir import dtype_name
from onnx_autodoc.ops._call import Call, axis_of, size
from onnx_autodoc.ops._cost import Cost
from onnx_autodoc.ops._known import Contradiction, Known, Shape, tensor
from onnx_autodoc.ops._operator import Operator, scales, weights
from onnx_autodoc.ops._ranks import sized
from onnx_autodoc.ops._window import ceil_div

_ALONG_AN_AXIS = 13  # the version since which there may be many scales


def _quantize(call: Call) -> list[Known]:
    """The zero point decides the type; without one, the attribute (opset 21), else uint8."""
    named = dtype_name(call.attr_int("output_dtype", 0))
    dtype = call.dtype(2) if call.has(2) else named or "uint8"
    if named and dtype and named != dtype:
        raise Contradiction(f"{call.node.op} to {named} with a zero point of {dtype}")
    _check_scales(call)
    return [tensor(dtype, call.shape(0))]


def _dequantize(call: Call) -> list[Known]:
    dtype = dtype_name(call.attr_int("output_dtype", 0)) or call.dtype(1)
    _check_scales(call)
    return [tensor(dtype, call.shape(0))]


def _check_scales(call: Call) -> None:
    """One scale for all, one for each place along an axis, or one for each block along it; zero points as scales."""
    x, scale = call.shape(0), call.known(1).shape
    if call.node.domain or call.version is None or call.version < _ALONG_AN_AXIS or scale is None:
        return
    block = call.attr_int("block_size", 0)
    if block > 0:
        axis = axis_of(call.attr_int("axis", 1), len(x))
        blocks = (*x[:axis], ceil_div(x[axis], block), *x[axis + 1 :])
        sized(call, 1, *blocks)
        sized(call, 2, *blocks)
    elif len(scale) != 1 or (type(scale[0]) is int and scale[0] != 1):
        _check_along(call, x, scale)


def _check_along(call: Call, x: Shape, scale: Shape) -> None:
    if not scale:
        return
    axis = call.attr_int("axis", 1)
    if axis >= len(x) and call.attribute("axis") is None:
        return  # the default, on a bias: runtimes that fuse it never ask
    along = x[axis_of(axis, len(x))]
    sized(call, 1, along)
    sized(call, 2, along)


def _dynamic_quantize(call: Call) -> list[Known]:
    return [tensor("uint8", call.shape(0)), tensor("float32", ()), tensor("uint8", ())]


def _quantize_cost(call: Call) -> Cost:
    """2 per element of the output: scale, round; 1 more for a zero point. Limiting to its range is not counted"""
    return Cost(other=(3 if call.has(2) else 2) * size(call.output()))


def _dequantize_cost(call: Call) -> Cost:
    """1 per element of the output: scale; 1 more for a zero point"""
    return Cost(other=(2 if call.has(2) else 1) * size(call.output()))


def _dynamic_quantize_cost(call: Call) -> Cost:
    """5 per element of the output: least, greatest, scale, round, zero point; 9 for finding scale and zero point"""
    return Cost(other=5 * size(call.output()) + 9)


OPERATORS: dict[str, Operator] = {
    "QuantizeLinear": Operator(_quantize, cost=_quantize_cost, parts=scales(1, 2)),
    "DequantizeLinear": Operator(_dequantize, cost=_dequantize_cost, parts=weights(0) | scales(1, 2)),
    "DynamicQuantizeLinear": Operator(_dynamic_quantize, cost=_dynamic_quantize_cost),
}
