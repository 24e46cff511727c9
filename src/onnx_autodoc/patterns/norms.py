"""Normalisations: an operator of their own, or written out over a mean, a difference, a square and a root.

What tells them: a root of a mean square and a small number, by which something is divided. Layer norm squares the
difference from the mean, RMS norm the values themselves. A root without the small number is a magnitude, no norm.
"""

from typing import Final

from onnx_autodoc.patterns._net import Fact, Net
from onnx_autodoc.patterns._pattern import Match
from onnx_autodoc.patterns._rule import Rule

_LARGEST_EPSILON: Final = 0.02


def _is_epsilon(net: Net, found: Match) -> dict[str, Fact] | None:
    number = net.number(found["E"])
    return {} if number is not None and 0 <= number < _LARGEST_EPSILON else None


def _is_scale(net: Net, found: Match) -> dict[str, Fact] | None:
    """What a norm learned: a number for each feature, once. A second one, or one of more axes, is a rotation."""
    scale = "G" in found.values
    dims, word = net.shape(found["G" if scale else "B"]), "scaled" if scale else "shifted"
    again = any(term.facts.get(word) for term in found.terms)
    return {word: True} if not again and dims is not None and sum(dim != 1 for dim in dims) == 1 else None


def _is_part_of_a_norm(net: Net, found: Match) -> dict[str, Fact] | None:
    """A pool over the features of each place: something is taken off by it, or divided by its root."""
    read = {reader.op for reader in net.readers[found.terms[0].outputs[0]]}
    return {} if read & {"Sub", "Neg", "root", "over-root"} else None


def _over_groups(net: Net, found: Match) -> dict[str, Fact] | None:
    before, after = net.shape(found["x"]), net.shape(found["r"])
    if before is None or after is None or len(after) < 3 or before[1] == after[1]:
        return None
    return {"groups": after[1]}


_SMALL: Final = (
    Rule("square", ("y = Pow(x, 2)", "y = Mul(x, x)")),
    Rule("mean", ("y = ReduceMean(x)", "y = Mul(ReduceSum(x), C)", "y = Div(ReduceSum(x), C)")),
    Rule("mean", ("y = Expand(mean(x))",)),
    Rule("root", ("y = Sqrt(Add(Expand(x), E))", "y = Sqrt(Add(x, E))", "y = Sqrt(Max(Add(x, E), C))"), _is_epsilon),
    Rule("over-root", ("y = Reciprocal(root(x))", "y = Div(1, root(x))", "y = Pow(root(x), -1)")),
    Rule("over-root", ("y = Pow(Add(x, E), -0.5)",), _is_epsilon),
    Rule("mean", ("y = GlobalAveragePool(x)",), _is_part_of_a_norm),
)
_LAYER: Final = (
    Rule(
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
    Rule("layer-norm", ("y = Mul(layer-norm(x), G)",), _is_scale, whole=True),
    Rule("layer-norm", ("y = Add(layer-norm(x), B)",), _is_scale, whole=True),
)
_ROOT_MEAN_SQUARE: Final = (
    Rule(
        "rms-norm",
        (
            "y = Mul(x, over-root(mean(square(x))))",
            "y = Div(x, root(mean(square(x))))",
            "y = Mul(x, Mul(over-root(mean(square(x))), G))",
        ),
    ),
    Rule("rms-norm", ("y = Mul(rms-norm(x), G)",), _is_scale, whole=True),
)
_OTHERS: Final = (
    Rule(
        "group-norm",
        (
            "r = Reshape(x)\ny = Add(Mul(Reshape(InstanceNormalization(r)), G), B)",
            "r = Reshape(x)\ny = Reshape(InstanceNormalization(r))",
        ),
        _over_groups,
    ),
    Rule("group-norm", ("y = Mul(group-norm(x), G)",), _is_scale, whole=True),
    Rule("group-norm", ("y = Add(group-norm(x), B)",), _is_scale, whole=True),
    # with as many groups as channels nothing is reshaped; an instance norm has its scale inside
    Rule("group-norm", ("y = Add(Mul(InstanceNormalization(x), G), B)",), _is_scale),
    Rule("instance-norm", ("y = InstanceNormalization(x)",)),
    Rule("batch-norm", ("y = Mul(batch-norm(x), G)",), _is_scale, whole=True),
    Rule("batch-norm", ("y = Add(batch-norm(x), B)",), _is_scale, whole=True),
)
RULES: Final = (*_SMALL, *_LAYER, *_ROOT_MEAN_SQUARE, *_OTHERS)
