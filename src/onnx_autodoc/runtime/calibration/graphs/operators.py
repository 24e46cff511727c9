"""Single operators: elementwise, norms, softmax, reductions, data movement, shapes, pooling, control flow.

Sizes range from those where launches dominate to those beyond caches.
"""

from typing import Any, Final

from onnx_autodoc.runtime.calibration.graphs.builder import (
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


def silu(op: GraphBuilder, x: str) -> str:
    return op.Mul(x, op.Sigmoid(x))


def _power(exponent: float) -> Step:
    return lambda op, x: op.Pow(op.Abs(x), exponent)


def _select(op: GraphBuilder, x: str) -> str:
    return op.Where(op.Greater(x, 0.0), x, 0.0)


def _cast(to: int, size: int, times: int) -> GraphMaker:
    return chain(lambda op, x: op.Cast(op.Cast(x, to=to), to=1), (1, size), times)


def _norm(op_type: str, width: int) -> Step:
    return lambda op, x: op.add_node(op_type, x, op.weight(width), op.weight(width))[0]


@deferred
def _binary(op_type: str, dims: tuple[int, ...], second_dims: tuple[int, ...], times: int) -> Proto:
    op = GraphBuilder(*dims)
    second, x = op.input("z", second_dims), op.x
    for _ in range(times):
        (x,) = op.add_node(op_type, x, second)
    return op.model()


def _transpose(dims: tuple[int, ...], perm: tuple[int, ...], times: int) -> GraphMaker:
    inverse = tuple(perm.index(axis) for axis in range(len(perm)))

    def step(op: GraphBuilder, x: str) -> str:
        return op.Neg(op.Transpose(op.Neg(op.Transpose(x, perm=perm)), perm=inverse))

    return chain(step, dims, times)


def _concat_and_slice(dims: tuple[int, ...], axis: int, times: int) -> GraphMaker:
    return chain(lambda op, x: op.Slice(op.Concat(x, x, axis=axis), [0], [dims[axis]], [axis]), dims, times)


@deferred
def _gather(tokens: int, width: int, times: int) -> Proto:
    op = GraphBuilder(1, tokens, dtype=INT64)
    return op.model([op.Gather(op.weight(1000, width), op.x) for _ in range(times)])


def _views(op: GraphBuilder, x: str) -> str:
    return op.Neg(op.Squeeze(op.Relu(op.Unsqueeze(x, [0])), [0]))


def _reshapes(op: GraphBuilder, x: str) -> str:
    """Reshape to sizes taken from Shape, as exporters write it."""
    size = op.Unsqueeze(op.Gather(op.Shape(x), 0), [0])
    return op.Neg(op.Reshape(x, op.Concat(size, [8], axis=0)))


@deferred
def _filled(times: int) -> Proto:
    op = GraphBuilder("n", 8)
    shape, values = op.Shape(op.x), list[str]()
    for index in range(times):
        values += [op.Expand(float(index), shape), op.Range(index, op.Gather(shape, 0), 1)]
    return op.model(values)


@deferred
def _integers(times: int) -> Proto:
    op = GraphBuilder(1, 16, dtype=INT64)
    x = op.x
    for index in range(times):
        x = op.Mul(op.Add(x, [index]), [1, 2] * 8)
    return op.model()


def _resize(mode: str) -> GraphMaker:
    options = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} if mode == "nearest" else {}
    step: Step = lambda op, x: op.Resize(x, "", [1.0, 1.0, 2.0, 2.0], mode=mode, **options)  # noqa: E731
    return repeat_parallel(step, (1, 64, 40, 40), 2)


@deferred
def _loop(passes: int) -> Proto:
    from onnx import TensorProto, helper

    info = helper.make_tensor_value_info
    nodes = [helper.make_node("Identity", ["c"], ["co"]), helper.make_node("Add", ["a", "one"], ["ao"])]
    inputs = [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []), info("a", TensorProto.FLOAT, [1, 8])]
    outputs = [info("co", TensorProto.BOOL, []), info("ao", TensorProto.FLOAT, [1, 8])]
    one = helper.make_tensor("one", TensorProto.FLOAT, [1, 8], [1.0] * 8)
    op = GraphBuilder(1, 8)
    op.Loop(passes, True, op.x, body=helper.make_graph(nodes, "body", inputs, outputs, [one]))
    return op.model()


@deferred
def _branches(times: int) -> Proto:
    from onnx import ValueInfoProto, helper

    op = GraphBuilder(1, 8)
    x = op.x
    for index in range(times):
        graphs: dict[str, Any] = {}
        for name, op_type in (("then_branch", "Neg"), ("else_branch", "Abs")):
            output = f"{name}{index}"
            nodes = [helper.make_node(op_type, [x], [output])]
            graphs[name] = helper.make_graph(nodes, name, [], [ValueInfoProto(name=output)])
        x = op.If(op.Greater(op.ReduceSum(x, keepdims=0), 0.0), **graphs)
    return op.model()


def _pool(op_type: str, kernel: int, channels: int, size: int, times: int) -> GraphMaker:
    return chain(_pool_step(op_type, kernel), (1, channels, size, size), times)


def _pool_step(op_type: str, kernel: int) -> Step:
    return node(op_type, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)


def _blocked_pool(op: GraphBuilder, x: str) -> str:
    return _pool_step("MaxPool", 3)(op, conv(op, x, 64, 64, 1))


_SIZES: Final = ((256, 30), (16_384, 20), (200_000, 10), (1_500_000, 4))
_RARE_SIZES: Final = ((16_384, 8), (300_000, 3))
_CAST_SIZES: Final = ((500, 20), (50_000, 8), (800_000, 3))
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
    "Exp": lambda op, x: op.Exp(op.Neg(x)),
    "Log": lambda op, x: op.Abs(op.Log(op.Add(x, 2.0))),
    "Pow 2": _power(2.0),
    "Where": _select,
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
    **{f"{op} {size}": chain(node(op), (1, size), times) for op in _COMMON for size, times in _SIZES},
    **{f"{name} {size}": chain(step, (1, size), n) for name, step in _STEPS.items() for size, n in _SIZES[1:]},
    **{f"{name} {size}": chain(step, (1, size), n) for name, step in _RARE.items() for size, n in _RARE_SIZES},
    "Pow 1.5": chain(_power(1.5), (1, 100_000), 2),
    "Clip": chain(node("Clip", -1.0, 6.0), (1, 300_000), 6),
    "Where, small": chain(_select, (1, 1000), 15),
    **{f"cast {to} {size}": _cast(to, size, times) for to in (10, 7) for size, times in _CAST_SIZES},
    **{f"{op} {n}": _binary(op, (1, n), (1, n), times) for op in ("Add", "Mul", "Div") for n, times in _SIZES},
    **{f"spread {dims} {second}": _binary("Mul", dims, second, times) for dims, second, times in _BROADCASTS},
    **{f"softmax {dims}": chain(node("Softmax", axis=-1), dims, times) for dims, times in _SOFTMAXES},
    **{
        f"softmax across {dims}": chain(node("Softmax", axis=1), dims, 3)
        for dims in ((1, 2, 160, 160), (1, 21, 64, 64))
    },
    **{f"layer norm {dims}": chain(_norm("LayerNormalization", dims[-1]), dims, times) for dims, times in _NORMS},
    **{f"norm across {size}": chain(node("LRN", size=5), (1, 64, size, size), 2) for size in (13, 55)},
    "instance norm": chain(_norm("InstanceNormalization", 32), (1, 32, 128, 128), 4),
    **{f"{op} {dims} {axis}": repeat_parallel(node(op, axes=[axis]), dims, n) for op, dims, axis, n in _REDUCTIONS},
    **{f"transpose {dims} {perm}": _transpose(dims, perm, times) for dims, perm, times in _TRANSPOSES},
    **{f"copy {dims} {axis}": _concat_and_slice(dims, axis, times) for dims, axis, times in _CONCATS},
    "gather many": _gather(128, 384, 4),
    "gather one": _gather(1, 64, 20),
    "views": chain(_views, (1, 8), 30),
    "sizes": chain(_reshapes, ("n", 8), 12),
    "made": _filled(12),
    "integers": _integers(30),
    **{f"{op} {k} {c} {size}": _pool(op, k, c, size, times) for op, k, c, size, times in _POOLS},
    "global pool": repeat_parallel(node("GlobalAveragePool"), (1, 64, 56, 56), 6),
    "global pool, small": repeat_parallel(node("GlobalAveragePool"), (1, 480, 14, 14), 8),
    "blocked pool": chain(_blocked_pool, (1, 64, 56, 56), 3),
    **{f"resize {mode}": _resize(mode) for mode in ("nearest", "linear")},
    **{f"loop {passes}": _loop(passes) for passes in (5, 50)},
    "branches": _branches(8),
}
