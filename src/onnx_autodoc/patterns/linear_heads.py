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
    is_biased,
    is_normalized,
    is_rescaled,
    last_linear,
    token_tables,
)
from onnx_autodoc.patterns.net import Op
from onnx_autodoc.text import pluralize

_LINEAR: Final = ("linear", "conv", "mlp", "head")
_POOLING: Final = frozenset((*POOLS, "Gather", "Slice", "ReduceSum"))
_FEATURE_ACTIVATIONS: Final = frozenset(ACTIVATIONS) - {"Relu", "Clip"} | {"Tanh"}  # never applied to class scores
_MIN_FEATURES: Final = 4
_MIN_EMBEDDING_FEATURES: Final = 32
_FEATURE_MULTIPLE: Final = 128  # feature widths are multiples of it, class counts hardly ever
_MAX_TAGS: Final = 5000
_MIN_TOKENS: Final = 16
_MAX_PADDING: Final = 1.1  # token tables are rounded up


def linear_head(trace: OutputTrace) -> Head | None:
    """A linear layer or a convolution of the features, once or per position."""
    net, source = trace.net, trace.source or _similar_source(trace)
    width = feature_width(source) if source is not None and last_linear(source) is not None else None
    is_joined = "Concat" in trace.kinds and trace.source is not None
    if source is None or not width or not _ends_with_linear(trace, source) or is_joined:
        return None
    activation = final_activation(trace, width)
    split_width = 1 if width == 2 and _is_split_in_two(trace) else width
    is_per_token = bool(token_tables(net)) and (split_width != width or _is_for_single_token(trace, source))
    positions = count_positions(net, trace.value, 1 if activation == "argmax" else split_width)
    if not positions and net.shape(source.outputs[0]) is None and net.producer(source.inputs[0], *POOLS, "Gather"):
        positions = 1  # sizes are unknown, but the layer reads pooled features
    if _is_vocabulary(trace, source, width):
        # the confidence of a selected token is neither a number per token nor the token
        if trace.dims is not None and activation != "argmax" and width not in trace.dims:
            return None
        evidence = f"has a score for each of {width:,} tokens"
        return trace.head("lm", evidence, activation=activation, positions=positions)
    if is_per_token or positions != 1:
        return _positional_head(trace, split_width, activation, positions)
    return _whole_head(trace, source, width, activation)


def _similar_source(trace: OutputTrace) -> Op | None:
    """Return the nearest of several sources if all have one width (an average of two heads), or the output has its."""
    dims = trace.dims
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
    last = last_linear(source)
    if source.kind in CONV_BLOCKS and source.kind != "conv":
        is_plain = source.conv.norm is None and source.conv.activation in (None, "Relu")
        is_pointwise = all(size == 1 for size in source.conv.kernel)
        return is_plain and last is not None and (is_pointwise or source.conv.activation is None)
    if source.kind == "attention" and source.attention.form == "additive":
        return last is not None and not set(trace.ends).isdisjoint(last.outputs)
    return source.kind in _LINEAR


def _is_split_in_two(trace: OutputTrace) -> bool:
    """Whether two numbers per position go to two outputs."""
    dims, source_dims = trace.dims, trace.net.shape(trace.ends[0])
    is_half = bool(dims and source_dims and source_dims[-1] == 2 and dims[-1] == 1)
    return is_half and bool(trace.kinds & {"Split", "Slice", "Gather"})


def _is_for_single_token(trace: OutputTrace, source: Op) -> bool:
    """Whether the output is per token of a text of one token, as `--seq 1` requests."""
    net = trace.net
    has_single_token = any((net.shape(op.inputs[0]) or (0,))[1:] == (1,) for op in token_tables(net))
    is_pooled = net.producer(source.inputs[0], *_POOLING) is not None
    return has_single_token and net.rank(trace.value) == 3 and not is_pooled


def _is_vocabulary(trace: OutputTrace, source: Op, width: int) -> bool:
    """Whether a layer has as many outputs as the token table has rows, shares its weight, or has too many for tags."""
    tables, last = token_tables(trace.net), last_linear(source)
    if last is not None and any(last.linear.weight in op.inputs for op in tables):
        return True
    sizes = [sorted((width, op.embedding.rows or 0)) for op in tables]
    if width > _MIN_TOKENS and any(larger <= smaller * _MAX_PADDING for smaller, larger in sizes):
        return True
    return width >= _MAX_TAGS and any(op.attention.causal for op in trace.net.of("attention"))


def _whole_head(trace: OutputTrace, source: Op, width: int, activation: str | None) -> Head | None:
    """One result for the whole example."""
    rescaled, last = is_rescaled(trace), last_linear(source) or source
    if width == 1:
        is_probability = activation == "sigmoid" and not rescaled
        kind, suffix = ("probability", ", a probability") if is_probability else ("score", "")
        return trace.head(kind, f"is a single value{suffix}", activation=activation, positions=1)
    if rescaled:
        return None
    if _is_embedding(trace, source, width, activation):
        pooling = find_pooling(trace) or "projected"
        return trace.head("embedding", f"is one vector of {width:,} features", activation=pooling, positions=1)
    layer = "convolution" if last.kind == "conv" else "linear layer"
    evidence = f"has {width:,} values, the width of the last {layer}"
    evidence += f", after {activation}" if activation else ""
    return trace.head("classification", evidence, classes=width, activation=activation, positions=1)


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


def _positional_head(trace: OutputTrace, width: int, activation: str | None, positions: int | None) -> Head | None:
    """One result per position of a sequence."""
    if positions is None:
        return None
    if width == 1:
        kind = "probability-per-place" if activation == "sigmoid" else "score-per-place"
        evidence = f"has one value for each of {pluralize(positions, 'position')}"
        return trace.head(kind, evidence, activation=activation, positions=positions)
    biased = is_biased(trace.sources[0])
    # the logarithm of a sum over bands
    is_spectrum = "Log" in trace.kinds and not trace.kinds & {"softmax", "LogSoftmax", "Sigmoid"}
    is_unbiased_feature = not biased and width % _MIN_EMBEDDING_FEATURES == 0
    if activation is None and (trace.kinds & _FEATURE_ACTIVATIONS or is_unbiased_feature) and not is_spectrum:
        return trace.head("hidden", f"has {width:,} features per position", positions=positions)
    kind = "token-classification" if token_tables(trace.net) else "ctc"
    if activation is None and kind == "ctc" and (not biased or is_spectrum):
        kind = "numbers"
    evidence = f"has {width:,} values for each of {pluralize(positions, 'position')}"
    return trace.head(kind, evidence, classes=width, activation=activation, positions=positions)


def feature_head(trace: OutputTrace) -> Head | None:
    """The features themselves, per position or pooled."""
    source = trace.source
    dims = trace.net.shape(trace.ends[0]) if source is not None else None
    if source is None or not dims or trace.kinds & {"Concat", "Log"} or is_rescaled(trace):
        return None
    width = feature_width(source)
    if width is None or width not in dims[1:]:  # the size of the axis that holds the features
        is_image = len(dims) == 4 and source.kind not in ("layer-norm", "rms-norm", *RECURRENT)
        width = dims[1] if is_image or source.kind == "batch-norm" else dims[-1]
    positions = count_positions(trace.net, trace.value, width)
    if positions is None or width < _MIN_FEATURES:
        return None
    is_pooled = positions == 1 and (bool(trace.kinds & _POOLING) or source.kind in NORMS)
    kind = "embedding" if is_pooled else "hidden"
    evidence = f"is one vector of {width:,} features" if is_pooled else f"has {width:,} features per position"
    activation = find_pooling(trace) if is_pooled else final_activation(trace)
    return trace.head(kind, evidence, activation=activation, positions=positions)
