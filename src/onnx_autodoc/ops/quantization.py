"""Between floating point and few bits: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear."""

from onnx_autodoc.graph import dtype_name
from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._known import Known, tensor
from onnx_autodoc.ops._operator import Operator


def _quantize(call: Call) -> list[Known]:
    """The zero point decides the type; without one, the attribute (opset 21), else uint8."""
    dtype = call.dtype(2) if call.has(2) else dtype_name(call.attr_int("output_dtype", 0)) or "uint8"
    return [tensor(dtype, call.shape(0))]


def _dequantize(call: Call) -> list[Known]:
    dtype = dtype_name(call.attr_int("output_dtype", 0)) or call.dtype(1)
    return [tensor(dtype, call.shape(0))]


def _dynamic_quantize(call: Call) -> list[Known]:
    return [tensor("uint8", call.shape(0)), tensor("float32", ()), tensor("uint8", ())]


OPERATORS: dict[str, Operator] = {
    "QuantizeLinear": Operator(_quantize),
    "DequantizeLinear": Operator(_dequantize),
    "DynamicQuantizeLinear": Operator(_dynamic_quantize),
}
