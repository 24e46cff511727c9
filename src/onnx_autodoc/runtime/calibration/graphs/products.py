"""Matrix products by weights and of data, attention, recurrent cells."""

from typing import Any, Final

import numpy as np

from onnx_autodoc.runtime.calibration.graphs._builder import INT32, INT64, MICROSOFT, Builder, Make, Proto, chain


def linear(build: Builder, x: str, inner: int, outer: int, bias: bool = True) -> str:
    y = build.op("MatMul", x, build.weight(inner, outer))
    return build.op("Add", y, build.weight(outer)) if bias else y


def _pairs(rows: int, inner: int, outer: int, times: int, bias: bool = True) -> Make:
    def step(build: Builder, x: str) -> str:
        return linear(build, linear(build, x, inner, outer, bias), outer, inner, bias)

    return chain(step, (1, rows, inner), times)


def _of_data(heads: int, rows: int, inner: int, times: int) -> Make:
    def step(build: Builder, x: str) -> str:
        scores = build.op("MatMul", x, build.op("Transpose", x, perm=[0, 1, 3, 2]))
        return build.op("MatMul", build.op("Mul", scores, build.held(0.01)), x)

    return chain(step, (1, heads, rows, inner), times)


def _one_row(heads: int, length: int, inner: int, times: int) -> Make:
    """One new token against a cache."""

    def make() -> Proto:
        build = Builder(1, heads, 1, inner)
        keys, values = build.input("k", (1, heads, inner, length)), build.input("v", (1, heads, length, inner))
        x = build.x
        for _ in range(times):
            x = build.op("Mul", build.op("MatMul", build.op("MatMul", x, keys), values), build.held(0.01))
        return build.model()

    return make


def _attention(rows: int, width: int, heads: int, times: int) -> Make:
    def step(build: Builder, x: str) -> str:
        weight, bias = build.weight(width, 3 * width), build.weight(3 * width)
        return build.op("Attention", x, weight, bias, domain=MICROSOFT, num_heads=heads)

    return chain(step, (1, rows, width), times)


def _grouped(rows: int, past: int, times: int) -> Make:
    """Nine heads that share three keys and values, after a cache."""

    def make() -> Proto:
        build = Builder(1, rows, 9 * 64)
        cache = [build.input(name, (1, 3, past, 64)) for name in ("pk", "pv")]
        new, x = build.input("kv", (1, rows, 3 * 64)), build.x
        ends = [build.held([past + rows - 1], INT32), build.held(past + rows, INT32)]
        for _ in range(times):
            inputs = (x, new, new, *cache, *ends)
            heads = {"num_heads": 9, "kv_num_heads": 3}
            x = build.ops("GroupQueryAttention", *inputs, outputs=3, domain=MICROSOFT, **heads)[0]
        return build.model([x])

    return make


def _recurrent(op: str, length: int, width: int, hidden: int, both: bool, times: int = 1) -> Make:
    gates, ways = {"LSTM": 4, "GRU": 3}[op], 2 if both else 1
    more: dict[str, Any] = {"linear_before_reset": 1} if op == "GRU" else {}

    def make() -> Proto:
        build, inner = Builder(length, 1, width), width
        x = build.x
        for _ in range(times):
            weights = [build.weight(ways, gates * hidden, size) for size in (inner, hidden)]
            bias = build.weight(ways, 2 * gates * hidden, scale=0.1)
            direction = "bidirectional" if both else "forward"
            y = build.op(op, x, *weights, bias, hidden_size=hidden, direction=direction, **more)
            turned = build.op("Transpose", y, perm=[0, 2, 1, 3])
            x = build.op("Reshape", turned, build.held([length, 1, ways * hidden], INT64))
            inner = ways * hidden
        return build.model()

    return make


def _packed(rows: int, inner: int, outer: int, times: int, accuracy: int = 0) -> Make:
    """Weights of four bits in blocks of 32."""

    def one(build: Builder, x: str, k: int, n: int) -> str:
        weight = build.integers(n, k // 32, 16, dtype=np.uint8)
        more = {"accuracy_level": accuracy} if accuracy else {}
        scales = build.held(np.full(n * (k // 32), 0.01))
        return build.op("MatMulNBits", x, weight, scales, domain=MICROSOFT, K=k, N=n, bits=4, block_size=32, **more)

    return chain(lambda b, x: one(b, one(b, x, inner, outer), outer, inner), (1, rows, inner), times)


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

GRAPHS: Final[dict[str, Make]] = {
    **{f"product {sizes}": _pairs(*sizes) for sizes in _PAIRS},
    **{f"product of a row {sizes}": _pairs(1, *sizes, bias=False) for sizes in _ROWS},
    "product with a vocabulary": chain(lambda b, x: linear(b, x, 384, 51865, bias=False), (1, 4, 384), 1),
    **{f"product of data {sizes}": _of_data(*sizes) for sizes in _DATA},
    "product of data and a row, nine heads": _one_row(9, 128, 64, 8),
    "product of data and a row, one head": _one_row(1, 32, 64, 10),
    **{f"attention {sizes}": _attention(*sizes) for sizes in ((128, 384, 12, 3), (128, 768, 12, 2), (32, 256, 4, 6))},
    "grouped attention, one token": _grouped(1, 127, 8),
    "grouped attention, many": _grouped(64, 64, 4),
    **{f"recurrent {sizes}": _recurrent(*sizes) for sizes in _CELLS},
    **{f"packed product {sizes}": _packed(*sizes) for sizes in _PACKED},
}
