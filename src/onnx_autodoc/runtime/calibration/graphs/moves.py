"""What moves data, what only looks at sizes, and control flow."""

from collections.abc import Callable
from typing import Final

from onnx_autodoc.runtime.calibration.graphs._builder import BOOL, INT64, Builder, Make, Proto, chain, side_by_side
from onnx_autodoc.runtime.calibration.graphs.convolutions import conv

Step = Callable[[Builder, str], str]


def _turn(perm: tuple[int, ...]) -> Step:
    back = tuple(perm.index(axis) for axis in range(len(perm)))

    def step(build: Builder, x: str) -> str:
        there = build.op("Neg", build.op("Transpose", x, perm=perm))
        return build.op("Neg", build.op("Transpose", there, perm=back))

    return step


def _join_and_cut(axis: int, size: int) -> Step:
    def step(build: Builder, x: str) -> str:
        both = build.op("Concat", x, x, axis=axis)
        return build.op("Slice", both, *(build.held([number], INT64) for number in (0, size, axis)))

    return step


def _gather(tokens: int, width: int, times: int) -> Make:
    def make() -> Proto:
        build = Builder(1, tokens, dtype=INT64)
        return build.model([build.op("Gather", build.weight(1000, width), build.x) for _ in range(times)])

    return make


def _views(build: Builder, x: str) -> str:
    axis = build.held([0], INT64)
    return build.op("Neg", build.op("Squeeze", build.op("Relu", build.op("Unsqueeze", x, axis)), axis))


def _sizes(build: Builder, x: str) -> str:
    """A Reshape to sizes that are asked for, as exporters write it."""
    size = build.op("Gather", build.op("Shape", x), build.held(0, INT64))
    target = build.op("Concat", build.op("Unsqueeze", size, build.held([0], INT64)), build.held([8], INT64), axis=0)
    return build.op("Neg", build.op("Reshape", x, target))


def _made(times: int) -> Make:
    def make() -> Proto:
        build = Builder("n", 8)
        shape, made = build.op("Shape", build.x), []
        for at in range(times):
            made.append(build.op("Expand", build.held(float(at)), shape))
            size = build.op("Gather", shape, build.held(0, INT64))
            made.append(build.op("Range", build.held(at, INT64), size, build.held(1, INT64)))
        return build.model(made)

    return make


def _integers(times: int) -> Make:
    def make() -> Proto:
        build = Builder(1, 16, dtype=INT64)
        x = build.x
        for at in range(times):
            x = build.op("Mul", build.op("Add", x, build.held([at], INT64)), build.held([1, 2] * 8, INT64))
        return build.model()

    return make


def _pool(op: str, kernel: int) -> Step:
    return lambda build, x: build.op(op, x, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)


def _blocked_pool(build: Builder, x: str) -> str:
    return _pool("MaxPool", 3)(build, conv(build, x, 64, 64, 1))


def _resize(mode: str) -> Step:
    plain = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} if mode == "nearest" else {}
    return lambda build, x: build.op("Resize", x, "", build.held([1, 1, 2, 2]), mode=mode, **plain)


def _loop(passes: int) -> Make:
    def make() -> Proto:
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
        build = Builder(1, 8)
        build.op("Loop", build.held(passes, INT64), build.held(True, BOOL), build.x, body=body)
        return build.model()

    return make


def _branches(times: int) -> Make:
    def make() -> Proto:
        from onnx import ValueInfoProto, helper

        build = Builder(1, 8)
        x = build.x
        for at in range(times):
            graphs = {}
            for name, op in (("then_branch", "Neg"), ("else_branch", "Abs")):
                node, out = helper.make_node(op, [x], [f"{name}{at}"]), ValueInfoProto(name=f"{name}{at}")
                graphs[name] = helper.make_graph([node], name, [], [out])
            total = build.op("ReduceSum", x, keepdims=0)
            x = build.op("If", build.op("Greater", total, build.held(0.0)), **graphs)
        return build.model()

    return make


_TURNS: Final = (
    *(((1, 128, 12, 32), (0, 2, 1, 3), 8), ((1, 1500, 6, 64), (0, 2, 1, 3), 2), ((1, 64, 56, 56), (0, 2, 3, 1), 4)),
    *(((1, 128, 384), (0, 2, 1), 8), ((1, 16, 160, 160), (0, 2, 3, 1), 2), ((1, 12, 128, 32), (0, 2, 3, 1), 8)),
    ((1, 8, 9, 64), (0, 2, 1, 3), 15),
)
_JOINS: Final = (
    *(((1, 64, 40, 40), 1, 6), ((1, 128, 384), 2, 8), ((1, 4), 1, 40), ((1, 64, 112, 112), 1, 2)),
    ((1, 9, 128, 64), 3, 6),
)
_POOLS: Final = (("MaxPool", 3, 64, 56, 4), ("MaxPool", 5, 128, 20, 3), ("AveragePool", 3, 64, 56, 4))


def _mean(build: Builder, x: str) -> str:
    return build.op("GlobalAveragePool", x)


GRAPHS: Final[dict[str, Make]] = {
    **{f"transpose {dims} {perm}": chain(_turn(perm), dims, times) for dims, perm, times in _TURNS},
    **{f"copy {dims} {axis}": chain(_join_and_cut(axis, dims[axis]), dims, times) for dims, axis, times in _JOINS},
    "gather many": _gather(128, 384, 4),
    "gather one": _gather(1, 64, 20),
    "views": chain(_views, (1, 8), 30),
    "sizes": chain(_sizes, ("n", 8), 12),
    "made": _made(12),
    "integers": _integers(30),
    **{f"{op} {k} {c} {size}": chain(_pool(op, k), (1, c, size, size), times) for op, k, c, size, times in _POOLS},
    "mean of a picture": side_by_side(_mean, (1, 64, 56, 56), 6),
    "mean of a small picture": side_by_side(_mean, (1, 480, 14, 14), 8),
    "pool in blocks": chain(_blocked_pool, (1, 64, 56, 56), 3),
    **{f"resize {mode}": side_by_side(_resize(mode), (1, 64, 40, 40), 2) for mode in ("nearest", "linear")},
    **{f"loop {passes}": _loop(passes) for passes in (5, 50)},
    "branches": _branches(8),
}
