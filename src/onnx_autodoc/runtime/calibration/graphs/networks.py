"""Blocks of real networks: kernels together, as they share caches."""

from typing import Final

from onnx_autodoc.runtime.calibration.graphs.builder import GraphBuilder, GraphMaker, Proto, chain, deferred, name_cases
from onnx_autodoc.runtime.calibration.graphs.operators import silu
from onnx_autodoc.runtime.calibration.graphs.products import conv, linear


def _hard_swish(op: GraphBuilder, x: str) -> str:
    return op.Mul(x, op.Div(op.Clip(op.Add(x, 3.0), 0.0, 6.0), 6.0))


def _mobile(narrow: int, wide: int, size: int, times: int) -> GraphMaker:
    def step(op: GraphBuilder, x: str) -> str:
        y = _hard_swish(op, conv(op, x, narrow, wide, 1, act=""))
        y = _hard_swish(op, conv(op, y, wide, wide, 3, group=wide, act=""))
        return op.Add(x, conv(op, y, wide, narrow, 1, act=""))

    return chain(step, (1, narrow, size, size), times)


def _detector(channels: int, size: int, times: int) -> GraphMaker:
    half = channels // 2

    def step(op: GraphBuilder, x: str) -> str:
        y = silu(op, conv(op, x, channels, channels, 1, act=""))
        left, right = op.add_node("Split", y, [half, half], axis=1, outputs=2)
        inner = silu(op, conv(op, right, half, half, 3, act=""))
        inner = op.Add(silu(op, conv(op, inner, half, half, 3, act="")), right)
        return silu(op, conv(op, op.Concat(left, right, inner, axis=1), 3 * half, channels, 1, act=""))

    return chain(step, (1, channels, size, size), times)


def _bottlenecks(channels: int, size: int, times: int) -> GraphMaker:
    inner = channels // 4

    def step(op: GraphBuilder, x: str) -> str:
        y = conv(op, conv(op, x, channels, inner, 1), inner, inner, 3)
        return op.Relu(op.Add(x, conv(op, y, inner, channels, 1, act="")))

    return chain(step, (1, channels, size, size), times)


def _encoder(length: int | str, width: int, heads: int, times: int, fused: bool = True) -> GraphMaker:
    """Transformer layers, with GELU in a form that onnxruntime fuses, or in one that it does not."""

    def attention(op: GraphBuilder, x: str) -> str:
        perms = ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3))
        projected = [op.Reshape(linear(op, x, width, width), [1, -1, heads, width // heads]) for _ in perms]
        query, key, value = (op.Transpose(y, perm=perm) for y, perm in zip(projected, perms))
        scores = op.Softmax(op.Div(op.MatMul(query, key), 8.0), axis=-1)
        context = op.Transpose(op.MatMul(scores, value), perm=perms[0])
        return linear(op, op.Reshape(context, [1, -1, width]), width, width)

    def gelu(op: GraphBuilder, x: str) -> str:
        y = op.Add(op.Erf(op.Div(x, 2**0.5)), 1.0)
        return op.Mul(op.Mul(x, y), 0.5) if fused else op.Mul(x, op.Mul(0.5, y))

    def normalize(op: GraphBuilder, x: str, y: str) -> str:
        return op.LayerNormalization(op.Add(x, y), op.weight(width), op.weight(width))

    def step(op: GraphBuilder, x: str) -> str:
        x = normalize(op, x, attention(op, x))
        return normalize(op, x, linear(op, gelu(op, linear(op, x, width, 4 * width)), 4 * width, width))

    return chain(step, (1, length, width), times)


@deferred
def _classifier(channels: int, size: int) -> Proto:
    """A small image classifier."""
    op = GraphBuilder(1, 3, size, size)
    x = conv(op, op.x, 3, channels, 3)
    for _ in range(3):
        x = conv(op, conv(op, x, channels, channels, 3, group=channels), channels, channels, 1)
        x = op.MaxPool(x, kernel_shape=[2, 2], strides=[2, 2])
    x = op.Flatten(op.GlobalAveragePool(x))
    op.Softmax(op.Gemm(x, op.weight(channels, 10), op.weight(10)), axis=-1)
    return op.model()


@deferred
def _speech(length: int, hidden: int) -> Proto:
    """A small speech detector: audio convolutions, an LSTM, and many small operators."""
    op = GraphBuilder(1, length)
    x = conv(op, op.Unsqueeze(op.x, [1]), 1, hidden, 9, stride=8, rank=1)
    for _ in range(3):
        x = conv(op, x, hidden, hidden, 3, stride=2, rank=1)
    weights = [op.weight(1, 4 * hidden, hidden) for _ in range(2)]
    y = op.Squeeze(op.LSTM(op.Transpose(x, perm=[2, 0, 1]), *weights, hidden_size=hidden), [1])
    root = op.Sqrt(op.Add(op.ReduceMean(op.Pow(y, 2.0), axes=[0], keepdims=0), 1e-5))
    joined = op.Concat(root, op.Gather(y, 0), axis=-1)
    op.Sigmoid(linear(op, op.Relu(joined), 2 * hidden, 1))
    return op.model()


GRAPHS: Final[dict[str, GraphMaker]] = {
    **name_cases("mobile", _mobile, ((24, 72, 56, 2), (80, 240, 14, 5))),
    **name_cases("detector", _detector, ((64, 40, 3), (128, 20, 3), (32, 80, 2))),
    **name_cases("bottlenecks", _bottlenecks, ((256, 56, 2), (1024, 14, 4), (2048, 7, 3))),
    "encoder 384": _encoder(128, 384, 12, 2),
    "encoder 768": _encoder("n", 768, 12, 1),
    "encoder 64": _encoder(32, 64, 4, 3),
    "encoder 192": _encoder(197, 192, 3, 2, fused=False),
    "long encoder": _encoder(1500, 384, 6, 1),
    "tiny kernels": chain(lambda op, x: op.Tanh(linear(op, x, 16, 16)), (1, 16), 20),
    "tiny encoder": _encoder("n", 32, 4, 3),
    "tiny classifier": _classifier(16, 24),
    "tiny speech": _speech(512, 32),
    "small speech": _speech(512, 96),
}
