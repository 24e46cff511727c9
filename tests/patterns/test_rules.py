"""The notation of patterns, and rewrite rules."""

import pytest

from onnx_autodoc.patterns import Net
from onnx_autodoc.patterns.attributes import BlockAttributes
from onnx_autodoc.patterns.rules import (
    Match,
    PatternNumber,
    PatternOp,
    PatternValue,
    RewriteRule,
    apply_rules,
    match_pattern,
    parse_pattern,
)
from tests.patterns._nets import Value, build_net, list_kinds

X: dict[str, Value] = {"x": (2, 16), "z": (2, 16), "W": (16,)}


def find_match(pattern: str, body: str, **values: Value) -> Match | None:
    """Return the match of a pattern with the op that computes y."""
    net = build_net(body, flat=True, **{**X, **values})
    last = net.producers[net.outputs["y"]]
    assert last is not None
    return match_pattern(net, parse_pattern(pattern), last)


def test_named_lines_are_substituted() -> None:
    inner = PatternOp(("Sigmoid",), (PatternValue("x", False),), "s")
    assert parse_pattern("s = Sigmoid(x)\n  y = Mul(x, s)\n") == PatternOp(
        ("Mul",), (PatternValue("x", False), inner), "y"
    )


def test_nested_calls_are_parsed() -> None:
    inner = PatternOp(("over-root", "Exp"), (PatternValue("x", False),), "")
    assert parse_pattern("y = Div(-1.5e-3, over-root|Exp(x))") == PatternOp(
        ("Div",), (PatternNumber(-0.0015), inner), "y"
    )


def test_capitals_are_constants() -> None:
    assert parse_pattern("y = Mul(x, W)").inputs == (PatternValue("x", False), PatternValue("W", True))


@pytest.mark.parametrize("text", ["y = x", "", "y = 1.5"])
def test_pattern_ends_with_an_operator(text: str) -> None:
    with pytest.raises(ValueError, match="a pattern must end with an operator"):
        parse_pattern(text)


@pytest.mark.parametrize(
    ("pattern", "body", "is_match"),
    [
        # the same name is the same value
        ("y = Mul(x, Sigmoid(x))", "y = Mul(x, Sigmoid(x))", True),
        ("y = Mul(x, Sigmoid(x))", "y = Mul(z, Sigmoid(x))", False),
        ("s = Exp(x)\ny = Div(s, ReduceSum(s))", "s = Exp(x) y = Div(s, ReduceSum(s, [-1]))", True),
        ("s = Exp(x)\ny = Div(s, ReduceSum(s))", "y = Div(Exp(x), ReduceSum(Exp(x), [-1]))", False),
        # any order where an operator allows it
        ("y = Mul(x, Sigmoid(x))", "y = Mul(Sigmoid(x), x)", True),
        ("y = Add(Mul(x, W), Exp(x))", "y = Add(Exp(x), Mul(W, x))", True),
        ("y = Max(Exp(x), 2)", "y = Max(2.0, Exp(x))", True),
        ("y = Sub(x, Exp(x))", "y = Sub(Exp(x), x)", False),
        ("y = Div(x, Exp(x))", "y = Div(Exp(x), x)", False),
        # a name may be bound to either operand
        ("y = Mul(Mul(a, Exp(b)), b)", "y = Mul(Mul(Exp(x), Exp(z)), x)", True),
        # capitals are weights, or values computed from weights
        ("y = Mul(x, W)", "y = Mul(x, W)", True),
        ("y = Mul(x, W)", "y = Mul(x, Exp(W))", True),
        ("y = Mul(x, W)", "y = Mul(x, z)", False),
        ("y = Mul(x, W)", "y = Mul(x, Cast<to = 1>(Gather(Shape(x), 0)))", True),
        # numbers are constants of their value, in fp16 precision
        ("y = Mul(x, 1.702)", "y = Mul(x, 1.702)", True),
        ("y = Mul(x, 1.702)", "y = Mul(x, 1.7021484)", True),
        ("y = Mul(x, 1.702)", "y = Mul(x, 1.71)", False),
        ("y = Mul(x, 1.702)", "y = Mul(x, z)", False),
        ("y = Mul(x, 1.702)", "y = Mul(x, W)", False),
        ("y = Pow(x, -0.5)", "y = Pow(x, -0.5)", True),
        ("y = Pow(x, -0.5)", "y = Pow(x, 0.5)", False),
        ("y = Max(x, 0)", "y = Max(x, 0.0)", True),
        ("y = Max(x, 0)", "y = Max(x, 1.0)", False),
        # either operator
        ("y = Mul(x, Sigmoid|Tanh(x))", "y = Mul(x, Tanh(x))", True),
        ("y = Mul(x, Sigmoid|Tanh(x))", "y = Mul(x, Erf(x))", False),
        # other inputs must be constant
        ("y = Clip(x)", "y = Clip(x, 0.0, 6.0)", True),
        ("y = Where(x)", "y = Where(Cast<to = 9>(x), x, z)", False),
        ("y = Clip(x, 0, 6)", "y = Clip(x, 0.0)", False),
        # the name of a line is a value too: here, one with a producer of another kind
        ("s = Exp(x)\ny = Mul(s, s)", "y = Mul(x, x)", False),
    ],
)
def test_pattern_notation_matches_as_documented(pattern: str, body: str, is_match: bool) -> None:
    assert (find_match(pattern, body) is not None) == is_match


def test_match_binds_values_and_ops() -> None:
    net = build_net("y = Mul(Sigmoid(x), z)", flat=True, **X)
    match_ = match_pattern(net, parse_pattern("s = Sigmoid(a)\ny = Mul(b, s)"), net.of("Mul")[0])
    assert match_ is not None
    assert (match_["a"], match_["b"]) == (net.inputs["x"], net.inputs["z"])
    assert [op.kind for op in match_.ops] == ["Mul", "Sigmoid"]


def test_second_output_is_another_value() -> None:
    body = "a, b = Split<axis = -1, num_outputs = 2>(x) y = Exp({})"
    assert find_match("y = Exp(Split(x))", body.format("a")) is not None
    assert find_match("y = Exp(Split(x))", body.format("b")) is None


def test_rule_replaces_a_match_by_one_op() -> None:
    net = build_net("y = Exp(Mul(x, Sigmoid(x)))", flat=True, **X)
    apply_rules(net, (RewriteRule("silu", ("y = Mul(x, Sigmoid(x))",)),))
    assert list_kinds(net) == ["silu", "Exp"]
    (silu,) = net.of("silu")
    assert [op.kind for op in silu.parts] == ["Sigmoid", "Mul"]
    assert (silu.inputs, silu.outputs) == ((net.inputs["x"],), net.of("Exp")[0].inputs)
    assert silu.rows == (0, 1)


def test_condition_rejects_matches_and_attributes_are_stored() -> None:
    net = build_net("y = Add(Mul(x, 2.0), Mul(z, 3.0))", flat=True, **X)

    def is_two(net_: Net, match: Match) -> bool:
        return net_.scalar(match["C"]) == 2

    def attributes(net_: Net, match: Match) -> BlockAttributes:
        return BlockAttributes(in_features=match["x"])

    apply_rules(net, (RewriteRule("double", ("y = Mul(x, C)",), is_two, attributes),))
    assert list_kinds(net) == ["double", "Mul", "Add"]
    assert net.of("double")[0].in_features == net.inputs["x"]


def test_closed_rule_rejects_ops_read_elsewhere() -> None:
    body = "s = Sigmoid(x) y = Add(Mul(x, s), s)"
    for rule, kinds in ((False, ["Sigmoid", "silu", "Add"]), (True, ["Sigmoid", "Mul", "Add"])):
        net = build_net(body, flat=True, **X)
        apply_rules(net, (RewriteRule("silu", ("y = Mul(x, Sigmoid(x))",), closed=rule),))
        assert list_kinds(net) == kinds


def test_rules_match_blocks_of_earlier_rules() -> None:
    net = build_net("y = Sqrt(Add(Mul(x, x), Mul(z, z)))", flat=True, **X)
    apply_rules(
        net,
        (RewriteRule("square", ("y = Mul(x, x)",)), RewriteRule("length", ("y = Sqrt(Add(square(a), square(b)))",))),
    )
    assert list_kinds(net) == ["length"]
    assert [op.kind for op in net.of("length")[0].walk()] == [
        "length",
        "square",
        "Mul",
        "square",
        "Mul",
        "Add",
        "Sqrt",
    ]
