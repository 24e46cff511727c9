"""Activations written out: a value times a function of the same value. They are claimed before gates and skips are
sought, so that x·σ(x) is never taken for a gate.
"""

from typing import Final

from onnx_autodoc.patterns._net import Fact, Net
from onnx_autodoc.patterns._pattern import Match
from onnx_autodoc.patterns._rule import Rule


def _is_a_sixth(net: Net, found: Match) -> dict[str, Fact] | None:
    """Of hard sigmoids only x/6 + 1/2 makes hard swish."""
    node = next((term.node for term in found.terms if term.op == "HardSigmoid"), None)
    alpha = node.attributes.get("alpha", 0.2) if node is not None else None
    return {} if isinstance(alpha, int | float) and abs(alpha - 1 / 6) < 1e-3 else None


def _is_up_to_six(net: Net, found: Match) -> dict[str, Fact] | None:
    """Between 0 and 6; before opset 11 the bounds are attributes."""
    clip = found.terms[0]
    given = [net.number(value) for value in clip.inputs[1:3]]
    held = [clip.node.attributes.get(key) for key in ("min", "max")] if clip.node is not None else []
    bounds = [bound for bound in given or held if isinstance(bound, int | float)]
    return {} if set(bounds) <= {0, 6} else None


RULES: Final = (
    Rule("silu", ("y = Mul(x, Sigmoid(x))", "y = Div(x, Add(Exp(Neg(x)), 1))")),
    Rule("gelu", ("y = Mul(x, Sigmoid(Mul(x, 1.702)))",)),
    # where the exponent would overflow, the value itself
    Rule("Softplus", ("y = Where(Greater(x, C), x, Softplus(x))",)),
    Rule("mish", ("y = Mul(x, Tanh(Softplus(x)))", "y = Mul(x, Tanh(Log(Add(Exp(x), 1))))")),
    Rule("relu-6", ("y = Clip(Add(x, 3))",), _is_up_to_six),
    Rule("relu-6", ("y = Min(Max(Add(x, 3), 0), 6)", "y = Max(Min(Add(x, 3), 6), 0)")),
    Rule(
        "hard-swish",
        (
            "y = Div(Mul(x, relu-6(x)), 6)",
            "y = Mul(Mul(x, relu-6(x)), 0.166667)",
            "y = Mul(x, Div(relu-6(x), 6))",
            "y = Mul(x, Mul(relu-6(x), 0.166667))",
            "y = Mul(Div(x, 6), relu-6(x))",
            "y = Mul(Mul(x, 0.166667), relu-6(x))",
        ),
    ),
    Rule("hard-swish", ("y = Mul(x, HardSigmoid(x))",), _is_a_sixth),
    Rule("one-and-erf", ("y = Add(Erf(Div(x, 1.41421)), 1)", "y = Add(Erf(Mul(x, 0.707107)), 1)")),
    Rule("one-and-erf", ("y = Erfc(Mul(Neg(x), 0.707107))",)),
    Rule("cube", ("y = Pow(x, 3)", "y = Mul(x, square(x))")),
    Rule(
        "one-and-tanh",
        (
            "y = Add(Tanh(Mul(Add(x, Mul(cube(x), 0.044715)), 0.797885)), 1)",
            "y = Add(Tanh(Mul(Add(x, Mul(x, Mul(x, Mul(x, 0.044715)))), 0.797885)), 1)",
            "y = Add(Tanh(Mul(x, Mul(Add(Mul(square(x), 0.044715), 1), 0.797885))), 1)",
            "y = Add(Tanh(Mul(Mul(x, 0.797885), Add(Mul(square(x), 0.044715), 1))), 1)",
            "y = Add(Tanh(Mul(Mul(x, Add(Mul(square(x), 0.044715), 1)), 0.797885)), 1)",
            "y = Add(Tanh(Mul(Mul(x, 0.797885), Add(Mul(x, Mul(x, 0.044715)), 1))), 1)",
            "y = Add(Tanh(Mul(x, Add(Mul(square(x), 0.0356774), 0.797885))), 1)",
        ),
    ),
    Rule(
        "gelu",
        (
            "y = Mul(Mul(x, one-and-erf|one-and-tanh(x)), 0.5)",
            "y = Mul(x, Mul(one-and-erf|one-and-tanh(x), 0.5))",
            "y = Mul(Mul(x, 0.5), one-and-erf|one-and-tanh(x))",
            "y = Mul(Div(x, 2), one-and-erf|one-and-tanh(x))",
            "y = Div(Mul(x, one-and-erf|one-and-tanh(x)), 2)",
        ),
    ),
    Rule(
        "softmax",
        (
            "y = Softmax(x)",
            "e = Exp(Sub(x, ReduceMax(x)))\ny = Div(e, ReduceSum(e))",
            "e = Exp(Sub(x, Max(ReduceMax(x), C)))\ny = Div(e, ReduceSum(e))",
            "e = Exp(Sub(x, m))\ny = Div(e, ReduceSum(e))",
        ),
    ),
)
