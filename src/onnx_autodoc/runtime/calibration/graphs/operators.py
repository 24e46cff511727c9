"""Single operators: elementwise, norms, softmax, reductions, data movement, shapes, pooling, control flow.

Sizes range from those where launches dominate to those beyond caches.
"""

from typing import Final

from onnx_autodoc.runtime.calibration.graphs.builder import (
    BOOL,
    INT64,
    MICROSOFT,
    GraphBuilder,
    GraphMaker,
    Proto,
    Step,
    chain,
    deferred,
    node,
    repeat_parallel,
)
from onnx_autodoc.runtime.calibration.graphs.products import conv


def silu(build: GraphBuilder, x: str) -> str:
    return build.op("Mul", x, build.op("Sigmoid", x))


def _log(build: GraphBuilder, x: str) -> str:
    return build.op("Abs", build.op("Log", build.op("Add", x, build.constant(2.0))))


def _power(exponent: float) -> Step:
    return lambda build, x: build.op("Pow", build.op("Abs", x), build.constant(exponent))


def _select(build: GraphBuilder, x: str) -> str:
    return build.op("Where", build.op("Greater", x, build.constant(0.0)), x, build.constant(0.0))


def _cast(to: int) -> Step:
    return lambda build, x: build.op("Cast", build.op("Cast", x, to=to), to=1)


def _norm(op: str, width: int) -> Step:
    return lambda build, x: build.op(op, x, build.weight(width), build.weight(width))


@deferred
def _binary(op: str, dims: tuple[int, ...], other: tuple[int, ...], times: int) -> Proto:
    build = GraphBuilder(*dims)
    second, x = build.input("z", other), build.x
    for _ in range(times):
        x = build.op(op, x, second)
    return build.model()


def _transpose(perm: tuple[int, ...]) -> Step:
    back = tuple(perm.index(axis) for axis in range(len(perm)))

    def step(build: GraphBuilder, x: str) -> str:
        transposed = build.op("Neg", build.op("Transpose", x, perm=perm))
        return build.op("Neg", build.op("Transpose", transposed, perm=back))

    return step


def _concat_and_slice(axis: int, size: int) -> Step:
    def step(build: GraphBuilder, x: str) -> str:
        both = build.op("Concat", x, x, axis=axis)
        return build.op("Slice", both, *(build.constant([number], INT64) for number in (0, size, axis)))

    return step


@deferred
def _gather(tokens: int, width: int, times: int) -> Proto:
    build = GraphBuilder(1, tokens, dtype=INT64)
    return build.model([build.op("Gather", build.weight(1000, width), build.x) for _ in range(times)])


def _views(build: GraphBuilder, x: str) -> str:
    axis = build.constant([0], INT64)
    return build.op("Neg", build.op("Squeeze", build.op("Relu", build.op("Unsqueeze", x, axis)), axis))


def _reshapes(build: GraphBuilder, x: str) -> str:
    """Reshape to sizes taken from Shape, as exporters write it."""
    size = build.op("Gather", build.op("Shape", x), build.constant(0, INT64))
    target = build.op(
        "Concat", build.op("Unsqueeze", size, build.constant([0], INT64)), build.constant([8], INT64), axis=0
    )
    return build.op("Neg", build.op("Reshape", x, target))


@deferred
def _filled(times: int) -> Proto:
    build = GraphBuilder("n", 8)
    shape, values = build.op("Shape", build.x), []
    for at in range(times):
        values.append(build.op("Expand", build.constant(float(at)), shape))
        size = build.op("Gather", shape, build.constant(0, INT64))
        values.append(build.op("Range", build.constant(at, INT64), size, build.constant(1, INT64)))
    return build.model(values)


@deferred
def _integers(times: int) -> Proto:
    build = GraphBuilder(1, 16, dtype=INT64)
    x = build.x
    for at in range(times):
        x = build.op("Mul", build.op("Add", x, build.constant([at], INT64)), build.constant([1, 2] * 8, INT64))
    return build.model()


def _resize(mode: str) -> Step:
    plain = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} if mode == "nearest" else {}
    return lambda build, x: build.op("Resize", x, "", build.constant([1, 1, 2, 2]), mode=mode, **plain)


@deferred
def _loop(passes: int) -> Proto:
    from onnx import TensorProto, helper

    info = helper.make_tensor_value_info
    nodes = [helper.make_node("Identity", ["c"], ["co"]), helper.make_node("Add", ["a", "one"], ["ao"])]
    inputs = [
        info("i", TensorProto.INT64, []),
        info("c", TensorProto.BOOL, []),
        info("a", TensorProto.FLOAT, [1, 8]),
    ]
    outputs = [info("co", TensorProto.BOOL, []), info("ao", TensorProto.FLOAT, [1, 8])]
    one = helper.make_tensor("one", TensorProto.FLOAT, [1, 8], [1.0] * 8)
    body = helper.make_graph(nodes, "body", inputs, outputs, [one])
    build = GraphBuilder(1, 8)
    build.op("Loop", build.constant(passes, INT64), build.constant(True, BOOL), build.x, body=body)
    return build.model()


@deferred
def _branches(times: int) -> Proto:
    from onnx import ValueInfoProto, helper

    build = GraphBuilder(1, 8)
    x = build.x
    for at in range(times):
        graphs = {}
        for name, op in (("then_branch", "Neg"), ("else_branch", "Abs")):
            node, out = helper.make_node(op, [x], [f"{name}{at}"]), ValueInfoProto(name=f"{name}{at}")
            graphs[name] = helper.make_graph([node], name, [], [out])
        total = build.op("ReduceSum", x, keepdims=0)
        x = build.op("If", build.op("Greater", total, build.constant(0.0)), **graphs)
    return build.model()


def _pool(op: str, kernel: int) -> Step:
    return node(op, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)


def _blocked_pool(build: GraphBuilder, x: str) -> str:
    return _pool("MaxPool", 3)(build, conv(build, x, 64, 64, 1))


_SIZES: Final = ((256, 30), (16_384, 20), (200_000, 10), (1_500_000, 4))
_RARE_SIZES: Final = ((16_384, 8), (300_000, 3))
_BROADCASTS: Final = (
    *(((1, 128, 384), (384,), 20), ((1, 64, 56, 56), (1, 64, 1, 1), 8), ((1, 256, 14, 14), (1, 256, 1, 1), 15)),
    *(((1, 12, 128, 128), (1, 1, 128, 128), 8), ((1, 16, 160, 160), (1, 16, 1, 1), 5), ((1, 1500, 384), (384,), 5)),
    *(((1, 300), (1,), 30), ((1, 200_000), (1,), 10)),
)
_SOFTMAXES: Final = (
    *(((1, 12, 128, 128), 8), ((1, 1000), 40), ((1, 6, 400, 400), 3), ((1, 9, 1, 128), 30), ((1, 40, 6625), 6)),
)
_NORMS: Final = (((1, 128, 384), 15), ((1, 1500, 384), 4), ((1, 1, 576), 40), ((1, 197, 192), 15))
_REDUCTIONS: Final = (
    *(("ReduceMean", (1, 128, 384), -1, 12), ("ReduceMax", (1, 64, 56, 56), 1, 6), ("ReduceMean", (1, 64), -1, 30)),
    *(("ReduceMean", (1, 128, 384), 1, 12), ("ReduceMax", (1, 300_000), -1, 8)),
)
_COMMON: Final = ("Relu", "Erf", "Tanh", "Sigmoid", "Sqrt", "Floor", "Neg")
_STEPS: Final[dict[str, Step]] = {"silu": silu, "gelu": node("Gelu", domain=MICROSOFT)}
_RARE: Final[dict[str, Step]] = {
    "Sin": node("Sin"),
    "Exp": lambda b, x: b.op("Exp", b.op("Neg", x)),
    "Log": _log,
    "Pow 2": _power(2.0),
    "Where": _select,
}

_POINTWISE: Final[dict[str, GraphMaker]] = {
    **{f"{op} {size}": chain(node(op), (1, size), times) for op in _COMMON for size, times in _SIZES},
    **{f"{name} {size}": chain(step, (1, size), n) for name, step in _STEPS.items() for size, n in _SIZES[1:]},
    **{f"{name} {size}": chain(step, (1, size), n) for name, step in _RARE.items() for size, n in _RARE_SIZES},
    "Pow 1.5": chain(_power(1.5), (1, 100_000), 2),
    "Clip": chain(node("Clip", -1.0, 6.0), (1, 300_000), 6),
    "Where, small": chain(_select, (1, 1000), 15),
    **{
        f"cast {to} {size}": chain(_cast(to), (1, size), times)
        for to in (10, 7)
        for size, times in ((500, 20), (50_000, 8), (800_000, 3))
    },
    **{f"{op} {n}": _binary(op, (1, n), (1, n), times) for op in ("Add", "Mul", "Div") for n, times in _SIZES},
    **{f"spread {dims} {other}": _binary("Mul", dims, other, times) for dims, other, times in _BROADCASTS},
    **{f"softmax {dims}": chain(node("Softmax", axis=-1), dims, times) for dims, times in _SOFTMAXES},
    **{
        f"softmax across {dims}": chain(node("Softmax", axis=1), dims, 3)
        for dims in ((1, 2, 160, 160), (1, 21, 64, 64))
    },
    **{f"layer norm {dims}": chain(_norm("LayerNormalization", dims[-1]), dims, times) for dims, times in _NORMS},
    **{f"norm across {size}": chain(node("LRN", size=5), (1, 64, size, size), 2) for size in (13, 55)},
    "instance norm": chain(_norm("InstanceNormalization", 32), (1, 32, 128, 128), 4),
    **{f"{op} {dims} {axis}": repeat_parallel(node(op, axes=[axis]), dims, n) for op, dims, axis, n in _REDUCTIONS},
}
_TRANSPOSES: Final = (
    *(((1, 128, 12, 32), (0, 2, 1, 3), 8), ((1, 1500, 6, 64), (0, 2, 1, 3), 2), ((1, 64, 56, 56), (0, 2, 3, 1), 4)),
    *(((1, 128, 384), (0, 2, 1), 8), ((1, 16, 160, 160), (0, 2, 3, 1), 2), ((1, 12, 128, 32), (0, 2, 3, 1), 8)),
    ((1, 8, 9, 64), (0, 2, 1, 3), 15),
)
_CONCATS: Final = (
    *(((1, 64, 40, 40), 1, 6), ((1, 128, 384), 2, 8), ((1, 4), 1, 40), ((1, 64, 112, 112), 1, 2)),
    ((1, 9, 128, 64), 3, 6),
)
_POOLS: Final = (("MaxPool", 3, 64, 56, 4), ("MaxPool", 5, 128, 20, 3), ("AveragePool", 3, 64, 56, 4))

GRAPHS: Final[dict[str, GraphMaker]] = {
    **_POINTWISE,
    **{f"transpose {dims} {perm}": chain(_transpose(perm), dims, times) for dims, perm, times in _TRANSPOSES},
    **{
        f"copy {dims} {axis}": chain(_concat_and_slice(axis, dims[axis]), dims, times) for dims, axis, times in _CONCATS
    },
    "gather many": _gather(128, 384, 4),
    "gather one": _gather(1, 64, 20),
    "views": chain(_views, (1, 8), 30),
    "sizes": chain(_reshapes, ("n", 8), 12),
    "made": _filled(12),
    "integers": _integers(30),
    **{f"{op} {k} {c} {size}": chain(_pool(op, k), (1, c, size, size), times) for op, k, c, size, times in _POOLS},
    "global pool": repeat_parallel(node("GlobalAveragePool"), (1, 64, 56, 56), 6),
    "global pool, small": repeat_parallel(node("GlobalAveragePool"), (1, 480, 14, 14), 8),
    "blocked pool": chain(_blocked_pool, (1, 64, 56, 56), 3),
    **{f"resize {mode}": repeat_parallel(_resize(mode), (1, 64, 40, 40), 2) for mode in ("nearest", "linear")},
    **{f"loop {passes}": _loop(passes) for passes in (5, 50)},
    "branches": _branches(8),
}
