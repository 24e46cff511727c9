"""Residuals of four kinds, and sums, concatenations and products that are not residuals."""

import numpy as np
import pytest

from onnx_autodoc.patterns import Net
from onnx_autodoc.patterns.residuals import find_bypassed_ops
from tests.patterns._nets import Value, build_net, list_kinds, list_residual_kinds

X: dict[str, Value] = {
    "x": (2, 8, 16),
    "z": (2, 8, 16),
    "W": (16, 16),
    "V": (16, 16),
    "B": (16,),
    "G": (16,),
    "T": (8, 16),
}
IMAGE: dict[str, Value] = {
    "x": (1, 8, 6, 6),
    "K": (8, 8, 3, 3),
    "P": (8, 8, 1, 1),
    "D": (16, 8, 1, 1),
    "U": (8, 16, 3, 3),
}
IMAGE |= {"S": (8,), "Z": (8,), "M": (8,), "V": (8,), "O": (8, 8, 3, 3)}
SAME = "Conv<pads = [1, 1, 1, 1]>"
TWICE = f"a = Relu({SAME}(x, K)) b = {SAME}(a, O)"


def list_residual_starts(net: Net) -> list[str]:
    """Return the names of the values where residuals start."""
    return [net.names[op.residual_start] for op in net if op.residual is not None]


TRUNK: dict[str, tuple[str, dict[str, Value]]] = {
    "around a map": ("y = Add(x, MatMul(x, W))", X),
    "the other way round": ("y = Add(MatMul(x, W), x)", X),
    "around a norm and a map": ("y = Add(x, MatMul(LayerNormalization(x, G), W))", X),
    "scaled": ("y = Add(x, Mul(MatMul(x, W), G))", X),
    "divided by one": ("y = Div(Add(x, MatMul(x, W)), 1.0)", X),
    "casts around": ("y = Add(x, Cast<to = 1>(MatMul(Cast<to = 10>(x), Cast<to = 10>(W))))", X),
    "quantizers around": (
        (
            "q = QuantizeLinear(x, 0.1) d = DequantizeLinear(q, 0.1) m = QuantizeLinear(MatMul(d, W), 0.1)"
            " y = Add(d, DequantizeLinear(m, 0.1))"
        ),
        X,
    ),
    "as a sum": ("y = Sum(x, MatMul(x, W))", X),
    "bottleneck": (f"{TWICE} y = Relu(Add(x, b))", IMAGE),
    "another layout inside": (
        "t = Transpose<perm = [0, 2, 3, 1]>(x) y = Add(x, Transpose<perm = [0, 3, 1, 2]>(MatMul(t, N)))",
        {**IMAGE, "N": (8, 8)},
    ),
    "another layout outside": (
        f"t = Transpose<perm = [0, 2, 3, 1]>(x) y = Add(t, Transpose<perm = [0, 2, 3, 1]>({SAME}(x, K)))",
        IMAGE,
    ),
    "projected": (f"{TWICE} y = Relu(Add(Conv(x, P), b))", IMAGE),
    "projected, with a norm": (f"{TWICE} y = Relu(Add(BatchNormalization(Conv(x, P), S, Z, M, V), b))", IMAGE),
    "projected, after a pool": (
        (
            f"a = Relu(Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, K)) b = {SAME}(a, O)"
            " y = Add(Conv(AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(x), P), b)"
        ),
        IMAGE,
    ),
}


@pytest.mark.parametrize(("body", "values"), TRUNK.values(), ids=TRUNK)
def test_sum_with_its_ancestor_is_a_residual(body: str, values: dict[str, Value]) -> None:
    net = build_net(body, **values)
    assert list_residual_kinds(net) == ["add"]
    assert list_residual_starts(net) == ["x"]


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("y = Add(MatMul(x, W), B)", X),  # a bias
        ("y = Add(MatMul(x, W), T)", X),  # positions
        ("y = Add(x, Relu(x))", X),  # no weights between
        ("y = Add(x, Mul(x, G))", X),
        ("y = Add(x, Mul(Mul(x, Mul(x, x)), 0.044715))", X),
        ("y = Add(MatMul(x, W), MatMul(x, V))", X),  # two linear layers of one input
        ("y = Add(MatMul(x, W), MatMul(z, V))", X),  # gates of a cell
        ("y = Add(x, z)", X),
        ("y = Add(x, ReduceMean(MatMul(x, W), [1]))", X),  # one value for all positions
        (
            "y = Add(Mul(x, R), Mul(Concat<axis = -1>(Neg(Slice(x, [8], [16], [2])), Slice(x, [0], [8], [2])), I))",
            {**X, "R": (8, 16), "I": (8, 16)},
        ),  # a rotation
        (f"y = Add(Conv(x, P), {SAME}(x, K))", IMAGE),  # parallel branches
    ],
)
def test_other_sums_are_not_residuals(body: str, values: dict[str, Value]) -> None:
    assert list_residual_kinds(build_net(body, **values)) == []


def test_bias_next_to_a_residual_is_not_a_residual() -> None:
    net = build_net("y = Add(x, Add(MatMul(x, W), B))", **X)
    assert list_residual_kinds(net) == ["add"] and list_kinds(net) == ["linear", "Add"]


def test_each_layer_has_a_residual() -> None:
    body = "a = Add(x, MatMul(x, W)) b = Add(a, MatMul(a, V)) y = Add(b, MatMul(b, W))"
    net = build_net(body, **X)
    assert list_residual_kinds(net) == ["add"] * 3
    assert list_residual_starts(net) == ["x", "a", "b"]


def test_post_norm_starts_the_next_residual() -> None:
    body = "a = LayerNormalization(Add(x, MatMul(x, W)), G) y = LayerNormalization(Add(a, MatMul(a, V)), G)"
    assert list_residual_starts(build_net(body, **X)) == ["x", "a"]


@pytest.mark.parametrize(("lateral", "kind"), [("Conv(x, P)", []), ("Relu(Conv(x, P))", []), ("x", ["add"])])
def test_pyramid_level_is_not_a_residual(lateral: str, kind: list[str]) -> None:
    """A pyramid adds a lateral convolution to the resized level above; an hourglass adds the value itself."""
    body = f"c = Relu(Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(x, K)) t = {SAME}(c, O)"
    body += f' y = Add({lateral}, Resize<mode = "nearest">(t, , [1.0, 1.0, 2.0, 2.0]))'
    assert list_residual_kinds(build_net(body, **IMAGE)) == kind


JOINED: dict[str, tuple[str, dict[str, Value]]] = {
    "dense": (f"y = Concat<axis = 1>(x, {SAME}(x, K))", IMAGE),
    "of three": (f"a = Relu({SAME}(x, K)) y = Concat<axis = 1>(x, a, {SAME}(a, O))", IMAGE),
    "the way down and up again": (
        (
            "d = Relu(Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(x, K)) u = Resize(d, , [1.0, 1.0, 2.0, 2.0])"
            " y = Concat<axis = 1>(x, u)"
        ),
        IMAGE,
    ),
    "with a projection": (
        (
            "d = Relu(Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(x, K))"
            " y = Concat<axis = 1>(Conv(x, P), Resize(d, , [1.0, 1.0, 2.0, 2.0]))"
        ),
        IMAGE,
    ),
    "features of tokens": ("y = Concat<axis = 2>(x, MatMul(x, W))", X),
    "halves": (
        f"a, b = Split<axis = 1, num_outputs = 2>(x) y = Concat<axis = 1>(a, b, {SAME}(b, H))",
        {**IMAGE, "H": (4, 4, 3, 3)},
    ),
}


@pytest.mark.parametrize(("body", "values"), JOINED.values(), ids=JOINED)
def test_concat_with_its_ancestor_is_a_residual(body: str, values: dict[str, Value]) -> None:
    assert list_residual_kinds(build_net(body, **values)) == ["concat"]


def test_longest_residual_of_a_deep_net_is_detected() -> None:
    layers = " ".join(f"m{at + 1} = Relu({SAME}(m{at}, K))" for at in range(800))
    body = f"m0 = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) {layers}"
    net = build_net(f"{body} y = Concat<axis = 1>(x, Resize(m800, , [1.0, 1.0, 2.0, 2.0]))", **IMAGE)
    assert list_residual_kinds(net) == ["concat"] and list_residual_starts(net) == ["x"]


@pytest.mark.parametrize(
    ("body", "values"),
    [
        (f"y = Concat<axis = 1>(Conv(x, P), {SAME}(x, K))", IMAGE),  # parallel branches
        ("p = MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x) y = Concat<axis = 1>(x, p)", IMAGE),  # pooled
        (f"y = Concat<axis = 0>(x, {SAME}(x, K))", IMAGE),  # a batch of two
        (f"y = Concat<axis = 2>(x, {SAME}(x, K))", IMAGE),  # along the height
        ("y = Reshape(MatMul(x, W), Concat<axis = 0>(Slice(Shape(x), [0], [1]), [-1]))", X),  # sizes
        ("y = Concat<axis = 1>(C, x)", {**X, "C": (2, 1, 16)}),  # a class token
        ("y = Concat<axis = 2>(x, z)", X),
    ],
)
def test_other_concats_are_not_residuals(body: str, values: dict[str, Value]) -> None:
    assert list_residual_kinds(build_net(body, **values)) == []


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("y = Sub(x, MatMul(x, W))", ["subtract"]),  # subtracted noise
        ("y = Sub(MatMul(x, W), x)", []),  # the input is subtracted
        ("y = Sub(x, Relu(x))", []),
        ("y = Sub(x, z)", []),
        ("y = Sub(x, ReduceMean(x, [-1]))", []),
        ("y = Mul(x, Sigmoid(MatMul(x, W)))", ["gate"]),
        ("y = Mul(x, Softmax(MatMul(x, W)))", ["gate"]),
        ("y = Mul(x, Tanh(MatMul(x, W)))", ["gate"]),
        ("y = Mul(x, Sigmoid(x))", []),  # an activation
        ("y = Mul(x, Sigmoid(MatMul(z, W)))", []),  # a gate of another input
        ("y = Mul(x, MatMul(x, W))", []),
        ("y = Mul(x, G)", []),
    ],
)
def test_differences_and_gates(body: str, kind: list[str]) -> None:
    assert list_residual_kinds(build_net(body, **X)) == kind


def test_bypassed_ops_of_a_residual() -> None:
    body = "n = LayerNormalization(x, G) h = MatMul(n, W) y = Relu(Add(x, MatMul(Erf(h), V)))"
    net = build_net(body, **X)
    assert [[op.kind for op in ops] for ops in find_bypassed_ops(net).values()] == [
        ["layer-norm", "linear", "Erf", "linear"]
    ]


def test_bypassed_ops_are_nested() -> None:
    body = "a = MatMul(x, W) b = Add(a, MatMul(Erf(a), V)) y = Concat<axis = 2>(x, b)"
    net = build_net(body, **X)
    inner, outer = find_bypassed_ops(net).values()
    assert [op.kind for op in inner] == ["Erf", "linear"]
    assert [op.kind for op in outer] == ["linear", "Erf", "linear", "Add"]


def test_path_through_shapes_is_not_a_residual() -> None:
    """The added value depends on the shape of x only."""
    body = "n = Shape(x) y = Add(x, MatMul(Expand(Slice(z, [0], [1], [1]), n), W))"
    assert list_residual_kinds(build_net(body, **X)) == []


def test_path_through_quantizer_scales_is_not_a_residual() -> None:
    body = (
        "q, s, o = DynamicQuantizeLinear(x) m = Mul(Cast<to = 1>(MatMulInteger(q, N, o)), Mul(s, 0.02)) y = Add(z, m)"
    )
    assert list_residual_kinds(build_net(body, x=(8, 16), z=(8, 16), N=np.ones((16, 16), np.int8))) == []
    body = body.replace("Add(z, m)", "Add(x, m)")
    assert list_residual_kinds(build_net(body, x=(8, 16), N=np.ones((16, 16), np.int8))) == ["add"]


def test_search_through_layout_changes_is_bounded() -> None:
    """Each of many sums would search back to the input."""
    turned = " ".join(f"t{at + 1} = Transpose<perm = [0, 2, 1]>(t{at})" for at in range(60))
    text = turned.replace("(t0)", "(x)") + " y = Add(t60, MatMul(t60, W))"
    assert list_residual_starts(build_net(text, **X)) != ["x"]
