"""Between floating point and few bits: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear."""

from onnx_autodoc.graph import dtype_name
from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost
from onnx_autodoc.ops._known import Known, tensor
from onnx_autodoc.ops._operator import Operator, scales, weights


def _quantize(call: Call) -> list[Known]:
    """The zero point decides the type; without one, the attribute (opset 21), else uint8."""
    dtype = call.dtype(2) if call.has(2) else dtype_name(call.attr_int("output_dtype", 0)) or "uint8"
    return [tensor(dtype, call.shape(0))]


def _dequantize(call: Call) -> list[Known]:
    dtype = dtype_name(call.attr_int("output_dtype", 0)) or call.dtype(1)
    return [tensor(dtype, call.shape(0))]


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
