"""Output heads: what each output of a model is, from the last ops and the number of positions.

    lm                     a score per row of the token table
    span                   two outputs with one value per token each
    classification         a score per class, once;  token-classification: per token;  ctc: per time step
    probability, score     one value, with or without a sigmoid;  …-per-place: per token or time step
    detection              boxes with scores in one list (pose, oriented: with keypoints, an angle), or selected ones
    boxes, scores          in two outputs;  raw-detection: grids that are not decoded;  prototypes: masks of boxes
    segmentation           classes per pixel;  map, image: one channel, three colours;  text-map: text regions
    numbers                several per position, of unknown meaning
    embedding              one vector of features;  hidden: per position;  features: per coarse cell
    matching               the product of two embeddings
    trees                  a classifier of ai.onnx.ml;  trees-regression
    state, weights         the state of a decoder or a cell;  attention weights

The number of classes is the width of the last weights, never the length of a sequence and never a vocabulary.
"""

from typing import Final

from msgspec.structs import replace

from onnx_autodoc.patterns import vision_heads
from onnx_autodoc.patterns.block_kinds import RECURRENT, WEIGHTED
from onnx_autodoc.patterns.head import (
    Head,
    OutputTrace,
    feature_width,
    final_activation,
    is_normalized,
    token_tables,
    trace_outputs,
)
from onnx_autodoc.patterns.linear_heads import feature_head, linear_head
from onnx_autodoc.patterns.net import Net
from onnx_autodoc.patterns.tracing import reads_as_key_or_value
from onnx_autodoc.text import pluralize, quote_name

_CLASSIFIERS: Final = ("TreeEnsembleClassifier", "LinearClassifier", "SVMClassifier")
_REGRESSORS: Final = ("TreeEnsembleRegressor", "TreeEnsemble", "LinearRegressor", "SVMRegressor")
_LABEL_OPS: Final = frozenset(("ZipMap", "ArrayFeatureExtractor", "LabelEncoder"))
_INTEGER_DTYPES: Final = frozenset(("int64", "int32", "bool"))
_KINDS_OF_ANY_DTYPE: Final = frozenset(("trees", "detection", "segmentation", "state"))


def find_heads(net: Net) -> tuple[Head, ...]:
    """Return the heads of the outputs that are understood."""
    traces = trace_outputs(net)
    raw = vision_heads.find_raw_detections(traces)
    candidates = [_raw_detection_head(trace) if trace in raw else _find_head(trace) for trace in traces]
    heads = [head for head in candidates if head is not None]
    for pair in (_pair_spans, _pair_boxes_and_scores, _pair_prototypes):
        heads = pair(heads, traces)
    return tuple(heads)


def _find_head(trace: OutputTrace) -> Head | None:
    """Return the first head that matches.

    Integers are indices, never scores or features, except for products of quantized weights. Flags are neither.
    """
    head = next((head for find in _FINDERS if (head := find(trace)) is not None), None)
    if head is None or head.kind in _KINDS_OF_ANY_DTYPE:
        return head
    dtype = trace.net.dtype(trace.value)
    if dtype not in _INTEGER_DTYPES or trace.net.producer(trace.value, *WEIGHTED) is not None:
        return head
    return head if dtype != "bool" and head.activation in ("argmax", "selected") else None


def _tree_head(trace: OutputTrace) -> Head | None:
    models = [op.kind for op in trace.ops if op.kind in (*_CLASSIFIERS, *_REGRESSORS)]
    if not models and not (trace.kinds & _LABEL_OPS and "ArgMax" in trace.kinds):
        return None
    model = models[0] if models else "an ArgMax over labels"
    if model in _REGRESSORS and "ArgMax" not in trace.kinds:
        return trace.head("trees-regression", f"is computed by {model}")
    is_label = trace.net.dtype(trace.value) in ("int64", "int32", "string")
    return trace.head("trees", f"is computed by {model}", activation="argmax" if is_label else "softmax")


def _matching_head(trace: OutputTrace) -> Head | None:
    if "MatMul" not in trace.kinds or len(trace.sources) < 2 or not is_normalized(trace):
        return None
    return trace.head("matching", "is a product of the features of two inputs")


def _box_head(trace: OutputTrace) -> Head | None:
    selection = vision_heads.find_box_selection(trace)
    if selection is not None:
        # without the output's name first, as the operator is the subject
        evidence = f"{selection.kind} selects boxes for {quote_name(trace.output)}"
        content = vision_heads.selected_content(trace, selection)
        return Head("detection", trace.output, activation=content, evidence=evidence)
    grid = vision_heads.find_grid(trace)
    if grid is None:
        return None
    evidence = (
        f"has {pluralize(grid.width, 'value')} for each of {pluralize(grid.boxes, 'cell')} of {grid.scales} grids"
    )
    if grid.width == vision_heads.BOX_WIDTH:
        return trace.head("boxes", evidence, positions=grid.boxes, width=grid.width)
    kind, classes = (grid.kind, grid.classes) if grid.width > vision_heads.BOX_WIDTH else ("scores", grid.width)
    activation = final_activation(trace)
    return trace.head(kind, evidence, classes=classes, activation=activation, positions=grid.boxes, width=grid.width)


def _raw_detection_head(trace: OutputTrace) -> Head:
    width = feature_width(trace.sources[0]) or 0
    evidence = f"is a grid with {width} values per cell, one of several of different sizes"
    return trace.head("raw-detection", evidence, activation=final_activation(trace))


# States and attention weights

_MOVES: Final = frozenset(
    ("Concat", "Slice", "Split", "Transpose", "Reshape", "Gather", "Expand", "Tile", "stack", "Pad")
)
_ARITHMETIC: Final = frozenset(("Add", "Mul", "Sub"))
_ROTATIONS: Final = frozenset((*_ARITHMETIC, "Neg", "RotaryEmbedding"))
_PROJECTIONS: Final = frozenset(("linear", "conv", "rms-norm", "layer-norm"))
_MAX_VALUES_TO_ATTENTION: Final = 40


def _state_head(trace: OutputTrace) -> Head | None:
    if _is_attention_weights(trace):
        return trace.head("weights", "is the softmax of attention scores")
    if _is_state(trace) or _is_shared_with_attention(trace):
        return trace.head("state", "is a state for the next run")
    return None


def _is_attention_weights(trace: OutputTrace) -> bool:
    """Whether an output is what the softmax of an attention computes."""
    op = trace.net.producer(trace.ends[0], "attention") if len(trace.ends) == 1 else None
    if op is None or trace.ends[0] == op.outputs[0]:
        return False
    producer = next((part for part in op.walk() if part is not op and trace.ends[0] in part.outputs), None)
    return producer is not None and producer.kind == "softmax"


def _is_state(trace: OutputTrace) -> bool:
    """Whether an output is a key-value cache, the last state of a cell, or a sliding window of an input."""
    # an input times zero, added so that an optimizer does not remove it
    is_unused = trace.model_inputs and all(trace.net.rank(value) == 0 for value in trace.model_inputs)
    if not trace.kinds <= (_MOVES | _ARITHMETIC if is_unused else _MOVES):
        return False
    producers = [trace.net.producer(value, "attention", *RECURRENT) for value in trace.ends]
    if producers and all(
        op is not None and (op.recurrent.looped is False or value in op.outputs[1:])
        for op, value in zip(producers, trace.ends)
    ):
        return True
    return any(_is_window(trace, value) for value in trace.model_inputs)


def _is_window(trace: OutputTrace, value: int) -> bool:
    """Whether an output is an input joined with new data: as long as before, or longer along one axis."""
    before, after = trace.net.shape(value), trace.dims
    if before is None or after is None or "Concat" not in trace.kinds:
        return False
    before, after = (tuple(dim for dim in dims if dim != 1) for dims in (before, after))
    return len(before) == len(after) and sum(old != new for old, new in zip(before, after)) <= 1


def _is_shared_with_attention(trace: OutputTrace) -> bool:
    """Whether an output holds projected keys or values that attention reads as well, perhaps moved before."""
    net = trace.net
    is_projected = all(op.kind in _PROJECTIONS for op in trace.sources)
    if not trace.sources or not is_projected or not trace.kinds <= _MOVES | _ROTATIONS:
        return False
    for start in (trace.value, *(output for op in trace.ops for output in op.outputs), *trace.ends):
        waiting, seen = [start], {start}
        while waiting and len(seen) < _MAX_VALUES_TO_ATTENTION:
            value = waiting.pop()
            for op in net.consumers[value]:
                if op.kind == "attention" and reads_as_key_or_value(net, op, value):
                    return True
                unseen = [output for output in op.outputs if op.kind in _MOVES and output not in seen]
                seen.update(unseen)
                waiting.extend(unseen)
    return False


_FINDERS: Final = (
    *(_state_head, _tree_head, _matching_head, _box_head),
    *(vision_heads.find_pixel_head, linear_head, feature_head),
)


# Outputs that belong together

_LISTS: Final = ("ctc", "numbers", "boxes", "scores", "detection")


def _pair_spans(heads: list[Head], traces: list[OutputTrace]) -> list[Head]:
    """Start and end of a span: one number per token each."""
    pair = [head for head in heads if head.kind == "score-per-place"]
    if len(pair) != 2 or pair[0].positions != pair[1].positions or not token_tables(traces[0].net):
        return heads
    # from one layer, or from two with the same input: other scores of tokens (durations, pitch) have their own networks
    outputs = {head.output for head in pair}
    sources = {op for trace in traces if trace.output in outputs for op in trace.sources}
    inputs = {op.inputs[0] for op in sources if op.kind == "linear"}
    if len(sources) != 1 and len(inputs) != 1:
        return heads
    names = " and ".join(head.output for head in pair)
    evidence = f"outputs {names} have one value per token each: a span head"
    return [replace(head, kind="span", evidence=evidence) if head in pair else head for head in heads]


def _pair_boxes_and_scores(heads: list[Head], traces: list[OutputTrace]) -> list[Head]:
    """Boxes and scores of as many objects. What a loop computes one by one is a sequence, not a set of objects."""
    looped = {trace.output for trace in traces if any(op.loop for op in (*trace.ops, *trace.sources))}
    lists = [head for head in heads if head.kind in _LISTS and head.output not in looped]
    box = next((head for head in lists if head.positions and (head.kind == "boxes" or head.classes == 4)), None)
    if box is None or box.positions is None:
        return heads
    score = next((head for head in lists if head is not box and head.positions == box.positions), None)
    if score is None:
        return heads
    width = score.width or score.classes
    evidence = f"{box.output} has 4 values for each of {pluralize(box.positions, 'object')}, {score.output} has {width}"
    paired = {
        box.output: replace(box, kind="boxes", classes=None, evidence=evidence),
        score.output: replace(score, kind="scores", classes=width, evidence=evidence),
    }
    return [paired.get(head.output, head) for head in heads]


def _pair_prototypes(heads: list[Head], traces: list[OutputTrace]) -> list[Head]:
    """Mask prototypes next to a list of boxes with coefficients for them."""
    lists = [head for head in heads if head.kind == "detection"]
    maps = [head for head in heads if head.kind in ("segmentation", "features")]
    if len(lists) != 1 or len(maps) != 1 or not maps[0].classes:
        return heads
    evidence = f"{maps[0].output} has {maps[0].classes} mask prototypes to be combined for each box"
    prototypes = replace(maps[0], kind="prototypes", classes=None, evidence=evidence)
    return [prototypes if head is maps[0] else head for head in heads]
