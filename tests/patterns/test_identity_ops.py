"""Identity operations are removed from the net; similar operations with an effect are not."""

import numpy as np
import pytest

from tests.patterns._nets import Value, build_net, list_kinds

X: dict[str, Value] = {"x": (2, 8, 16), "W": (16,), "K": np.array(7, np.float32), "Z": np.array(128, np.uint8)}
NOTHING = [
    "Identity(x)",
    "Dropout(x)",
    "Cast<to = 10>(x)",
    "CastLike(x, W)",
    "DequantizeLinear(QuantizeLinear(x, 0.1), 0.1)",
    "Unsqueeze(x, [0])",
    "Squeeze(Unsqueeze(x, [0]), [0])",
    "Mul(x, 1.0)",
    "Mul(1.0, x)",
    "Div(x, 1.0)",
    "Add(x, 0.0)",
    "Add(0.0, x)",
    "Sub(x, 0.0)",
    "Pow(x, 1.0)",
    "Slice(x, [0], [2147483647], [1])",
    "Concat<axis = 1>(x)",
    "Expand(x, [1, 8, 16])",
    "Tile(x, [1, 1, 1])",
    "Reshape(x, [1, 2, 8, 16])",
    "Pad(x, [0, 0, 0, 0, 0, 0])",
    "Clip(x, -65504.0, 65504.0)",
    "Where(IsNaN(x), 0.0, x)",
    "Mul(x, DequantizeLinear(Z, 0.0078125))",  # one, quantized
]
SOMETHING = [
    ("Mul(x, 2.0)", ["Mul"]),
    ("Mul(x, W)", ["Mul"]),
    ("Div(1.0, x)", ["Div"]),
    ("Sub(0.0, x)", ["Sub"]),
    ("Add(x, 1.0)", ["Add"]),
    ("Pow(x, 2.0)", ["Pow"]),
    ("Slice(x, [0], [4], [1])", ["Slice"]),
    ("Concat<axis = 1>(x, x)", ["Concat"]),
    ("Expand(x, [3, 2, 8, 16])", ["Expand"]),
    ("Tile(x, [1, 1, 2])", ["Tile"]),
    ("Reshape(x, [2, 128])", ["Reshape"]),
    ("Pad(x, [0, 0, 0, 0, 0, 1])", ["Pad"]),
    ("Clip(x, 0.0, 6.0)", ["Clip"]),
    ("Clip(x, 0.0, 65504.0)", ["Clip"]),
    ("Clip(x)", ["Clip"]),
    ("Where(IsNaN(x), 0.0, Exp(x))", ["Exp", "IsNaN", "Where"]),
    ("Where(IsInf(x), 0.0, x)", ["IsInf", "Where"]),
    ("Transpose(x)", ["Transpose"]),
]


@pytest.mark.parametrize("call", NOTHING)
def test_identity_ops_are_removed(call: str) -> None:
    net = build_net(f"y = Relu({call})", flat=True, **X)
    assert [op for op in list_kinds(net) if op != "IsNaN"] == ["Relu"]
    assert net.of("Relu")[0].inputs == (net.inputs["x"],)


@pytest.mark.parametrize(("call", "ops"), SOMETHING)
def test_effective_ops_are_on_the_net(call: str, ops: list[str]) -> None:
    net = build_net(f"y = Relu({call})", flat=True, **X)
    assert sorted(list_kinds(net)) == sorted([*ops, "Relu"])


def test_pooled_features_may_be_flattened() -> None:
    assert list_kinds(build_net("y = Relu(Flatten(x))", flat=True, x=(2, 16, 1, 1))) == ["Relu"]
    assert list_kinds(build_net("y = Relu(Flatten(x))", flat=True, x=(2, 16, 3, 1))) == ["Flatten", "Relu"]


@pytest.mark.parametrize(
    ("size", "kept"),
    [
        ((2, 1, 1, 16), False),
        ((1, 1, 1, 16), False),
        ((2, 3, 1, 16), True),
        ((1, 28, 28, 1), True),
        ((2, 16, 1, 1), False),
    ],
)
def test_transpose_of_unit_axes_is_an_identity(size: tuple[int, ...], kept: bool) -> None:
    net = build_net("y = Relu(Transpose<perm = [0, 3, 1, 2]>(x))", flat=True, x=size)
    assert ("Transpose" in list_kinds(net)) == kept


def test_output_may_be_a_forwarded_value() -> None:
    net = build_net("y = Cast<to = 10>(Relu(x))", flat=True, **X)
    assert net.outputs["y"] == net.of("Relu")[0].outputs[0]
    assert net.identity_rows == {1: net.outputs["y"]}


def test_dynamic_quantization_scales_are_not_data() -> None:
    """The product reads the quantized x only; a later Mul that only restores the scale is an identity."""
    body = "q, s, z = DynamicQuantizeLinear(x) y = Mul(Cast<to = 1>(MatMulInteger(q, M, z)), Mul(s, 0.02))"
    net = build_net(body, flat=True, x=(2, 16), M=np.ones((16, 4), np.int8))
    assert list_kinds(net) == ["linear"]
    assert net.of("linear")[0].inputs[0] == net.inputs["x"]


def test_product_with_a_computed_one_is_on_the_net() -> None:
    net = build_net("y = Mul(x, ReduceMax(x, [0, 1, 2]))", flat=True, **X)
    assert list_kinds(net) == ["ReduceMax", "Mul"]


def test_ops_of_unknown_effect_are_on_the_net() -> None:
    net = build_net("y = Relu(Reshape(x, s))", flat=True, invalid=True, x="float[N,4]", s="int64[2]")
    assert list_kinds(net) == ["Reshape", "Relu"]
