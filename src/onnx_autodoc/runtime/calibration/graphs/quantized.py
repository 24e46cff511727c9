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
)


def _quantization(build: GraphBuilder) -> tuple[str, str]:
    """Return a scale and a zero point."""
    return build.constant(0.02), build.constant(128, UINT8)


def quantize_dequantize(build: GraphBuilder, x: str) -> str:
    quantization = _quantization(build)
    return build.op("DequantizeLinear", build.op("QuantizeLinear", x, *quantization), *quantization)


def _conv(
    build: GraphBuilder, x: str, quantization: tuple[str, str], sizes: tuple[int, int, int], group: int = 1
) -> str:
    cin, cout, kernel = sizes
    weight, bias = build.random_integers(cout, cin // group, kernel, kernel), build.constant(np.zeros(cout), INT32)
    inputs = (x, *quantization, weight, build.constant(0.01), build.constant(0, INT8), *quantization, bias)
    return build.op("QLinearConv", *inputs, group=group, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)


@deferred
def _convolutions(dims: tuple[int, int, int], times: int, group: int = 1, wide: int | None = None) -> Proto:
    """Chain convolutions of channels, size and kernel; or pairs over `wide` channels, with a residual connection."""
    channels, size, kernel = dims
    build = GraphBuilder(1, channels, size, size)
    quantization = _quantization(build)
    x = build.op("QuantizeLinear", build.x, *quantization)
    for _ in range(times):
        y = _conv(build, x, quantization, (channels, wide or channels, kernel), group)
        if wide:
            y = _conv(build, y, quantization, (wide, channels, kernel))
            y = build.op("QLinearAdd", x, *quantization, y, *quantization, *quantization, domain=MICROSOFT)
        x = y
    build.op("DequantizeLinear", x, *quantization)
    return build.model()


def _qdq(channels: int, size: int, times: int) -> GraphMaker:
    """Convolutions and sums in QDQ form."""

    def step(build: GraphBuilder, x: str) -> str:
        stored = build.random_integers(channels, channels, 3, 3)
        weight = build.op("DequantizeLinear", stored, build.constant(0.01), build.constant(0, INT8))
        whole = build.constant(np.zeros(channels), INT32)
        bias = build.op("DequantizeLinear", whole, build.constant(0.0002), build.constant(0, INT32))
        y = quantize_dequantize(build, build.op("Conv", x, weight, bias, kernel_shape=[3, 3], pads=[1] * 4))
        return quantize_dequantize(build, build.op("Add", x, y))

    return chain(step, (1, channels, size, size), times, quantize_dequantize)


def _qdq_node(op: str, **attributes: Any) -> Step:
    return lambda build, x: quantize_dequantize(build, build.op(op, x, **attributes))


@deferred
def _activations_product(heads: int, rows: int, inner: int, times: int) -> Proto:
    build = GraphBuilder(1, heads, rows, inner)
    keys = quantize_dequantize(build, build.input("k", (1, heads, inner, rows)))
    x = quantize_dequantize(build, build.x)
    for _ in range(times):
        scores = quantize_dequantize(build, build.op("MatMul", x, keys))
        x = quantize_dequantize(build, build.op("MatMul", scores, x))
    return build.model()


def _dynamic_conv(channels: int, size: int, kernel: int, times: int) -> GraphMaker:
    def step(build: GraphBuilder, x: str) -> str:
        whole, scale, zero = build.ops("DynamicQuantizeLinear", x, outputs=3)
        weight = build.random_integers(channels, channels, kernel, kernel, dtype=UINT8)
        sizes: dict[str, Any] = {"kernel_shape": [kernel] * 2, "pads": [kernel // 2] * 4}
        y = build.op("ConvInteger", whole, weight, zero, build.constant(128, UINT8), **sizes)
        return build.op("Mul", build.op("Cast", y, to=1), build.op("Mul", scale, build.constant(0.001)))

    return chain(step, (1, channels, size, size), times)


def _dynamic(rows: int, inner: int, outer: int, times: int) -> GraphMaker:
    def one(build: GraphBuilder, x: str, k: int, n: int) -> str:
        whole, scale, zero = build.ops("DynamicQuantizeLinear", x, outputs=3)
        y = build.op("MatMulInteger", whole, build.random_integers(k, n), zero, build.constant(0, INT8))
        y = build.op("Mul", build.op("Cast", y, to=1), build.op("Mul", scale, build.constant(0.001)))
        return build.op("Add", y, build.weight(n))

    return chain(lambda b, x: one(b, one(b, x, inner, outer), outer, inner), (1, rows, inner), times)


@deferred
def _dynamic_lstm(length: int, width: int, hidden: int, both: bool) -> Proto:
    ways = 2 if both else 1
    build = GraphBuilder(length, 1, width)
    weights = [build.random_integers(ways, size, 4 * hidden) for size in (width, hidden)]
    scales = [build.constant(np.full(ways, 0.01)), build.constant(np.zeros(ways), INT8)] * 2
    inputs = (build.x, *weights, build.weight(ways, 8 * hidden, scale=0.1), "", "", "", "", *scales)
    direction = "bidirectional" if both else "forward"
    build.op("DynamicQuantizeLSTM", *inputs, domain=MICROSOFT, hidden_size=hidden, direction=direction)
    return build.model()


def _dynamically(build: GraphBuilder, x: str) -> str:
    return build.op("DequantizeLinear", *build.ops("DynamicQuantizeLinear", x, outputs=3))


_TRANSPOSE: Final = _qdq_node("Transpose", perm=[0, 2, 1, 3])
_SQUARE: Final = (
    *((64, 56, 3, 4), (256, 14, 3, 4), (512, 7, 3, 3), (256, 28, 1, 6), (64, 56, 1, 8), (1024, 14, 1, 3)),
    *((96, 20, 3, 8), (16, 112, 1, 8)),
)
_DEPTHWISE: Final = ((96, 56, 3, 6), (384, 14, 3, 10), (32, 112, 3, 6))
_DYNAMIC: Final = ((128, 384, 1536, 2), (128, 768, 768, 3), (16, 256, 256, 8), (1, 384, 384, 8), (1, 512, 2048, 4))
_SIZES: Final = ((1_000, 15), (75_000, 6), (1_000_000, 2))

GRAPHS: Final[dict[str, GraphMaker]] = {
    **{f"integer convolution {sizes}": _convolutions(sizes[:3], sizes[3]) for sizes in _SQUARE},
    **{f"integer depthwise {sizes}": _convolutions(sizes[:3], sizes[3], sizes[0]) for sizes in _DEPTHWISE},
    **{
        f"integer pointwise {(narrow, wide, size, times)}": _convolutions((narrow, size, 1), times, wide=wide)
        for narrow, wide, size, times in ((24, 144, 56, 3), (64, 384, 14, 6), (160, 960, 7, 5))
    },
    **{f"QDQ {sizes}": _qdq(*sizes) for sizes in ((64, 56, 3), (256, 14, 4))},
    "integer pool": chain(
        _qdq_node("MaxPool", kernel_shape=[3, 3], pads=[1] * 4), (1, 64, 56, 56), 4, quantize_dequantize
    ),
    "integer move": chain(_TRANSPOSE, (1, 128, 12, 32), 8, quantize_dequantize),
    "integer move, large": chain(_TRANSPOSE, (1, 64, 56, 56), 4, quantize_dequantize),
    "integer softmax": chain(_qdq_node("Softmax", axis=-1), (1, 12, 128, 128), 4, quantize_dequantize),
    "integer product of data": _activations_product(12, 128, 32, 3),
    **{f"dynamic convolution {sizes}": _dynamic_conv(*sizes) for sizes in ((64, 28, 3, 4), (128, 14, 1, 8))},
    **{f"dynamic product {sizes}": _dynamic(*sizes) for sizes in _DYNAMIC},
    **{f"integer recurrent {sizes}": _dynamic_lstm(*sizes) for sizes in ((40, 256, 256, True), (100, 64, 128, False))},
    **{
        f"quantize {size}": chain(lambda b, x: b.op("Tanh", quantize_dequantize(b, x)), (1, size), times)
        for size, times in _SIZES
    },
    **{f"quantize dynamically {size}": chain(_dynamically, (1, size), times) for size, times in _SIZES},
}
