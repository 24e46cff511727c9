"""Convolutions with the bias, norm and activation around them, and the blocks that small networks are built of.

conv-norm-act         act(norm(conv(x))), act(conv(x)), norm(conv(x)); or pre-activation, conv(act(norm(x)))
squeeze-excite        Mul(x, σ(conv(act(conv(pool(x))))))
inverted-residual     1×1 expansion, depthwise, 1×1 projection without an activation
depthwise-separable   depthwise, then 1×1
stft                  conv(x, W[2·bins, 1, window]) whose halves are squared and added, or the operator
"""

import math
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.patterns.attributes import BlockAttributes, ConvAttributes, LinearAttributes
from onnx_autodoc.patterns.block_kinds import ACTIVATIONS, NORMS, any_of
from onnx_autodoc.patterns.net import Net, Op
from onnx_autodoc.patterns.rules import Match, RewriteRule, apply_rules
from onnx_autodoc.patterns.tracing import is_move

_ACTS: Final = any_of(*ACTIVATIONS)
_NORMS: Final = any_of(*NORMS)
_CONV_NORM_ACT: Final = "conv-norm-act"
_ANY_CONV: Final = "conv|conv-norm-act"


# Biases and scales


def _out_features(match: Match) -> int | None:
    """Return the width of the first op of a match that has weights."""
    return next((op.out_features for op in match.ops if isinstance(op.attributes, LinearAttributes)), None)


def _is_bias(net: Net, match: Match) -> bool:
    """Whether `B` spans the output features only. A table that spans two axes is a position embedding."""
    dims = net.shape(match["B"])
    return dims is not None and max(dims, default=1) == math.prod(dims) == _out_features(match)


def _biased_attributes(net: Net, match: Match) -> BlockAttributes:
    attributes = next(op.attributes for op in match.ops if isinstance(op.attributes, LinearAttributes))
    return replace(attributes, biased=True)


def _is_scale(net: Net, match: Match) -> bool:
    """Whether `S` has a number per channel (a frozen norm) or, as in some mobile networks, one for all."""
    dims = net.shape(match["S"])
    return dims is not None and math.prod(dims) in (1, _out_features(match))


BIAS_RULES: Final = (
    RewriteRule("linear", ("l = linear(x, W)\ny = Add(l, B)",), _is_bias, _biased_attributes, closed=True),
    RewriteRule("conv", ("c = conv(x, W)\ny = Add(c, B)",), _is_bias, _biased_attributes, closed=True),
)
_CONV_SCALES: Final = (RewriteRule("conv", ("y = Mul(conv(x), S)", "y = Add(conv(x), S)"), _is_scale, closed=True),)
_BLOCK_SCALES: Final = (
    RewriteRule(
        _CONV_NORM_ACT, (f"y = Mul({_CONV_NORM_ACT}(x), S)", f"y = Add({_CONV_NORM_ACT}(x), S)"), _is_scale, closed=True
    ),
)


# Convolution, norm and activation


def _conv_norm_act_attributes(net: Net, match: Match) -> ConvAttributes:
    kinds = [op.kind for op in match.ops]
    return replace(
        next(op.conv for op in match.ops if op.kind == "conv"),
        norm=next((kind for kind in reversed(kinds) if kind in NORMS), None),
        activation=next((kind for kind in reversed(kinds) if kind in ACTIVATIONS), None),
    )


def _conv_norm_act(*patterns: str) -> RewriteRule:
    return RewriteRule(_CONV_NORM_ACT, patterns, attributes=_conv_norm_act_attributes, closed=True)


_POST_ACTIVATION: Final = (
    _conv_norm_act(f"y = {_ACTS}({_NORMS}(conv(x)))"),
    _conv_norm_act(f"y = {_NORMS}({_ACTS}(conv(x)))"),
    _conv_norm_act(f"y = {_NORMS}(conv(x))", f"y = {_ACTS}(conv(x))"),
)
_PRE_ACTIVATION: Final = (_conv_norm_act(f"y = conv({_ACTS}({_NORMS}(x)))"),)
_POOL: Final = "GlobalAveragePool|mean|ReduceMean|AveragePool"
_LAYER: Final = f"{_ANY_CONV}|linear|mlp"
_GATE: Final = "Sigmoid|HardSigmoid|relu-6|Clip|Tanh"
_SQUEEZE_EXCITE: Final = (
    RewriteRule(
        "squeeze-excite",
        (
            f"y = Mul(x, {_GATE}({_LAYER}({_LAYER}({_POOL}(x)))))",
            f"y = Mul(x, {_GATE}({_LAYER}({_ACTS}({_LAYER}({_POOL}(x))))))",
            f"y = Mul(x, {_GATE}({_LAYER}({_POOL}(x))))",
            f"y = Mul(x, Div({_GATE}({_LAYER}({_LAYER}({_POOL}(x)))), 6))",
            f"y = Mul(x, Mul({_GATE}({_LAYER}({_LAYER}({_POOL}(x)))), 0.166667))",
            f"y = Mul(x, {_GATE}(Transpose|Reshape({_LAYER}(Transpose|Reshape({_POOL}(x))))))",
        ),
    ),
)
RULES: Final = (*_CONV_SCALES, *_PRE_ACTIVATION, *_POST_ACTIVATION, *_BLOCK_SCALES, *_SQUEEZE_EXCITE)


def find_conv_blocks(net: Net) -> None:
    apply_rules(net, _CONV_SCALES)
    apply_rules(net, (*_PRE_ACTIVATION, *_POST_ACTIVATION) if _uses_pre_activation(net) else _POST_ACTIVATION)
    apply_rules(net, (*_BLOCK_SCALES, *_SQUEEZE_EXCITE))
    for op in net.of("conv", _CONV_NORM_ACT):
        if op in net and op.conv.depthwise:
            _merge_depthwise(net, op)


def _uses_pre_activation(net: Net) -> bool:
    """Whether norms precede convolutions rather than follow them: more than a third of them read no convolution."""
    norms = [op for op in net.of("batch-norm", "group-norm", "instance-norm") if net.of("conv")]
    leading = [op for op in norms if net.producer(op.inputs[0], "conv") is None]
    return 3 * len(leading) > len(norms)


def _merge_depthwise(net: Net, depthwise: Op) -> None:
    members, projection = [depthwise], _next_op(net, depthwise)
    if projection is not None and projection.kind == "squeeze-excite":
        members.append(projection)
        projection = _next_op(net, projection)
    if projection is None or projection.kind not in ("conv", _CONV_NORM_ACT) or not _is_pointwise(projection):
        return
    members.append(projection)
    expansion = net.producer(depthwise.inputs[0], "conv", _CONV_NORM_ACT)
    if expansion is not None and _expands(net, expansion) and not projection.conv.activation:
        kind, first = "inverted-residual", expansion
        members.insert(0, expansion)
    else:
        kind, first = "depthwise-separable", depthwise
    attributes = ConvAttributes(
        in_features=first.in_features,
        out_features=projection.out_features,
        kernel=depthwise.conv.kernel,
        strides=depthwise.conv.strides,
    )
    net.merge(kind, members, projection.outputs[:1], attributes)


def _expands(net: Net, op: Op) -> bool:
    """Whether a pointwise convolution widens its input, for one reader only."""
    is_wider = (op.out_features or 0) > (op.in_features or 0)
    return _is_pointwise(op) and is_wider and len(net.consumers[op.outputs[0]]) == 1


def _next_op(net: Net, op: Op) -> Op | None:
    return net.only_consumer(op.outputs[0]) if op.outputs[0] not in net.output_values else None


def _is_pointwise(op: Op) -> bool:
    return all(size == 1 for size in op.conv.kernel) and op.conv.group == 1


# Spectra

_MIN_WINDOW_SAMPLES: Final = 64
_MIN_FREQUENCIES: Final = 17
_SQUARES: Final = frozenset(("square", "Abs", "Sqrt", "ReduceL2", "ReduceSumSquare"))
_MAX_MOVES_TO_SQUARE: Final = 12


def find_spectra(net: Net) -> None:
    """Find Fourier transforms: a convolution with a long window over one channel, whose result is squared."""
    for op in net.of("conv"):
        conv = op.conv
        is_long = max(conv.kernel or (0,)) >= _MIN_WINDOW_SAMPLES and conv.in_features == 1
        is_plain = not conv.biased and not conv.transposed and (conv.out_features or 0) >= _MIN_FREQUENCIES
        if is_long and is_plain and _is_squared(net, op):
            net.relabel(op, "stft")
    for op in net.of("STFT", "DFT"):
        net.relabel(op, "stft")


def _is_squared(net: Net, conv: Op) -> bool:
    values = list(conv.outputs[:1])
    for _ in range(_MAX_MOVES_TO_SQUARE):
        consumers = [op for value in values for op in net.consumers[value]]
        if any(op.kind in _SQUARES for op in consumers):
            return True
        values = [value for op in consumers if is_move(net, op) or op.kind == "Neg" for value in op.outputs]
    return False
