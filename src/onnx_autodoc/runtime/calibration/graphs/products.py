"""Convolutions of images and audio, matrix products with weights and of activations, attention, recurrent cells.

They have many sizes, since each reaches another share of the peak rate.
"""

from typing import Any, Final

import numpy as np

from onnx_autodoc.runtime.calibration.graphs.builder import (
    INT32,
    INT64,
    MICROSOFT,
    GraphBuilder,
    GraphMaker,
    Proto,
    chain,
    deferred,
)


def conv(build: GraphBuilder, x: str, cin: int, cout: int, kernel: int, **more: int | str) -> str:
    """Add a convolution with bias and activation; options: `group`, `stride`, spatial `rank`, `act` ("" for none)."""
    group, stride, rank = int(more.get("group", 1)), int(more.get("stride", 1)), int(more.get("rank", 2))
    weight = build.weight(cout, cin // group, *[kernel] * rank)
    sizes: dict[str, Any] = {
        "kernel_shape": [kernel] * rank,
        "pads": [kernel // 2] * (2 * rank),
        "strides": [stride] * rank,
    }
    y = build.op("Conv", x, weight, build.weight(cout, scale=0.1), group=group, **sizes)
    act = str(more.get("act", "Relu"))
    return build.op(act, y) if act else y


def _square(channels: int, size: int, kernel: int, times: int, group: int = 1, rank: int = 2) -> GraphMaker:
    dims = (1, channels, *[size] * rank)
    return chain(lambda b, x: conv(b, x, channels, channels, kernel, group=group, rank=rank), dims, times)


def _pointwise(narrow: int, wide: int, size: int, times: int) -> GraphMaker:
    def step(build: GraphBuilder, x: str) -> str:
        return conv(build, conv(build, x, narrow, wide, 1), wide, narrow, 1, act="")

    return chain(step, (1, narrow, size, size), times)


def _first(cin: int, cout: int, size: int, kernel: int, stride: int) -> GraphMaker:
    return chain(lambda b, x: conv(b, x, cin, cout, kernel, stride=stride), (1, cin, size, size), 1)


def _transposed(cin: int, cout: int, size: int, kernel: int) -> GraphMaker:
    def step(build: GraphBuilder, x: str) -> str:
        weight = build.weight(cin, cout, kernel, kernel)
        return build.op("ConvTranspose", x, weight, build.weight(cout), kernel_shape=[kernel] * 2, strides=[2, 2])

    return chain(step, (1, cin, size, size), 1)


def linear(build: GraphBuilder, x: str, inner: int, outer: int, bias: bool = True) -> str:
    y = build.op("MatMul", x, build.weight(inner, outer))
    return build.op("Add", y, build.weight(outer)) if bias else y


def _linear_pairs(rows: int, inner: int, outer: int, times: int, bias: bool = True) -> GraphMaker:
    def step(build: GraphBuilder, x: str) -> str:
        return linear(build, linear(build, x, inner, outer, bias), outer, inner, bias)

    return chain(step, (1, rows, inner), times)


def _activations_product(heads: int, rows: int, inner: int, times: int) -> GraphMaker:
    def step(build: GraphBuilder, x: str) -> str:
        scores = build.op("MatMul", x, build.op("Transpose", x, perm=[0, 1, 3, 2]))
        return build.op("MatMul", build.op("Mul", scores, build.constant(0.01)), x)

    return chain(step, (1, heads, rows, inner), times)


@deferred
def _one_row(heads: int, length: int, inner: int, times: int) -> Proto:
    """One new token with a KV cache."""
    build = GraphBuilder(1, heads, 1, inner)
    keys, values = build.input("k", (1, heads, inner, length)), build.input("v", (1, heads, length, inner))
    x = build.x
    for _ in range(times):
        x = build.op("Mul", build.op("MatMul", build.op("MatMul", x, keys), values), build.constant(0.01))
    return build.model()


def _attention(rows: int, width: int, heads: int, times: int) -> GraphMaker:
    def step(build: GraphBuilder, x: str) -> str:
        weight, bias = build.weight(width, 3 * width), build.weight(3 * width)
        return build.op("Attention", x, weight, bias, domain=MICROSOFT, num_heads=heads)

    return chain(step, (1, rows, width), times)


@deferred
def _grouped(rows: int, past: int, times: int) -> Proto:
    """Nine heads that share three key-value heads, with a cache."""
    build = GraphBuilder(1, rows, 9 * 64)
    cache = [build.input(name, (1, 3, past, 64)) for name in ("pk", "pv")]
    new, x = build.input("kv", (1, rows, 3 * 64)), build.x
    ends = [build.constant([past + rows - 1], INT32), build.constant(past + rows, INT32)]
    for _ in range(times):
        inputs = (x, new, new, *cache, *ends)
        heads = {"num_heads": 9, "kv_num_heads": 3}
        x = build.ops("GroupQueryAttention", *inputs, outputs=3, domain=MICROSOFT, **heads)[0]
    return build.model([x])


@deferred
def _recurrent(op: str, length: int, width: int, hidden: int, both: bool, times: int = 1) -> Proto:
    gates, ways = {"LSTM": 4, "GRU": 3}[op], 2 if both else 1
    more: dict[str, Any] = {"linear_before_reset": 1} if op == "GRU" else {}
    build, inner = GraphBuilder(length, 1, width), width
    x = build.x
    for _ in range(times):
        weights = [build.weight(ways, gates * hidden, size) for size in (inner, hidden)]
        bias = build.weight(ways, 2 * gates * hidden, scale=0.1)
        direction = "bidirectional" if both else "forward"
        y = build.op(op, x, *weights, bias, hidden_size=hidden, direction=direction, **more)
        transposed = build.op("Transpose", y, perm=[0, 2, 1, 3])
        x = build.op("Reshape", transposed, build.constant([length, 1, ways * hidden], INT64))
        inner = ways * hidden
    return build.model()


def _packed(rows: int, inner: int, outer: int, times: int, accuracy: int = 0) -> GraphMaker:
    """4-bit weights in blocks of 32."""

    def one(build: GraphBuilder, x: str, k: int, n: int) -> str:
        weight = build.random_integers(n, k // 32, 16, dtype=np.uint8)
        more = {"accuracy_level": accuracy} if accuracy else {}
        scales = build.constant(np.full(n * (k // 32), 0.01))
        return build.op("MatMulNBits", x, weight, scales, domain=MICROSOFT, K=k, N=n, bits=4, block_size=32, **more)

    return chain(lambda b, x: one(b, one(b, x, inner, outer), outer, inner), (1, rows, inner), times)


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
    *(
        (3, 32, 224, 3, 2),
        (3, 64, 224, 7, 2),
        (3, 16, 640, 3, 2),
        (1, 32, 96, 3, 1),
        (3, 192, 224, 16, 16),
        (1, 8, 150, 9, 1),
    ),
)
_AUDIO: Final = (
    *((64, 1000, 3, 6), (384, 1500, 3, 1), (128, 40, 5, 10), (32, 200, 1, 10), (256, 8, 3, 8), (128, 3, 3, 8)),
)
_TRANSPOSED: Final = ((64, 32, 40, 2), (24, 24, 80, 2), (128, 64, 20, 4))
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
    **{f"convolution {sizes}": _square(*sizes) for sizes in _SQUARE},
    **{f"pointwise convolution {sizes}": _pointwise(*sizes) for sizes in _POINTWISE},
    **{f"depthwise {sizes}": _square(*sizes, group=sizes[0]) for sizes in _DEPTHWISE},
    **{f"first convolution {sizes}": _first(*sizes) for sizes in _FIRST},
    **{f"audio convolution {sizes}": _square(*sizes, rank=1) for sizes in _AUDIO},
    "audio depthwise": _square(128, 300, 5, 8, group=128, rank=1),
    **{f"transposed convolution {sizes}": _transposed(*sizes) for sizes in _TRANSPOSED},
    **{f"product {sizes}": _linear_pairs(*sizes) for sizes in _PAIRS},
    **{f"product of a row {sizes}": _linear_pairs(1, *sizes, bias=False) for sizes in _ROWS},
    "product with a vocabulary": chain(lambda b, x: linear(b, x, 384, 51865, bias=False), (1, 4, 384), 1),
    **{f"product of data {sizes}": _activations_product(*sizes) for sizes in _DATA},
    "product of data and a row, nine heads": _one_row(9, 128, 64, 8),
    "product of data and a row, one head": _one_row(1, 32, 64, 10),
    **{f"attention {sizes}": _attention(*sizes) for sizes in ((128, 384, 12, 3), (128, 768, 12, 2), (32, 256, 4, 6))},
    "grouped attention, one token": _grouped(1, 127, 8),
    "grouped attention, many": _grouped(64, 64, 4),
    **{f"recurrent {sizes}": _recurrent(*sizes) for sizes in _CELLS},
    **{f"packed product {sizes}": _packed(*sizes) for sizes in _PACKED},
}
