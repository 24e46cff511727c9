"""Normalizations, as one operator or decomposed into a mean, a difference, a square and a root.

All divide by the root of a mean square plus a small epsilon. Layer norm squares the difference from the mean, RMS norm
the values themselves. A root without an epsilon is a magnitude, not a norm.
"""

from typing import Final

from msgspec.structs import replace

from onnx_autodoc.patterns.attributes import NormAttributes
from onnx_autodoc.patterns.net import Net
from onnx_autodoc.patterns.rules import Match, RewriteRule

_MAX_EPSILON: Final = 0.02


def _has_epsilon(net: Net, match: Match) -> bool:
    number = net.scalar(match["E"])
    return number is not None and 0 <= number < _MAX_EPSILON


def _is_learned_affine(net: Net, match: Match) -> bool:
    """Whether `G` (scale) or `B` (bias) has one number per feature, and is the first of its sort.

    A second one, or one that spans several axes, is part of a rotary embedding.
    """
    is_scale = "G" in match.values
    dims = net.shape(match["G" if is_scale else "B"])
    is_repeated = any(op.norm.scaled if is_scale else op.norm.shifted for op in match.ops)
    return not is_repeated and dims is not None and sum(dim != 1 for dim in dims) == 1


def _affine_attributes(net: Net, match: Match) -> NormAttributes:
    norm = next((op.norm for op in match.ops if isinstance(op.attributes, NormAttributes)), NormAttributes())
    return replace(norm, scaled=True) if "G" in match.values else replace(norm, shifted=True)


def _is_read_by_norm(net: Net, match: Match) -> bool:
    """Whether a pool computes the mean of a norm: something is subtracted by it or divided by its root."""
    consumers = {consumer.kind for consumer in net.consumers[match.ops[0].outputs[0]]}
    return bool(consumers & {"Sub", "Neg", "root", "over-root"})


def _splits_channels(net: Net, match: Match) -> bool:
    """Whether the Reshape before an instance norm divides the channels into groups."""
    before, after = net.shape(match["x"]), net.shape(match["r"])
    return before is not None and after is not None and len(after) > 2 and before[1] != after[1]


def _affine(kind: str, *patterns: str, closed: bool = True) -> RewriteRule:
    return RewriteRule(kind, patterns, _is_learned_affine, _affine_attributes, closed=closed)


_PARTS: Final = (
    RewriteRule("square", ("y = Pow(x, 2)", "y = Mul(x, x)")),
    RewriteRule("mean", ("y = ReduceMean(x)", "y = Mul(ReduceSum(x), C)", "y = Div(ReduceSum(x), C)")),
    RewriteRule("mean", ("y = Expand(mean(x))",)),
    RewriteRule(
        "root",
        ("y = Sqrt(Add(Expand(x), E))", "y = Sqrt(Add(x, E))", "y = Sqrt(Max(Add(x, E), C))"),
        _has_epsilon,
    ),
    RewriteRule("over-root", ("y = Reciprocal(root(x))", "y = Div(1, root(x))", "y = Pow(root(x), -1)")),
    RewriteRule("over-root", ("y = Pow(Add(x, E), -0.5)",), _has_epsilon),
    RewriteRule("mean", ("y = GlobalAveragePool(x)",), _is_read_by_norm),
)
_LAYER_NORM: Final = (
    RewriteRule(
        "layer-norm",
        (
            "d = Sub(x, mean(x))\ny = Div(d, root(mean(square(d))))",
            "d = Sub(x, mean(x))\ny = Mul(d, over-root(mean(square(d))))",
            # the difference computed twice
            "y = Div(Sub(x, mean(x)), root(mean(square(Sub(x, mean(x))))))",
            "y = Mul(Sub(x, mean(x)), over-root(mean(square(Sub(x, mean(x))))))",
            # the scale multiplied into the root first
            "d = Sub(x, mean(x))\ny = Mul(d, Mul(over-root(mean(square(d))), G))",
            "m = mean(x)\ni = Mul(over-root(mean(square(Sub(x, m)))), G)\ny = Add(Mul(x, i), Sub(B, Mul(m, i)))",
            "m = mean(x)\ni = over-root(mean(square(Sub(x, m))))\ny = Sub(Mul(x, i), Mul(m, i))",
            "m = mean(x)\ni = Mul(over-root(mean(square(Sub(x, m)))), G)\ny = Add(Mul(x, i), Add(Mul(Neg(m), i), B))",
            # the variance as the mean square less the squared mean
            "m = mean(x)\nv = Sub(mean(square(x)), square(m))\ny = Mul(Sub(x, m), over-root(v))",
            "m = mean(x)\nv = Max(Sub(mean(square(x)), square(m)), 0)\ny = Mul(Sub(x, m), over-root(v))",
            "m = mean(x)\nv = Max(Sub(mean(square(x)), square(m)), 0)\ny = Mul(Sub(x, m), Mul(over-root(v), G))",
            "m = mean(x)\nv = Sub(mean(square(x)), square(m))\ny = Mul(Sub(x, m), Mul(over-root(v), G))",
            "m = mean(x)\nv = Sub(mean(square(x)), square(m))\ny = Div(Sub(x, m), root(v))",
        ),
    ),
    _affine("layer-norm", "y = Mul(layer-norm(x), G)"),
    _affine("layer-norm", "y = Add(layer-norm(x), B)"),
)
_RMS_NORM: Final = (
    RewriteRule(
        "rms-norm",
        (
            "y = Mul(x, over-root(mean(square(x))))",
            "y = Div(x, root(mean(square(x))))",
            "y = Mul(x, Mul(over-root(mean(square(x))), G))",
        ),
    ),
    _affine("rms-norm", "y = Mul(rms-norm(x), G)"),
)
_CHANNEL_NORMS: Final = (
    RewriteRule(
        "group-norm",
        (
            "r = Reshape(x)\ny = Add(Mul(Reshape(InstanceNormalization(r)), G), B)",
            "r = Reshape(x)\ny = Reshape(InstanceNormalization(r))",
        ),
        _splits_channels,
    ),
    _affine("group-norm", "y = Mul(group-norm(x), G)"),
    _affine("group-norm", "y = Add(group-norm(x), B)"),
    # with as many groups as channels nothing is reshaped; an instance norm has its scale inside
    _affine("group-norm", "y = Add(Mul(InstanceNormalization(x), G), B)", closed=False),
    RewriteRule("instance-norm", ("y = InstanceNormalization(x)",)),
    _affine("batch-norm", "y = Mul(batch-norm(x), G)"),
    _affine("batch-norm", "y = Add(batch-norm(x), B)"),
)
RULES: Final = (*_PARTS, *_LAYER_NORM, *_RMS_NORM, *_CHANNEL_NORMS)
