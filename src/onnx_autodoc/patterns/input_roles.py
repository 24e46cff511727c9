"""Roles of inputs: a table of predicates on what the graph does with an input, walked in order.

Images, audio and tables are distinguished by the first weights that read them; inputs that no weights read are
conditions of branches or optional inputs of fused operators.
"""

import math
import re
from collections.abc import Callable
from functools import cached_property
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import Graph, Model, Node, is_float
from onnx_autodoc.ops import Trait, has_trait
from onnx_autodoc.patterns.block_kinds import MIXERS, RECURRENT, SINUSOIDS
from onnx_autodoc.patterns.head import count_positions
from onnx_autodoc.patterns.net import NO_VALUE, Net, Op
from onnx_autodoc.patterns.tracing import (
    APPENDING,
    LINEAR_BLOCKS,
    InputTrace,
    consumers_inside,
    first_convolution,
    ops_behind,
    reads_as_key_or_value,
    uses_inside,
)

_SELECTIONS: Final = frozenset(("Gather", "GatherND", "GatherElements", "Slice", "Expand", "Tile"))
_FIRST_STATE_INPUT: Final = 4  # of a recurrent operator, after data, weights and bias
_TABULAR: Final = (
    *("Scaler", "Normalizer", "Imputer", "TreeEnsemble", "SVM"),
    *("LinearClassifier", "LinearRegressor", "OneHotEncoder"),
)
_MAX_VALUES: Final = 300  # behind a mask or an index
_TEXT_OPS: Final = frozenset(("StringNormalizer", "Tokenizer", "TfIdfVectorizer", "StringSplit", "RegexFullMatch"))
_COUNTS_TOKENS: Final = ("GroupQueryAttention", "SparseAttention")  # read lengths instead of a mask


class InputContext:
    """One input of a model, with the values that the predicates of roles read."""

    def __init__(self, net: Net, name: str, value: int) -> None:
        self.net, self.name, self.value = net, name, value
        self.trace = InputTrace(net, value)
        self.dtype = net.dtype(value)
        self.rank = net.rank(value) or 0
        self.is_float = is_float(self.dtype)

    @cached_property
    def tables(self) -> list[Op]:
        """The embeddings whose indices are computed from the numbers of the input."""
        targets = [op for op, read in self.trace.targets if op.kind == "embedding" and read == op.inputs[0]]
        return [op for op in targets if _is_computed_from(self.net, op.inputs[0], self.value)]

    @cached_property
    def table_roles(self) -> set[str | None]:
        return {op.embedding.role for op in self.tables}

    @cached_property
    def state_role(self) -> str | None:
        """Whether the input is a key-value cache or the state of a recurrent cell."""
        net = self.net
        for op, read in self.trace.targets:
            if op.kind == "attention" and reads_as_key_or_value(net, op, read) and _is_cache(self, op):
                return "past state"
            # a value that no output returns is not a state
            if op.kind == "carry" and any(net.shape(out) == net.shape(self.value) for out in net.output_values):
                return "state"
            if op.kind in RECURRENT and _is_initial_state(net, op, read):
                return "state"
        return None


class InputRole(Struct, frozen=True):
    """`dtypes` is "integer" (with flags), "float" (with uint8, which images may have) or "any"."""

    role: str
    dtypes: str
    applies: Callable[[InputContext], bool]


def find_input_role(context: InputContext) -> str | None:
    if context.dtype is None:
        return None
    if context.dtype == "string":
        return "text" if context.trace.kinds & _TEXT_OPS else "category"
    dtypes = "float" if context.is_float or context.dtype == "uint8" else "integer"
    for row in INPUT_ROLES:
        if row.dtypes in (dtypes, "any") and row.applies(context):
            return row.role
    return _find_signal_role(context) if dtypes == "float" else None


# Indices


def _is_column_of_categories(context: InputContext) -> bool:
    """Whether one row is looked up per example: a column of a table, not the words of a text."""
    net = context.net
    counts = [count_positions(net, op.outputs[0], op.out_features or 0) for op in context.tables]
    return bool(counts) and all(count is not None and count <= 1 for count in counts) and not net.of(*MIXERS)


def _is_computed_from(net: Net, value: int, source: int) -> bool:
    """Whether a value holds the numbers of `source`, not only its order or its size."""
    waiting, seen = [value], {value}
    while waiting and len(seen) < _MAX_VALUES:
        value = waiting.pop()
        if value == source:
            return True
        op = net.producers[value]
        if op is not None:
            inputs = op.inputs[:1] if op.kind in _SELECTIONS else net.data_inputs(op)
            waiting.extend(operand for operand in inputs if operand not in seen)
            seen.update(inputs)
    return False


def _is_index(context: InputContext) -> bool:
    """Whether the input itself selects rows. Positions that are counted from a mask do not count."""
    return bool(context.tables) and "CumSum" not in context.trace.kinds and not context.is_float


def _is_rotary_position(context: InputContext) -> bool:
    """Whether attention is rotated by an input. Sines and cosines that a linear layer reads are a timestep."""
    net, trace = context.net, context.trace
    if not context.is_float:
        parts = [part for op, read in trace.targets for part in consumers_inside(op, read)]
        if any(part.kind == "RotaryEmbedding" for part in parts):
            return True
        # the product of one number with frequencies
        products = [op for op in trace.targets_of("linear") if op.in_features == 1]
        if any(InputTrace(net, op.outputs[0]).kinds.intersection(SINUSOIDS) for op in products):
            return True
    return bool(trace.kinds.intersection(SINUSOIDS) and trace.targets_of("attention"))


def _is_timestep(context: InputContext) -> bool:
    """Whether sines and cosines of one number per example are read by a linear layer."""
    is_single = math.prod(context.net.shape(context.value) or ()) <= context.net.batch_size
    is_linear = bool(context.trace.targets_of(*LINEAR_BLOCKS))
    return bool(context.trace.kinds.intersection(SINUSOIDS)) and is_linear and is_single


def _is_segment_comparison(context: InputContext) -> bool:
    """Whether an input is compared with itself, to find tokens of the same segment."""
    trace = context.trace
    operands = [context.net.data_inputs(op) for op in trace.ops if op.kind == "Equal"]
    is_compared = any(len(pair) == 2 and trace.seen.issuperset(pair) for pair in operands)
    return is_compared and bool(trace.targets) and not trace.targets_of("embedding")


# Masks


def _is_mask(context: InputContext) -> bool:
    """Whether an input selects the positions that attention reads, or that are summed.

    A fused operator may read it as its mask, or require the number of tokens instead of a mask.
    """
    net, trace = context.net, context.trace
    if trace.targets_of("attention") or trace.masked or not trace.unread:
        return bool(trace.targets_of("attention") or trace.masked)
    blocks = net.of("attention")
    masks = dict.fromkeys(mask for op in blocks for mask in op.attention.masks)
    behind = (op for mask in masks for op in ops_behind(net, mask, lambda _: False, _MAX_VALUES))
    if context.value in masks or any(context.value in op.inputs for op in behind):
        return True
    parts = (part for op in blocks for part in op.walk())
    return any(part.kind == "attention-core" and part.attention.form in _COUNTS_TOKENS for part in parts)


def _is_length(context: InputContext) -> bool:
    """Whether an input holds one length per example."""
    if context.trace.targets_of(*RECURRENT) and context.rank < 2:
        return True
    return context.net.rank(context.value) is not None and context.rank < 2 and _is_mask(context)


def _is_additive_mask(context: InputContext) -> bool:
    targets = context.trace.targets
    parts = [part for op, read in targets if op.kind == "attention" for part in consumers_inside(op, read)]
    return bool(parts) and {part.kind for part in parts} <= {"Add", "Where", "Mul"}


# States


def _is_cache(context: InputContext, attention: Op) -> bool:
    """Whether new tokens are appended to an input, or it has heads and the queries are projected."""
    kinds = {*context.trace.kinds, *(part.kind for part in attention.walk())}
    if kinds & {*APPENDING, "attention-core"}:
        return True
    return context.rank > 3 and any(part.kind in LINEAR_BLOCKS for part in attention.parts)


def _is_initial_state(net: Net, cell: Op, value: int) -> bool:
    if cell.recurrent.looped is None:
        return value in cell.inputs[_FIRST_STATE_INPUT:] and value != cell.inputs[0]
    if cell.recurrent.looped:
        return False  # states of a loop enter through `carry`
    dims = [dim for dim in net.shape(value) or () if dim != 1]
    return any([dim for dim in net.shape(output) or () if dim != 1] == dims for output in cell.outputs)


def _is_memory_of_encoder(context: InputContext) -> bool:
    """Whether attention reads an input as values without a projection, and as keys too. A cache separates the two."""
    targets = context.trace.targets
    if context.rank != 3 or not targets or any(op.kind != "attention" for op, _ in targets):
        return False
    block, read = targets[0]
    uses = [part.kind for part, _ in uses_inside(context.net, block, read)]
    products = [kind for kind in uses if kind == "MatMul" or kind in LINEAR_BLOCKS]
    return "MatMul" in uses and len(products) > 1 and APPENDING.isdisjoint(uses)


def _is_sliding_window(context: InputContext) -> bool:
    """Whether an output is the input joined with new data and cut to its size."""
    net, trace = context.net, context.trace
    if "Concat" not in trace.kinds:
        return False
    outputs = [value for op in trace.ops if op.kind in ("Slice", "Concat", "Split") for value in op.outputs]
    return any(net.shape(value) == net.shape(context.value) for value in outputs if value in net.output_values)


def _is_encoder_output(context: InputContext) -> bool:
    """Whether cross-attention projects an input to keys and values."""
    crossed = [(op, read) for op, read in context.trace.targets if op.kind == "attention" and op.attention.cross]
    kinds = [part.kind for op, read in crossed for part in consumers_inside(op, read)]
    return "linear" in kinds and context.rank > 2


INPUT_ROLES: Final = (
    InputRole("category", "any", _is_column_of_categories),
    InputRole("tokens", "any", lambda context: "token" in context.table_roles),
    InputRole("segment", "any", lambda context: _is_index(context) and "type" in context.table_roles),
    InputRole("positions", "any", _is_index),
    InputRole("encoder states", "float", _is_memory_of_encoder),
    InputRole("past state", "float", lambda context: context.state_role == "past state"),
    InputRole("state", "float", lambda context: context.state_role == "state"),
    InputRole("state", "float", _is_sliding_window),
    InputRole("encoder states", "float", _is_encoder_output),
    InputRole("positions", "any", _is_rotary_position),
    InputRole("timestep", "any", _is_timestep),
    InputRole("segment", "integer", _is_segment_comparison),
    InputRole("lengths", "integer", _is_length),
    InputRole("mask", "integer", _is_mask),
    InputRole("mask", "float", _is_additive_mask),
    InputRole("features", "any", lambda context: any(kind.startswith(_TABULAR) for kind in context.trace.kinds)),
)


_FOURIER: Final = frozenset(("STFT", "DFT", "MelWeightMatrix"))
_COLOUR_CHANNELS: Final = (1, 3, 4)
_MEL_BANDS: Final = frozenset((40, 64, 80, 96, 128, 229))
_MIN_AUDIO_STRIDE: Final = 4  # samples
_MIN_AUDIO_KERNEL: Final = 64
_NORMS: Final = ("layer-norm", "rms-norm", "Add")
_MIN_IMAGE_SIDE: Final = 8
# names decide only between two roles that the graph allows
_AUDIO_NAME: Final = re.compile(r"audio|wav|speech|pcm|samples", re.I)
_SPECTROGRAM_NAME: Final = re.compile(r"mel|spec|fbank|audio|mfcc|features", re.I)


def _find_signal_role(context: InputContext) -> str | None:
    """Return the role of a floating-point input that is neither a state nor a mask."""
    trace = context.trace
    if trace.kinds & _FOURIER or trace.targets_of("stft"):
        return "audio"
    convs = (first_convolution(op) for op in trace.targets_of() if op.kind != "attention")
    conv = next((conv for conv in convs if conv is not None), None)
    if conv is not None:
        return _convolved_role(context, conv)
    return _linear_role(context) if trace.targets else None


def _convolved_role(context: InputContext, conv: Op) -> str | None:
    net, rank, kernel = context.net, context.rank, conv.conv.kernel
    sizes = [size for size in kernel if size != 1]
    spatial_axes = len(kernel) if kernel[:1] != (1,) or not sizes else max(len(sizes), 1)
    weight_dims = net.shape(conv.linear.weight or NO_VALUE) or ()
    channels = weight_dims[1] * (conv.conv.group or 1) if len(weight_dims) > 1 else None
    if rank < 3 or spatial_axes == 1:
        return _sequence_role(context.name, conv, channels)
    if spatial_axes == 3:
        return "video" if channels == 3 else "volume"
    if rank != 4:
        return "spectrogram" if rank == 3 else None  # frames and bands, convolved as an image
    layout = _image_layout(context, conv, channels)
    channels = net.dim(context.value, 1 if layout == "NCHW" else 3) or channels
    if channels == 1 and _SPECTROGRAM_NAME.search(context.name):
        return "spectrogram"
    return f"image {layout}" if channels in _COLOUR_CHANNELS else "features"


def _sequence_role(name: str, conv: Op, channels: int | None) -> str:
    """One channel with long steps is audio; several are features of frames, or mel bands if their number is usual."""
    if channels != 1:
        return "spectrogram" if channels in _MEL_BANDS else "features"
    has_long_steps = max(conv.conv.strides) >= _MIN_AUDIO_STRIDE or max(conv.conv.kernel) >= _MIN_AUDIO_KERNEL
    return "audio" if has_long_steps or _AUDIO_NAME.search(name) else "signal"


def _image_layout(context: InputContext, conv: Op, channels: int | None) -> str:
    """NHWC where the channels are transposed before the first convolution, or it requires them last."""
    net, value = context.net, context.value
    permutations = [op.node_attribute("perm") for op in context.trace.ops if op.kind == "Transpose"]
    if conv.node is not None and conv.node.op.startswith("Nhwc"):
        return "NCHW" if (0, 2, 3, 1) in permutations else "NHWC"
    is_last = channels in _COLOUR_CHANNELS and net.dim(value, 3) == channels != net.dim(value, 1)
    return "NHWC" if is_last or (0, 3, 1, 2) in permutations else "NCHW"


def _linear_role(context: InputContext) -> str | None:
    """Return the role of an input that a linear layer, a recurrent cell or a norm reads first."""
    dims, targets = context.net.shape(context.value) or (), context.trace.targets
    if len(dims) == 4 and all(op.kind == "attention" for op, _ in targets):
        return None  # images are split into patches first
    if len(dims) == 4 and min(sorted(dims[1:])[1:]) >= _MIN_IMAGE_SIDE:
        return "image NCHW" if dims[1] in _COLOUR_CHANNELS else "image NHWC" if dims[3] in _COLOUR_CHANNELS else None
    if len(dims) == 3 and all(op.kind in _NORMS for op, _ in targets) and context.net.of("attention"):
        return "token embeddings"
    return "features"


_MIN_SAMPLE_RATE, _MAX_SAMPLE_RATE = 4_000, 192_000  # Hz
_MAX_NODES_BEHIND_CONDITION: Final = 40
_OPERATOR_INPUTS: Final = {  # of com.microsoft
    ("EmbedLayerNormalization", 7): "mask",
    ("QEmbedLayerNormalization", 7): "mask",
    ("GroupQueryAttention", 5): "lengths",
    ("GroupQueryAttention", 9): "positions",
}


def find_control_roles(net: Net, model: Model) -> dict[str, str]:
    """Return the roles of the inputs that no op of the net reads."""
    unread = {n for n, value in net.inputs.items() if not net.consumers[value] and value not in net.output_values}
    if not unread:
        return {}
    roles: dict[str, str] = {}
    sources = {name: name for name in unread}
    for node in model.graph.nodes:
        if has_trait(node, Trait.FORWARDS) and node.inputs and node.inputs[0] in sources:
            sources |= dict.fromkeys(node.outputs, sources[node.inputs[0]])
        for index, name in enumerate(node.inputs):
            if name in sources and node.domain == "com.microsoft" and (node.op, index) in _OPERATOR_INPUTS:
                roles[sources[name]] = _OPERATOR_INPUTS[node.op, index]
    values: dict[str, list[int]] = {}
    for value, name in enumerate(net.names):
        values.setdefault(name, []).append(value)
    for node in model.graph.nodes:
        if node.is_op("If"):
            names = _names_behind(model.graph, node)
            numbers = [net.scalar(value) for name in names for value in values.get(name, ())]
            is_rate = any(number is not None and _MIN_SAMPLE_RATE <= number <= _MAX_SAMPLE_RATE for number in numbers)
            for name in names & unread:
                roles.setdefault(name, "sample rate" if is_rate else "switch")
    return roles


def _names_behind(graph: Graph, branch: Node) -> set[str]:
    """Return the names of the values that the condition of a branch depends on."""
    waiting, seen = list(branch.inputs), set[str]()
    while waiting and len(seen) < _MAX_NODES_BEHIND_CONDITION:
        name = waiting.pop()
        seen.add(name)
        node = graph.index.producer(name)
        if node is not None:
            waiting.extend(operand for operand in node.inputs if operand not in seen)
    return seen
