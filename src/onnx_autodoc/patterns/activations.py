"""Decomposed activations: a value multiplied by a function of itself.

They are matched before gates and residuals, so that x·σ(x) is never mistaken for a gate.
"""

from collections.abc import Sequence
from typing import Final

from onnx_autodoc.patterns.net import Net
from onnx_autodoc.patterns.rules import Match, RewriteRule


def _has_slope_of_one_sixth(net: Net, match: Match) -> bool:
    """Of all hard sigmoids only x/6 + 1/2 makes a hard swish."""
    alpha = next((op.node_attribute("alpha") for op in match.ops if op.kind == "HardSigmoid"), None)
    return isinstance(alpha, int | float) and abs(alpha - 1 / 6) < 1e-3


def _clips_to_six(net: Net, match: Match) -> bool:
    """Whether a Clip has the bounds 0 and 6. Before opset 11 the bounds are attributes."""
    clip = match.ops[0]
    inputs = [net.scalar(value) for value in clip.inputs[1:3]]
    bounds: Sequence[object] = inputs or [clip.node_attribute(key) for key in ("min", "max")]
    return {bound for bound in bounds if isinstance(bound, int | float)} <= {0, 6}


RULES: Final = (
    RewriteRule("silu", ("y = Mul(x, Sigmoid(x))", "y = Div(x, Add(Exp(Neg(x)), 1))")),
    RewriteRule("gelu", ("y = Mul(x, Sigmoid(Mul(x, 1.702)))",)),
    # x itself where exp(x) would overflow
    RewriteRule("Softplus", ("y = Where(Greater(x, C), x, Softplus(x))",)),
    RewriteRule("mish", ("y = Mul(x, Tanh(Softplus(x)))", "y = Mul(x, Tanh(Log(Add(Exp(x), 1))))")),
    RewriteRule("relu-6", ("y = Clip(Add(x, 3))",), _clips_to_six),
    RewriteRule("relu-6", ("y = Min(Max(Add(x, 3), 0), 6)", "y = Max(Min(Add(x, 3), 6), 0)")),
    RewriteRule(
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
    RewriteRule("hard-swish", ("y = Mul(x, HardSigmoid(x))",), _has_slope_of_one_sixth),
    RewriteRule("one-and-erf", ("y = Add(Erf(Div(x, 1.41421)), 1)", "y = Add(Erf(Mul(x, 0.707107)), 1)")),
    RewriteRule("one-and-erf", ("y = Erfc(Mul(Neg(x), 0.707107))",)),
    RewriteRule("cube", ("y = Pow(x, 3)", "y = Mul(x, square(x))")),
    RewriteRule(
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
    RewriteRule(
        "gelu",
        (
            "y = Mul(Mul(x, one-and-erf|one-and-tanh(x)), 0.5)",
            "y = Mul(x, Mul(one-and-erf|one-and-tanh(x), 0.5))",
            "y = Mul(Mul(x, 0.5), one-and-erf|one-and-tanh(x))",
            "y = Mul(Div(x, 2), one-and-erf|one-and-tanh(x))",
            "y = Div(Mul(x, one-and-erf|one-and-tanh(x)), 2)",
        ),
    ),
    RewriteRule(
        "softmax",
        (
            "y = Softmax(x)",
            "e = Exp(Sub(x, ReduceMax(x)))\ny = Div(e, ReduceSum(e))",
            "e = Exp(Sub(x, Max(ReduceMax(x), C)))\ny = Div(e, ReduceSum(e))",
            "e = Exp(Sub(x, m))\ny = Div(e, ReduceSum(e))",
        ),
    ),
)
