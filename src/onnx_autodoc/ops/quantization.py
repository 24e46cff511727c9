"""QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear."""

from onnx_autodoc.ir import dtype_name
from onnx_autodoc.ops.call import Call, ceil_div, check_shape, normalize_axis, size
from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.operator import Operator, QuantizedInput, Trait, WorkClass, of_class, scales, weights, with_traits
from onnx_autodoc.ops.values import Contradiction, ValueInfo, tensor

_PER_AXIS = 13  # the version that added scales per axis


def _quantize(call: Call) -> list[ValueInfo]:
    """The zero point decides the type; without one, the attribute (opset 21), else uint8."""
    declared = dtype_name(call.attr_int("output_dtype", 0))
    dtype = call.dtype(2) if call.has(2) else declared or "uint8"
    if declared and dtype and declared != dtype:
        raise Contradiction(f"{call.node.op} declares output type {declared} and a zero point of type {dtype}")
    _check_scales(call)
    return [tensor(dtype, call.shape(0))]


def _dequantize(call: Call) -> list[ValueInfo]:
    dtype = dtype_name(call.attr_int("output_dtype", 0)) or call.dtype(1)
    _check_scales(call)
    return [tensor(dtype, call.shape(0))]


def _check_scales(call: Call) -> None:
    """Check scales per tensor, per axis or per block, and zero points likewise."""
    x, scale = call.shape(0), call.input_info(1).shape
    if call.node.domain or call.version is None or call.version < _PER_AXIS or scale is None:
        return
    block = call.attr_int("block_size", 0)
    if block > 0:
        axis = normalize_axis(call.attr_int("axis", 1), len(x))
        expected = (*x[:axis], ceil_div(x[axis], block), *x[axis + 1 :])
    elif len(scale) > 1 or (scale and type(scale[0]) is int and scale[0] != 1):
        axis = call.attr_int("axis", 1)
        if axis >= len(x) and call.attribute("axis") is None:
            return  # the default, on a bias: runtimes fuse it and never read the axis
        expected = (x[normalize_axis(axis, len(x))],)
    else:
        return
    check_shape(call, 1, *expected)
    check_shape(call, 2, *expected)


def _quantize_cost(call: Call) -> Cost:
    """2 FLOPs per output element: scale, round; 1 more for a zero point. Saturation is not counted"""
    return Cost(other=(3 if call.has(2) else 2) * size(call.output()))


def _dequantize_cost(call: Call) -> Cost:
    """1 FLOP per output element: scale; 1 more for a zero point"""
    return Cost(other=(2 if call.has(2) else 1) * size(call.output()))


def _dynamic_quantize_cost(call: Call) -> Cost:
    """5 FLOPs per output element: min, max, scale, round, zero point; 9 to compute scale and zero point"""
    return Cost(other=5 * size(call.output()) + 9)


_ROWS = with_traits(
    {Trait.FORWARDS, Trait.MOVES},
    {
        "QuantizeLinear": Operator(
            _quantize,
            cost=_quantize_cost,
            roles=scales(1, 2),
            traits={Trait.QUANTIZES},
            quantized=(QuantizedInput(0, 1, 2),),
            kernel="quantize",
        ),
        "DequantizeLinear": Operator(
            _dequantize,
            cost=_dequantize_cost,
            roles=weights(0) | scales(1, 2),
            traits={Trait.DEQUANTIZES},
            quantized=(QuantizedInput(0, 1, 2),),
            kernel="dequantize",
        ),
        "DynamicQuantizeLinear": Operator(
            lambda call: [tensor("uint8", call.shape(0)), tensor("float32", ()), tensor("uint8", ())],
            cost=_dynamic_quantize_cost,
            kernel="quantize dynamically",
            number_inputs=(),  # the scale depends on the data
        ),
    },
)
OPERATORS: dict[str, Operator] = of_class(WorkClass.POINTWISE, _ROWS)
