"""Integer convolutions, products and recurrent cells, and quantization itself."""

from typing import Any, Final

import numpy as np

from onnx_autodoc.runtime.calibration.graphs.builder import (
    INT8,
    INT32,
    MICROSOFT,
    UINT8,
    GraphBuilder,
    GraphMaker,
    Proto,
    Step,
    chain,
    deferred,
    name_cases,
)

_Quantization = tuple[str, str]  # scale and zero point


def _add_quantization(op: GraphBuilder) -> _Quantization:
    return op.constant(0.02), op.constant(UINT8(128))


def _quantize_dequantize(op: GraphBuilder, x: str) -> str:
    quantization = _add_quantization(op)
    return op.DequantizeLinear(op.QuantizeLinear(x, *quantization), *quantization)


def _qdq_node(op_type: str, **attributes: Any) -> Step:
    return lambda op, x: _quantize_dequantize(op, op.add_node(op_type, x, **attributes)[0])


def _conv(op: GraphBuilder, x: str, quantization: _Quantization, cin: int, cout: int, kernel: int, group: int) -> str:
    weight, bias = op.random_integers(cout, cin // group, kernel, kernel), np.zeros(cout, INT32)
    inputs = (x, *quantization, weight, 0.01, INT8(0), *quantization, bias)
    return op.QLinearConv(*inputs, group=group, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)


@deferred
def _convolutions(channels: int, size: int, kernel: int, times: int, group: int = 1) -> Proto:
    op = GraphBuilder(1, channels, size, size)
    quantization = _add_quantization(op)
    x = op.QuantizeLinear(op.x, *quantization)
    for _ in range(times):
        x = _conv(op, x, quantization, channels, channels, kernel, group)
    op.DequantizeLinear(x, *quantization)
    return op.model()


@deferred
def _pointwise(narrow: int, wide: int, size: int, times: int) -> Proto:
    """Pairs of pointwise convolutions, with a residual connection."""
    op = GraphBuilder(1, narrow, size, size)
    quantization = _add_quantization(op)
    x = op.QuantizeLinear(op.x, *quantization)
    for _ in range(times):
        y = _conv(op, x, quantization, narrow, wide, 1, 1)
        y = _conv(op, y, quantization, wide, narrow, 1, 1)
        x = op.QLinearAdd(x, *quantization, y, *quantization, *quantization, domain=MICROSOFT)
    op.DequantizeLinear(x, *quantization)
    return op.model()


def _qdq(channels: int, size: int, times: int) -> GraphMaker:
    """Convolutions and sums in QDQ form."""

    def step(op: GraphBuilder, x: str) -> str:
        weight = op.DequantizeLinear(op.random_integers(channels, channels, 3, 3), 0.01, INT8(0))
        bias = op.DequantizeLinear(np.zeros(channels, INT32), 0.0002, INT32(0))
        y = _quantize_dequantize(op, op.Conv(x, weight, bias, kernel_shape=[3, 3], pads=[1] * 4))
        return _quantize_dequantize(op, op.Add(x, y))

    return chain(step, (1, channels, size, size), times, _quantize_dequantize)


@deferred
def _activations_product(heads: int, rows: int, inner: int, times: int) -> Proto:
    op = GraphBuilder(1, heads, rows, inner)
    keys = _quantize_dequantize(op, op.input("k", (1, heads, inner, rows)))
    x = _quantize_dequantize(op, op.x)
    for _ in range(times):
        scores = _quantize_dequantize(op, op.MatMul(x, keys))
        x = _quantize_dequantize(op, op.MatMul(scores, x))
    return op.model()


def _dynamic_conv(channels: int, size: int, kernel: int, times: int) -> GraphMaker:
    def step(op: GraphBuilder, x: str) -> str:
        quantized, scale, zero = op.add_node("DynamicQuantizeLinear", x, outputs=3)
        weight = op.random_integers(channels, channels, kernel, kernel, dtype=UINT8)
        sizes = {"kernel_shape": [kernel] * 2, "pads": [kernel // 2] * 4}
        y = op.ConvInteger(quantized, weight, zero, UINT8(128), **sizes)
        return op.Mul(op.Cast(y, to=1), op.Mul(scale, 0.001))

    return chain(step, (1, channels, size, size), times)


def _dynamic_product(rows: int, inner: int, outer: int, times: int) -> GraphMaker:
    def step(op: GraphBuilder, x: str) -> str:
        for k, n in ((inner, outer), (outer, inner)):
            quantized, scale, zero = op.add_node("DynamicQuantizeLinear", x, outputs=3)
            y = op.MatMulInteger(quantized, op.random_integers(k, n), zero, INT8(0))
            x = op.Add(op.Mul(op.Cast(y, to=1), op.Mul(scale, 0.001)), op.weight(n))
        return x

    return chain(step, (1, rows, inner), times)


@deferred
def _dynamic_lstm(length: int, width: int, hidden: int, is_bidirectional: bool) -> Proto:
    directions, direction = (2, "bidirectional") if is_bidirectional else (1, "forward")
    op = GraphBuilder(length, 1, width)
    weights = [op.random_integers(directions, size, 4 * hidden) for size in (width, hidden)]
    scales = [np.full(directions, 0.01), np.zeros(directions, INT8)] * 2
    inputs = (op.x, *weights, op.weight(directions, 8 * hidden, scale=0.1), "", "", "", "", *scales)
    op.DynamicQuantizeLSTM(*inputs, domain=MICROSOFT, hidden_size=hidden, direction=direction)
    return op.model()


def _quantize_and_use(op: GraphBuilder, x: str) -> str:
    return op.Tanh(_quantize_dequantize(op, x))


def _quantize_dynamically(op: GraphBuilder, x: str) -> str:
    return op.DequantizeLinear(*op.add_node("DynamicQuantizeLinear", x, outputs=3))


_TRANSPOSE: Final = _qdq_node("Transpose", perm=[0, 2, 1, 3])
_SQUARE: Final = (
    *((64, 56, 3, 4), (256, 14, 3, 4), (512, 7, 3, 3), (256, 28, 1, 6), (64, 56, 1, 8), (1024, 14, 1, 3)),
    *((96, 20, 3, 8), (16, 112, 1, 8)),
)
_DEPTHWISE: Final = ((96, 56, 3, 6), (384, 14, 3, 10), (32, 112, 3, 6))
_DYNAMIC: Final = ((128, 384, 1536, 2), (128, 768, 768, 3), (16, 256, 256, 8), (1, 384, 384, 8), (1, 512, 2048, 4))
_SIZES: Final = ((1_000, 15), (75_000, 6), (1_000_000, 2))

GRAPHS: Final[dict[str, GraphMaker]] = {
    **name_cases("integer convolution", _convolutions, _SQUARE),
    **{f"integer depthwise {sizes}": _convolutions(*sizes, group=sizes[0]) for sizes in _DEPTHWISE},
    **name_cases("integer pointwise", _pointwise, ((24, 144, 56, 3), (64, 384, 14, 6), (160, 960, 7, 5))),
    **name_cases("QDQ", _qdq, ((64, 56, 3), (256, 14, 4))),
    "integer pool": chain(
        _qdq_node("MaxPool", kernel_shape=[3, 3], pads=[1] * 4), (1, 64, 56, 56), 4, _quantize_dequantize
    ),
    "integer move": chain(_TRANSPOSE, (1, 128, 12, 32), 8, _quantize_dequantize),
    "integer move, large": chain(_TRANSPOSE, (1, 64, 56, 56), 4, _quantize_dequantize),
    "integer softmax": chain(_qdq_node("Softmax", axis=-1), (1, 12, 128, 128), 4, _quantize_dequantize),
    "integer product of data": _activations_product(12, 128, 32, 3),
    **name_cases("dynamic convolution", _dynamic_conv, ((64, 28, 3, 4), (128, 14, 1, 8))),
    **name_cases("dynamic product", _dynamic_product, _DYNAMIC),
    **name_cases("integer recurrent", _dynamic_lstm, ((40, 256, 256, True), (100, 64, 128, False))),
    **{f"quantize {size}": chain(_quantize_and_use, (1, size), times) for size, times in _SIZES},
    **{f"quantize dynamically {size}": chain(_quantize_dynamically, (1, size), times) for size, times in _SIZES},
}
