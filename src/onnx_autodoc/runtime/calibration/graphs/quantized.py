"""Convolutions, products and cells on integers, and what goes between integers and floating point."""

from typing import Any, Final

import numpy as np

from onnx_autodoc.runtime.calibration.graphs._builder import INT8, INT32, MICROSOFT, UINT8, Builder, Make, Proto, chain


def _grid(build: Builder) -> tuple[str, str]:
    """A scale and a zero point of data."""
    return build.held(0.02), build.held(128, UINT8)


def round_trip(build: Builder, x: str) -> str:
    grid = _grid(build)
    return build.op("DequantizeLinear", build.op("QuantizeLinear", x, *grid), *grid)


def _conv(build: Builder, x: str, grid: tuple[str, str], sizes: tuple[int, int, int], group: int = 1) -> str:
    cin, cout, kernel = sizes
    weight, bias = build.integers(cout, cin // group, kernel, kernel), build.held(np.zeros(cout), INT32)
    inputs = (x, *grid, weight, build.held(0.01), build.held(0, INT8), *grid, bias)
    return build.op("QLinearConv", *inputs, group=group, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)


def _same(channels: int, size: int, kernel: int, times: int, group: int = 1) -> Make:
    def make() -> Proto:
        build = Builder(1, channels, size, size)
        grid = _grid(build)
        x = build.op("QuantizeLinear", build.x, *grid)
        for _ in range(times):
            x = _conv(build, x, grid, (channels, channels, kernel), group)
        build.op("DequantizeLinear", x, *grid)
        return build.model()

    return make


def _points(narrow: int, wide: int, size: int, times: int) -> Make:
    def make() -> Proto:
        build = Builder(1, narrow, size, size)
        grid = _grid(build)
        x = build.op("QuantizeLinear", build.x, *grid)
        for _ in range(times):
            y = _conv(build, _conv(build, x, grid, (narrow, wide, 1)), grid, (wide, narrow, 1))
            x = build.op("QLinearAdd", x, *grid, y, *grid, *grid, domain=MICROSOFT)
        build.op("DequantizeLinear", x, *grid)
        return build.model()

    return make


def _between(channels: int, size: int, times: int) -> Make:
    """Convolutions and sums written between quantizers, as most tools do."""

    def step(build: Builder, x: str) -> str:
        stored = build.integers(channels, channels, 3, 3)
        weight = build.op("DequantizeLinear", stored, build.held(0.01), build.held(0, INT8))
        whole = build.held(np.zeros(channels), INT32)
        bias = build.op("DequantizeLinear", whole, build.held(0.0002), build.held(0, INT32))
        y = round_trip(build, build.op("Conv", x, weight, bias, kernel_shape=[3, 3], pads=[1] * 4))
        return round_trip(build, build.op("Add", x, y))

    return _after_round_trip(step, (1, channels, size, size), times)


def _after_round_trip(step: object, dims: tuple[int, ...], times: int) -> Make:
    def make() -> Proto:
        build = Builder(*dims)
        x = round_trip(build, build.x)
        for _ in range(times):
            x = step(build, x)  # type: ignore[operator]
        return build.model()

    return make


def _pool(build: Builder, x: str) -> str:
    return round_trip(build, build.op("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4))


def _turn(build: Builder, x: str) -> str:
    return round_trip(build, build.op("Transpose", x, perm=[0, 2, 1, 3]))


def _softmax(build: Builder, x: str) -> str:
    return round_trip(build, build.op("Softmax", x, axis=-1))


def _of_data(heads: int, rows: int, inner: int, times: int) -> Make:
    def make() -> Proto:
        build = Builder(1, heads, rows, inner)
        keys, x = round_trip(build, build.input("k", (1, heads, inner, rows))), round_trip(build, build.x)
        for _ in range(times):
            scores = round_trip(build, build.op("MatMul", x, keys))
            x = round_trip(build, build.op("MatMul", scores, x))
        return build.model()

    return make


def _dynamic_conv(channels: int, size: int, kernel: int, times: int) -> Make:
    def step(build: Builder, x: str) -> str:
        whole, scale, zero = build.ops("DynamicQuantizeLinear", x, outputs=3)
        weight = build.integers(channels, channels, kernel, kernel, dtype=UINT8)
        sizes: dict[str, Any] = {"kernel_shape": [kernel] * 2, "pads": [kernel // 2] * 4}
        y = build.op("ConvInteger", whole, weight, zero, build.held(128, UINT8), **sizes)
        return build.op("Mul", build.op("Cast", y, to=1), build.op("Mul", scale, build.held(0.001)))

    return chain(step, (1, channels, size, size), times)


def _dynamic(rows: int, inner: int, outer: int, times: int) -> Make:
    def one(build: Builder, x: str, k: int, n: int) -> str:
        whole, scale, zero = build.ops("DynamicQuantizeLinear", x, outputs=3)
        y = build.op("MatMulInteger", whole, build.integers(k, n), zero, build.held(0, INT8))
        y = build.op("Mul", build.op("Cast", y, to=1), build.op("Mul", scale, build.held(0.001)))
        return build.op("Add", y, build.weight(n))

    return chain(lambda b, x: one(b, one(b, x, inner, outer), outer, inner), (1, rows, inner), times)


def _cells(length: int, width: int, hidden: int, both: bool) -> Make:
    ways = 2 if both else 1

    def make() -> Proto:
        build = Builder(length, 1, width)
        weights = [build.integers(ways, size, 4 * hidden) for size in (width, hidden)]
        scales = [build.held(np.full(ways, 0.01)), build.held(np.zeros(ways), INT8)] * 2
        inputs = (build.x, *weights, build.weight(ways, 8 * hidden, scale=0.1), "", "", "", "", *scales)
        direction = "bidirectional" if both else "forward"
        build.op("DynamicQuantizeLSTM", *inputs, domain=MICROSOFT, hidden_size=hidden, direction=direction)
        return build.model()

    return make


def _there_and_back(build: Builder, x: str) -> str:
    return build.op("Tanh", round_trip(build, x))


def _dynamically(build: Builder, x: str) -> str:
    return build.op("DequantizeLinear", *build.ops("DynamicQuantizeLinear", x, outputs=3))


_SAME: Final = (
    *((64, 56, 3, 4), (256, 14, 3, 4), (512, 7, 3, 3), (256, 28, 1, 6), (64, 56, 1, 8), (1024, 14, 1, 3)),
    *((96, 20, 3, 8), (16, 112, 1, 8)),
)
_DEPTHS: Final = ((96, 56, 3, 6), (384, 14, 3, 10), (32, 112, 3, 6))
_DYNAMIC: Final = ((128, 384, 1536, 2), (128, 768, 768, 3), (16, 256, 256, 8), (1, 384, 384, 8), (1, 512, 2048, 4))
_SIZES: Final = ((1_000, 15), (75_000, 6), (1_000_000, 2))

GRAPHS: Final[dict[str, Make]] = {
    **{f"integer convolution {sizes}": _same(*sizes) for sizes in _SAME},
    **{f"integer depthwise {sizes}": _same(*sizes, group=sizes[0]) for sizes in _DEPTHS},
    **{f"integer points {sizes}": _points(*sizes) for sizes in ((24, 144, 56, 3), (64, 384, 14, 6), (160, 960, 7, 5))},
    **{f"between quantizers {sizes}": _between(*sizes) for sizes in ((64, 56, 3), (256, 14, 4))},
    "integer pool": _after_round_trip(_pool, (1, 64, 56, 56), 4),
    "integer move": _after_round_trip(_turn, (1, 128, 12, 32), 8),
    "integer move, large": _after_round_trip(_turn, (1, 64, 56, 56), 4),
    "integer softmax": _after_round_trip(_softmax, (1, 12, 128, 128), 4),
    "integer product of data": _of_data(12, 128, 32, 3),
    **{f"dynamic convolution {sizes}": _dynamic_conv(*sizes) for sizes in ((64, 28, 3, 4), (128, 14, 1, 8))},
    **{f"dynamic product {sizes}": _dynamic(*sizes) for sizes in _DYNAMIC},
    **{f"integer recurrent {sizes}": _cells(*sizes) for sizes in ((40, 256, 256, True), (100, 64, 128, False))},
    **{f"quantize {size}": chain(_there_and_back, (1, size), times) for size, times in _SIZES},
    **{f"quantize dynamically {size}": chain(_dynamically, (1, size), times) for size, times in _SIZES},
}
