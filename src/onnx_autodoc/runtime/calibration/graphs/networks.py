"""Blocks of real networks: kernels together, as they share caches."""

from typing import Final

from onnx_autodoc.runtime.calibration.graphs.builder import INT64, GraphBuilder, GraphMaker, Proto, chain, deferred
from onnx_autodoc.runtime.calibration.graphs.operators import silu
from onnx_autodoc.runtime.calibration.graphs.products import conv, linear


def _hard_swish(build: GraphBuilder, x: str) -> str:
    clipped = build.op("Clip", build.op("Add", x, build.constant(3.0)), build.constant(0.0), build.constant(6.0))
    return build.op("Mul", x, build.op("Div", clipped, build.constant(6.0)))


def _mobile(narrow: int, wide: int, size: int, times: int) -> GraphMaker:
    def step(build: GraphBuilder, x: str) -> str:
        y = _hard_swish(build, conv(build, x, narrow, wide, 1, act=""))
        y = _hard_swish(build, conv(build, y, wide, wide, 3, group=wide, act=""))
        return build.op("Add", x, conv(build, y, wide, narrow, 1, act=""))

    return chain(step, (1, narrow, size, size), times)


def _detector(channels: int, size: int, times: int) -> GraphMaker:
    half = channels // 2

    def step(build: GraphBuilder, x: str) -> str:
        y = silu(build, conv(build, x, channels, channels, 1, act=""))
        left, right = build.ops("Split", y, build.constant([half, half], INT64), axis=1, outputs=2)
        inner = silu(build, conv(build, right, half, half, 3, act=""))
        inner = build.op("Add", silu(build, conv(build, inner, half, half, 3, act="")), right)
        joined = build.op("Concat", left, right, inner, axis=1)
        return silu(build, conv(build, joined, 3 * half, channels, 1, act=""))

    return chain(step, (1, channels, size, size), times)


def _bottlenecks(channels: int, size: int, times: int) -> GraphMaker:
    inner = channels // 4

    def step(build: GraphBuilder, x: str) -> str:
        y = conv(build, conv(build, x, channels, inner, 1), inner, inner, 3)
        return build.op("Relu", build.op("Add", x, conv(build, y, inner, channels, 1, act="")))

    return chain(step, (1, channels, size, size), times)


def _encoder(length: int | str, width: int, heads: int, times: int, fused: bool = True) -> GraphMaker:
    """Transformer layers, with GELU in a form that onnxruntime fuses, or in one that it does not."""

    def attention(build: GraphBuilder, x: str) -> str:
        split, turns = build.constant([1, -1, heads, width // heads], INT64), ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3))
        projected = [build.op("Reshape", linear(build, x, width, width), split) for _ in turns]
        query, key, value = (build.op("Transpose", y, perm=perm) for y, perm in zip(projected, turns))
        scores = build.op("Softmax", build.op("Div", build.op("MatMul", query, key), build.constant(8.0)), axis=-1)
        mixed = build.op("Transpose", build.op("MatMul", scores, value), perm=turns[0])
        return linear(build, build.op("Reshape", mixed, build.constant([1, -1, width], INT64)), width, width)

    def gelu(build: GraphBuilder, x: str) -> str:
        more = build.op("Add", build.op("Erf", build.op("Div", x, build.constant(2**0.5))), build.constant(1.0))
        if fused:
            return build.op("Mul", build.op("Mul", x, more), build.constant(0.5))
        return build.op("Mul", x, build.op("Mul", build.constant(0.5), more))

    def normalize(build: GraphBuilder, x: str, y: str) -> str:
        total = build.op("Add", x, y)
        return build.op("LayerNormalization", total, build.weight(width), build.weight(width))

    def step(build: GraphBuilder, x: str) -> str:
        x = normalize(build, x, attention(build, x))
        return normalize(build, x, linear(build, gelu(build, linear(build, x, width, 4 * width)), 4 * width, width))

    return chain(step, (1, length, width), times)


@deferred
def _classifier(channels: int, size: int) -> Proto:
    """A small image classifier."""
    build = GraphBuilder(1, 3, size, size)
    x = conv(build, build.x, 3, channels, 3)
    for _ in range(3):
        x = conv(build, conv(build, x, channels, channels, 3, group=channels), channels, channels, 1)
        x = build.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = build.op("Flatten", build.op("GlobalAveragePool", x))
    build.op("Softmax", build.op("Gemm", x, build.weight(channels, 10), build.weight(10)), axis=-1)
    return build.model()


@deferred
def _speech(length: int, hidden: int) -> Proto:
    """A small speech detector: audio convolutions, an LSTM, and many small operators."""
    build = GraphBuilder(1, length)
    one = build.constant([1], INT64)
    x = conv(build, build.op("Unsqueeze", build.x, one), 1, hidden, 9, stride=8, rank=1)
    for _ in range(3):
        x = conv(build, x, hidden, hidden, 3, stride=2, rank=1)
    x = build.op("Transpose", x, perm=[2, 0, 1])
    weights = [build.weight(1, 4 * hidden, hidden) for _ in range(2)]
    y = build.op("Squeeze", build.op("LSTM", x, *weights, hidden_size=hidden), one)
    mean = build.op("ReduceMean", build.op("Pow", y, build.constant(2.0)), axes=[0], keepdims=0)
    root = build.op("Sqrt", build.op("Add", mean, build.constant(1e-5)))
    joined = build.op("Concat", root, build.op("Gather", y, build.constant(0, INT64)), axis=-1)
    build.op("Sigmoid", linear(build, build.op("Relu", joined), 2 * hidden, 1))
    return build.model()


GRAPHS: Final[dict[str, GraphMaker]] = {
    **{f"mobile {sizes}": _mobile(*sizes) for sizes in ((24, 72, 56, 2), (80, 240, 14, 5))},
    **{f"detector {sizes}": _detector(*sizes) for sizes in ((64, 40, 3), (128, 20, 3), (32, 80, 2))},
    **{f"bottlenecks {sizes}": _bottlenecks(*sizes) for sizes in ((256, 56, 2), (1024, 14, 4), (2048, 7, 3))},
    "encoder 384": _encoder(128, 384, 12, 2),
    "encoder 768": _encoder("n", 768, 12, 1),
    "encoder 64": _encoder(32, 64, 4, 3),
    "encoder 192": _encoder(197, 192, 3, 2, fused=False),
    "long encoder": _encoder(1500, 384, 6, 1),
    "tiny kernels": chain(lambda b, x: b.op("Tanh", linear(b, x, 16, 16)), (1, 16), 20),
    "tiny encoder": _encoder("n", 32, 4, 3),
    "tiny classifier": _classifier(16, 24),
    "tiny speech": _speech(512, 32),
    "small speech": _speech(512, 96),
}
