"""Convolutions of images and audio, matrix products with weights and of activations, attention, recurrent cells.

They have many sizes, since each reaches another share of the peak rate.
"""

from typing import Any, Final

from onnx_autodoc.runtime.calibration.graphs.builder import (
    INT32,
    MICROSOFT,
    UINT8,
    GraphBuilder,
    GraphMaker,
    Proto,
    chain,
    deferred,
    name_cases,
)


def conv(
    op: GraphBuilder,
    x: str,
    cin: int,
    cout: int,
    kernel: int,
    group: int = 1,
    stride: int = 1,
    rank: int = 2,
    act: str = "Relu",
) -> str:
    """Add a convolution of `rank` spatial axes with bias and activation (`act` "" for none)."""
    weight, bias = op.weight(cout, cin // group, *[kernel] * rank), op.weight(cout, scale=0.1)
    sizes = {"kernel_shape": [kernel] * rank, "pads": [kernel // 2] * (2 * rank), "strides": [stride] * rank}
    y = op.Conv(x, weight, bias, group=group, **sizes)
    return op.add_node(act, y)[0] if act else y


def _square(channels: int, size: int, kernel: int, times: int, group: int = 1, rank: int = 2) -> GraphMaker:
    dims = (1, channels, *[size] * rank)
    return chain(lambda op, x: conv(op, x, channels, channels, kernel, group=group, rank=rank), dims, times)


def _pointwise(narrow: int, wide: int, size: int, times: int) -> GraphMaker:
    def step(op: GraphBuilder, x: str) -> str:
        return conv(op, conv(op, x, narrow, wide, 1), wide, narrow, 1, act="")

    return chain(step, (1, narrow, size, size), times)


def _first(cin: int, cout: int, size: int, kernel: int, stride: int) -> GraphMaker:
    return chain(lambda op, x: conv(op, x, cin, cout, kernel, stride=stride), (1, cin, size, size), 1)


def _transposed(cin: int, cout: int, size: int, kernel: int) -> GraphMaker:
    def step(op: GraphBuilder, x: str) -> str:
        weights = op.weight(cin, cout, kernel, kernel), op.weight(cout)
        return op.ConvTranspose(x, *weights, kernel_shape=[kernel] * 2, strides=[2, 2])

    return chain(step, (1, cin, size, size), 1)


def linear(op: GraphBuilder, x: str, inner: int, outer: int, bias: bool = True) -> str:
    y = op.MatMul(x, op.weight(inner, outer))
    return op.Add(y, op.weight(outer)) if bias else y


def _linear_pairs(rows: int, inner: int, outer: int, times: int, bias: bool = True) -> GraphMaker:
    def step(op: GraphBuilder, x: str) -> str:
        return linear(op, linear(op, x, inner, outer, bias), outer, inner, bias)

    return chain(step, (1, rows, inner), times)


def _linear_pairs_of_a_row(inner: int, outer: int, times: int) -> GraphMaker:
    return _linear_pairs(1, inner, outer, times, bias=False)


def _activations_product(heads: int, rows: int, inner: int, times: int) -> GraphMaker:
    def step(op: GraphBuilder, x: str) -> str:
        scores = op.MatMul(x, op.Transpose(x, perm=[0, 1, 3, 2]))
        return op.MatMul(op.Mul(scores, 0.01), x)

    return chain(step, (1, heads, rows, inner), times)


@deferred
def _decode_product(heads: int, length: int, inner: int, times: int) -> Proto:
    """One new token with a KV cache."""
    op = GraphBuilder(1, heads, 1, inner)
    keys, values, x = op.input("k", (1, heads, inner, length)), op.input("v", (1, heads, length, inner)), op.x
    for _ in range(times):
        x = op.Mul(op.MatMul(op.MatMul(x, keys), values), 0.01)
    return op.model()


def _attention(rows: int, width: int, heads: int, times: int) -> GraphMaker:
    def step(op: GraphBuilder, x: str) -> str:
        return op.Attention(x, op.weight(width, 3 * width), op.weight(3 * width), domain=MICROSOFT, num_heads=heads)

    return chain(step, (1, rows, width), times)


@deferred
def _grouped(rows: int, past: int, times: int) -> Proto:
    """Nine heads that share three key-value heads, with a cache."""
    op = GraphBuilder(1, rows, 9 * 64)
    cache = [op.input(name, (1, 3, past, 64)) for name in ("pk", "pv")]
    new, x = op.input("kv", (1, rows, 3 * 64)), op.x
    inputs = (new, new, *cache, op.constant([INT32(past + rows - 1)]), op.constant(INT32(past + rows)))
    for _ in range(times):
        options: dict[str, Any] = {"outputs": 3, "domain": MICROSOFT, "num_heads": 9, "kv_num_heads": 3}
        x = op.GroupQueryAttention(x, *inputs, **options)
    return op.model()


@deferred
def _recurrent(op_type: str, length: int, width: int, hidden: int, is_bidirectional: bool, times: int = 1) -> Proto:
    gates, directions = {"LSTM": 4, "GRU": 3}[op_type], 2 if is_bidirectional else 1
    options: dict[str, Any] = {"linear_before_reset": 1} if op_type == "GRU" else {}
    options |= {"hidden_size": hidden, "direction": "bidirectional" if is_bidirectional else "forward"}
    op = GraphBuilder(length, 1, width)
    x = op.x
    for _ in range(times):
        weights = [op.weight(directions, gates * hidden, size) for size in (width, hidden)]
        (y,) = op.add_node(op_type, x, *weights, op.weight(directions, 2 * gates * hidden, scale=0.1), **options)
        width = directions * hidden
        x = op.Reshape(op.Transpose(y, perm=[0, 2, 1, 3]), [length, 1, width])
    return op.model()


def _packed(rows: int, inner: int, outer: int, times: int, accuracy: int = 0) -> GraphMaker:
    """4-bit weights in blocks of 32."""
    options: dict[str, Any] = {"domain": MICROSOFT, "bits": 4, "block_size": 32}
    options |= {"accuracy_level": accuracy} if accuracy else {}

    def step(op: GraphBuilder, x: str) -> str:
        for k, n in ((inner, outer), (outer, inner)):
            weight = op.random_integers(n, k // 32, 16, dtype=UINT8)
            x = op.MatMulNBits(x, weight, [0.01] * (n * (k // 32)), K=k, N=n, **options)
        return x

    return chain(step, (1, rows, inner), times)


_SQUARE: Final = (
    *((16, 112, 3, 6), (24, 40, 3, 8), (32, 56, 3, 8), (64, 56, 3, 4), (64, 112, 3, 2), (96, 20, 3, 8)),
    *((128, 28, 3, 4), (192, 80, 3, 1), (256, 14, 3, 4), (512, 7, 3, 4), (512, 28, 3, 2), (128, 160, 3, 1)),
    *((32, 28, 5, 6), (8, 120, 3, 6), (8, 60, 9, 3), (16, 40, 7, 4)),
)
_POINTWISE: Final = (
    *((16, 96, 56, 4), (32, 192, 28, 6), (64, 256, 56, 2), (96, 96, 40, 6), (256, 64, 56, 2), (512, 128, 28, 3)),
    *((256, 1024, 14, 3), (512, 2048, 7, 2), (160, 960, 7, 5), (24, 72, 80, 3), (64, 64, 10, 10)),
)
_DEPTHWISE: Final = (
    *((32, 112, 3, 6), (96, 56, 3, 6), (192, 28, 5, 8), (384, 14, 3, 12), (960, 7, 5, 12), (64, 160, 3, 3)),
)
_FIRST: Final = (
    *((3, 32, 224, 3, 2), (3, 64, 224, 7, 2), (3, 16, 640, 3, 2), (1, 32, 96, 3, 1), (3, 192, 224, 16, 16)),
    (1, 8, 150, 9, 1),
)
_AUDIO: Final = (
    *((64, 1000, 3, 6), (384, 1500, 3, 1), (128, 40, 5, 10), (32, 200, 1, 10), (256, 8, 3, 8), (128, 3, 3, 8)),
)
_PAIRS: Final = (
    *((128, 384, 384, 6), (128, 384, 1536, 2), (128, 768, 768, 3), (128, 768, 3072, 1), (16, 512, 512, 6)),
    *((1500, 384, 384, 1), (197, 192, 768, 3), (8, 256, 256, 10), (2, 512, 512, 8), (64, 64, 64, 20)),
    *((448, 384, 1536, 1), (40, 120, 240, 10)),
)
_ROWS: Final = ((256, 256, 10), (576, 1536, 4), (1024, 1024, 4), (64, 64, 20), (4096, 4096, 2), (768, 768, 40))
_DATA: Final = ((12, 128, 32, 6), (6, 400, 64, 2), (12, 197, 64, 3), (4, 16, 16, 12), (8, 40, 15, 10))
_CELLS: Final = (
    *(("LSTM", 50, 128, 128, False), ("LSTM", 40, 256, 256, True), ("LSTM", 1, 128, 128, False, 3)),
    *(("LSTM", 20, 64, 32, True), ("GRU", 50, 128, 128, False), ("GRU", 100, 256, 256, True)),
    *(("LSTM", 25, 512, 512, False), ("GRU", 20, 400, 400, False)),
)
_PACKED: Final = (
    *((1, 576, 1536, 6), (1, 384, 384, 12), (128, 384, 1536, 1), (16, 512, 512, 3), (128, 384, 384, 3)),
    *((1, 576, 1536, 6, 4), (128, 384, 1536, 1, 4)),
)

GRAPHS: Final[dict[str, GraphMaker]] = {
    **name_cases("convolution", _square, _SQUARE),
    **name_cases("pointwise convolution", _pointwise, _POINTWISE),
    **{f"depthwise {sizes}": _square(*sizes, group=sizes[0]) for sizes in _DEPTHWISE},
    **name_cases("first convolution", _first, _FIRST),
    **{f"audio convolution {sizes}": _square(*sizes, rank=1) for sizes in _AUDIO},
    "audio depthwise": _square(128, 300, 5, 8, group=128, rank=1),
    **name_cases("transposed convolution", _transposed, ((64, 32, 40, 2), (24, 24, 80, 2), (128, 64, 20, 4))),
    **name_cases("product", _linear_pairs, _PAIRS),
    **name_cases("product of a row", _linear_pairs_of_a_row, _ROWS),
    "product with a vocabulary": chain(lambda op, x: linear(op, x, 384, 51865, bias=False), (1, 4, 384), 1),
    **name_cases("product of data", _activations_product, _DATA),
    "product of data and a row, nine heads": _decode_product(9, 128, 64, 8),
    "product of data and a row, one head": _decode_product(1, 32, 64, 10),
    **name_cases("attention", _attention, ((128, 384, 12, 3), (128, 768, 12, 2), (32, 256, 4, 6))),
    "grouped attention, one token": _grouped(1, 127, 8),
    "grouped attention, many": _grouped(64, 64, 4),
    **name_cases("recurrent", _recurrent, _CELLS),
    **name_cases("packed product", _packed, _PACKED),
}
