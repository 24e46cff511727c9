"""Heads that are a linear layer of the features (classes, tokens, one number), or the features themselves."""

from typing import Final

from onnx_autodoc.patterns.block_kinds import ACTIVATIONS, CONV_BLOCKS, NORMS, POOLS, RECURRENT
from onnx_autodoc.patterns.head import (
    COMMON_CLASS_COUNTS,
    Head,
    OutputTrace,
    count_positions,
    feature_width,
    final_activation,
    find_pooling,
    has_tokens,
    is_biased,
    is_normalized,
    is_rescaled,
    last_linear,
)
from onnx_autodoc.patterns.net import Net, Op

_LINEAR: Final = ("linear", "conv", "mlp", "head")
_POOLING: Final = frozenset((*POOLS, "Gather", "Slice", "ReduceSum"))
_FEATURE_ACTIVATIONS: Final = frozenset(ACTIVATIONS) - {"Relu", "Clip"} | {"Tanh"}  # never applied to class scores
_MIN_FEATURES: Final = 4
_MIN_EMBEDDING_FEATURES: Final = 32
_FEATURE_MULTIPLE: Final = 128  # feature widths are multiples of it, class counts hardly ever
_MAX_TAGS: Final = 5000
_MIN_TOKENS: Final = 16
_MAX_PADDING: Final = 1.1  # token tables are rounded up


def linear_head(net: Net, trace: OutputTrace) -> Head | None:
    """A linear layer or a convolution of the features, once or per position."""
    source = trace.source or _similar_source(net, trace)
    width = feature_width(source) if source is not None and last_linear(source) is not None else None
    is_joined = "Concat" in trace.kinds and trace.source is not None
    if source is None or not width or not _ends_with_linear(trace, source) or is_joined:
        return None
    activation = final_activation(net, trace, width)
    split_width = 1 if width == 2 and _is_split_in_two(net, trace) else width
    is_per_token = has_tokens(net) and (split_width != width or _is_for_single_token(net, trace, source))
    positions = count_positions(net, trace.value, 1 if activation == "argmax" else split_width)
    positions = positions or _pooled_positions(net, source)
    if _is_vocabulary(net, source, width):
        return _token_head(net, trace, width, activation, positions)
    if is_per_token or positions != 1:
        return _positional_head(net, trace, split_width, activation, positions)
    return _whole_head(net, trace, source, width, activation)


def _similar_source(net: Net, trace: OutputTrace) -> Op | None:
    """Return the nearest of several sources if all have one width (an average of two heads), or the output has its."""
    dims = net.shape(trace.value)
    if not trace.sources or trace.reads_float_input or not dims:
        return None
    nearest = trace.sources[0]
    has_one_width = len({feature_width(op) for op in trace.sources}) == 1
    is_refined = len(dims) == 3 and dims[-1] == feature_width(nearest) and "Sigmoid" in trace.kinds
    return nearest if nearest.kind in _LINEAR and (has_one_width or is_refined) else None


def _ends_with_linear(trace: OutputTrace, source: Op) -> bool:
    """Whether a linear layer is the last op of a block: an activation or a norm after it computes features.

    SqueezeNet is the exception: a Relu follows its classes, which a 1×1 convolution computes.
    """
    if source.kind in CONV_BLOCKS and source.kind != "conv":
        is_plain = source.conv.norm is None and source.conv.activation in (None, "Relu")
        is_pointwise = all(size == 1 for size in source.conv.kernel)
        return is_plain and last_linear(source) is not None and (is_pointwise or source.conv.activation is None)
    if source.kind == "attention" and source.attention.form == "additive":
        last = last_linear(source)
        return last is not None and not set(trace.ends).isdisjoint(last.outputs)
    return source.kind in _LINEAR


def _is_split_in_two(net: Net, trace: OutputTrace) -> bool:
    """Whether two numbers per position go to two outputs."""
    dims, source_dims = net.shape(trace.value), net.shape(trace.ends[0])
    is_half = bool(dims and source_dims and source_dims[-1] == 2 and dims[-1] == 1)
    return is_half and bool(trace.kinds & {"Split", "Slice", "Gather"})


def _is_for_single_token(net: Net, trace: OutputTrace, source: Op) -> bool:
    """Whether the output is per token of a text of one token, as `--seq 1` requests."""
    tables = [op for op in net.of("embedding") if op.embedding.role == "token"]
    has_single_token = any((net.shape(op.inputs[0]) or (0,))[1:] == (1,) for op in tables)
    is_pooled = net.producer(source.inputs[0], *_POOLING) is not None
    return has_single_token and net.rank(trace.value) == 3 and not is_pooled


def _pooled_positions(net: Net, source: Op) -> int | None:
    """Return 1 where sizes are unknown but the layer reads pooled features."""
    is_unknown = net.shape(source.outputs[0]) is None
    return 1 if is_unknown and net.producer(source.inputs[0], *POOLS, "Gather") is not None else None


def _is_vocabulary(net: Net, source: Op, width: int) -> bool:
    """Whether a layer has as many outputs as the token table has rows, shares its weight, or has too many for tags."""
    tables = [op for op in net.of("embedding") if op.embedding.role == "token"]
    last = last_linear(source)
    if last is not None and any(last.linear.weight in op.inputs for op in tables):
        return True
    row_counts = [op.embedding.rows or 0 for op in tables]
    if width > _MIN_TOKENS and any(
        rows <= width * _MAX_PADDING and width <= rows * _MAX_PADDING for rows in row_counts
    ):
        return True
    return width >= _MAX_TAGS and any(op.attention.causal for op in net.of("attention"))


def _token_head(net: Net, trace: OutputTrace, width: int, activation: str | None, positions: int | None) -> Head | None:
    """A number per token, or the selected token. The confidence of a selected token is neither."""
    dims = net.shape(trace.value)
    if dims is not None and activation != "argmax" and width not in dims:
        return None
    evidence = f"{trace.label} has a number for each of {width:,} tokens"
    return Head("lm", trace.output, None, activation, positions, evidence)


def _whole_head(net: Net, trace: OutputTrace, source: Op, width: int, activation: str | None) -> Head | None:
    """One result for the whole example."""
    rescaled = is_rescaled(net, trace)
    if width == 1:
        is_probability = activation == "sigmoid" and not rescaled
        evidence = f"{trace.label} is one number" + (", a probability" if is_probability else "")
        return Head("probability" if is_probability else "score", trace.output, None, activation, 1, evidence)
    if rescaled:
        return None
    if _is_embedding(trace, source, width, activation):
        evidence = f"{trace.label} is {width} features of the whole"
        return Head("embedding", trace.output, None, find_pooling(trace) or "projected", 1, evidence)
    last = last_linear(source) or source
    evidence = f"{trace.label} has {width:,} numbers, the width of the last {last.kind}"
    evidence += f", through {activation}" if activation else ""
    return Head("classification", trace.output, width, activation, 1, evidence)


def _is_embedding(trace: OutputTrace, source: Op, width: int, activation: str | None) -> bool:
    """Whether numbers are features rather than class scores.

    Features are normalized, activated, as wide as their input, or wide and without a bias. Class scores have a bias,
    which exporters drop where it is zero.
    """
    if activation is not None or "Log" in trace.kinds:
        return False
    if is_normalized(trace) or trace.kinds & _FEATURE_ACTIVATIONS or width % _FEATURE_MULTIPLE == 0:
        return True
    if not is_biased(source) and width >= _MIN_EMBEDDING_FEATURES and width not in COMMON_CLASS_COUNTS:
        return True
    if source.kind == "conv-norm-act" and source.conv.activation:
        return width % 32 == 0
    last = last_linear(source)
    return last is not None and last.in_features == width and width > 16


def _positional_head(
    net: Net, trace: OutputTrace, width: int, activation: str | None, positions: int | None
) -> Head | None:
    """One result per position of a sequence."""
    if positions is None:
        return None
    if width == 1:
        kind = "probability-per-place" if activation == "sigmoid" else "score-per-place"
        evidence = f"{trace.label} is one number for each of {positions:,} places"
        return Head(kind, trace.output, None, activation, positions, evidence)
    biased = is_biased(trace.sources[0])
    # the logarithm of a sum over bands
    is_spectrum = "Log" in trace.kinds and not trace.kinds & {"softmax", "LogSoftmax", "Sigmoid"}
    is_unbiased_feature = not biased and width % _MIN_EMBEDDING_FEATURES == 0
    if activation is None and (trace.kinds & _FEATURE_ACTIVATIONS or is_unbiased_feature) and not is_spectrum:
        evidence = f"{trace.label} is {width} features of each place"
        return Head("hidden", trace.output, None, activation, positions, evidence)
    kind = "token-classification" if has_tokens(net) else "ctc"
    if activation is None and kind == "ctc" and (not biased or is_spectrum):
        kind = "numbers"
    evidence = f"{trace.label} has {width:,} numbers for each of {positions:,} places"
    return Head(kind, trace.output, width, activation, positions, evidence)


def feature_head(net: Net, trace: OutputTrace) -> Head | None:
    """The features themselves, per position or pooled."""
    source = trace.source
    dims = net.shape(trace.ends[0]) if source is not None else None
    if source is None or not dims or trace.kinds & {"Concat", "Log"} or is_rescaled(net, trace):
        return None
    width = _feature_count(source, dims)
    positions = count_positions(net, trace.value, width)
    if positions is None or width < _MIN_FEATURES:
        return None
    is_pooled = positions == 1 and (bool(trace.kinds & _POOLING) or source.kind in NORMS)
    evidence = f"{trace.label} is {width} features of " + ("the whole" if is_pooled else "each place")
    activation = find_pooling(trace) if is_pooled else final_activation(net, trace)
    return Head("embedding" if is_pooled else "hidden", trace.output, None, activation, positions, evidence)


def _feature_count(source: Op, dims: tuple[int, ...]) -> int:
    """Return the features per position: the width of the last layer, or the size of the axis that holds them."""
    width = feature_width(source)
    if width is not None and width in dims[1:]:
        return width
    is_image = len(dims) == 4 and source.kind not in ("layer-norm", "rms-norm", *RECURRENT)
    return dims[1] if is_image or source.kind == "batch-norm" else dims[-1]
