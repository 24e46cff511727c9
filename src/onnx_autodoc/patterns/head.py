"""Heads of outputs: the trace from an output back to the weights that computed it, and the ops applied last."""

import math
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import is_float
from onnx_autodoc.patterns.block_kinds import NORMS, POOLS, WEIGHTED
from onnx_autodoc.patterns.net import Net, Op
from onnx_autodoc.text import quote_name

_SOURCES: Final = frozenset((*WEIGHTED, *NORMS, "head", "bottleneck", "carry", "Loop", "Scan"))
_LINEAR: Final = frozenset(("linear", "conv"))
_MAX_OPS: Final = 400  # of one trace: decoding the boxes of a detector takes a hundred
_MAX_VALUES: Final = 10 * _MAX_OPS
_MAX_VISITS: Final = 250 * _MAX_OPS  # ops and values of all traces together
_USUAL_OPERANDS: Final = 4  # of an op; one with 100,000 counts as many visits
_MAX_LAYOUT_CHANGES: Final = 3


class Head(Struct, frozen=True):
    """`activation` is softmax, sigmoid, argmax, log-softmax or None; of an embedding it is the pooling."""

    kind: str
    output: str
    classes: int | None = None
    activation: str | None = None
    positions: int | None = None
    evidence: str = ""
    width: int | None = None  # numbers per box in a list of boxes


class OutputTrace(Struct, frozen=True, eq=False):
    """`ops` are those between the sources and the output, nearest to the output first."""

    net: Net
    output: str
    value: int
    ops: tuple[Op, ...]
    sources: tuple[Op, ...]  # the ops with weights behind the output
    ends: tuple[int, ...]  # the outputs of the sources
    model_inputs: tuple[int, ...]

    @property
    def dims(self) -> tuple[int, ...] | None:
        return self.net.shape(self.value)

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(op.kind for op in self.ops)

    @property
    def reads_float_input(self) -> bool:
        return any(is_float(self.net.dtype(value)) for value in self.model_inputs)

    @property
    def source(self) -> Op | None:
        """The only source, if there is just one. An integer input, such as a mask, may be read as well."""
        return self.sources[0] if len(self.sources) == 1 and not self.reads_float_input else None

    def head(
        self,
        kind: str,
        evidence: str,
        *,
        classes: int | None = None,
        activation: str | None = None,
        positions: int | None = None,
        width: int | None = None,
    ) -> Head:
        """Return the head of this output. `evidence` continues a sentence that begins with the output's name."""
        evidence = f"{quote_name(self.output)} {evidence}"
        return Head(kind, self.output, classes, activation, positions, evidence, width)


def trace_outputs(net: Net) -> list[OutputTrace]:
    """Trace the outputs in their order, up to a total number of visits that no real model needs."""
    traces, visits_left = list[OutputTrace](), _MAX_VISITS
    for name, value in net.outputs.items():
        if visits_left > 0 and not net.constant[value]:
            traces.append(_trace_output(net, name, value))
            visits_left -= _count_visits(traces[-1])
    return traces


def _count_visits(trace: OutputTrace) -> int:
    operands = sum(len(op.inputs) for op in trace.ops)
    return max(len(trace.ops) + len(trace.ends) + len(trace.model_inputs), operands // _USUAL_OPERANDS)


def _trace_output(net: Net, name: str, output: int) -> OutputTrace:
    ops, sources, ends, inputs = dict[Op, None](), dict[Op, None](), list[int](), list[int]()
    waiting, seen = [output], {output}
    while waiting and len(ops) < _MAX_OPS and len(seen) < _MAX_VALUES:
        unseen = dict[int, None]()
        for value in waiting:
            op = net.producers[value]
            if op is None:
                inputs.append(value)
            elif is_source(net, op):
                sources[op] = None
                ends.append(value)
            else:
                ops[op] = None
                unseen |= dict.fromkeys(operand for operand in net.data_inputs(op) if operand not in seen)
        seen.update(unseen)
        waiting = list(unseen)
    return OutputTrace(net, name, output, tuple(ops), tuple(sources), tuple(ends), tuple(inputs))


def is_source(net: Net, op: Op) -> bool:
    """Whether an op has weights or ends a residual connection.

    The weights that sum over the bins of a detector (DFL) are no learned ones.
    """
    if op.kind in _LINEAR and op.out_features == 1:
        value = net.before_layout_change(op.inputs[0], _MAX_LAYOUT_CHANGES)
        if net.producer(value, "softmax") is not None:
            return False
    is_stacked = op.kind == "Concat" and (net.rank(op.outputs[0]) or 0) > (net.rank(op.inputs[0]) or 0)
    return op.kind in _SOURCES or (op.residual is not None and not is_stacked)


def feature_width(op: Op) -> int | None:
    """Return how many numbers a block computes per position."""
    last = last_linear(op)
    return last.out_features if last is not None else op.out_features


def last_linear(op: Op) -> Op | None:
    """Return the last linear layer or convolution in a block."""
    parts = (part for part in op.walk() if part.kind in _LINEAR and part.out_features)
    return max(parts, key=lambda part: part.position, default=None)


def is_biased(op: Op) -> bool:
    last = last_linear(op)
    return last is not None and last.linear.biased


def count_positions(net: Net, value: int, width: int) -> int | None:
    """Return for how many positions of one example a value has `width` numbers; None if it does not divide."""
    dims = net.shape(value)
    elements = math.prod(dims) if dims is not None and width else 0
    sizes = (width * net.batch_size, width)
    return next((elements // size for size in sizes if elements and elements % size == 0), None)


def softmax_size(net: Net, op: Op) -> int | None:
    """Return the number of elements that a softmax or an ArgMax reduces."""
    node, version = next(((part.node, part.version) for part in op.walk() if part.node is not None), (None, None))
    is_argmax = node is not None and node.op == "ArgMax"
    dims = net.shape(op.inputs[0] if is_argmax else op.outputs[0])
    if node is None or not dims:
        return None
    if node.op not in ("Softmax", "LogSoftmax", "Hardmax", "ArgMax", "QLinearSoftmax"):
        return dims[-1]  # decomposed: exporters reduce the last axis
    flattens = (version or 13) < 13 and not is_argmax
    axis = node.attributes.get("axis", 0 if is_argmax else 1 if flattens else -1)
    if not isinstance(axis, int) or not -len(dims) <= axis < len(dims):
        return None
    return math.prod(dims[axis % len(dims) :]) if flattens else dims[axis]


_NORM_KINDS: Final = frozenset(("LpNormalization", "ReduceL2", "over-root", "root"))
_DECOMPOSED_L2_NORMS: Final = (
    frozenset(("square", "ReduceSum", "Pow", "Div")),
    frozenset(("square", "ReduceSum", "Sqrt", "Div")),
)
_SIGMOIDS: Final = ("Sigmoid", "HardSigmoid")
_SELECTING: Final = {"softmax": "softmax", "LogSoftmax": "log-softmax", "ArgMax": "argmax"}

# class counts of common datasets: CIFAR, Places, SUN, ImageNet
COMMON_CLASS_COUNTS: Final = frozenset((100, 101, 102, 200, 365, 397, 1000, 1001, 10_450, 11_221, 21_841, 21_843))


def final_activation(trace: OutputTrace, width: int | None = None) -> str | None:
    """Return the last activation. A softmax over another axis than the one of `width` does not select classes."""
    op = next((op for op in trace.ops if op.kind in _SIGMOIDS or op.kind in _SELECTING), None)
    if op is None or op.kind in _SIGMOIDS:
        return "sigmoid" if op is not None else None
    return _SELECTING[op.kind] if width is None or softmax_size(trace.net, op) == width else None


def is_rescaled(trace: OutputTrace) -> bool:
    """Whether a sigmoid's result is scaled to another range (a rating from 1 to 5, a coordinate)."""
    for op in trace.ops:
        if op.kind in _SIGMOIDS:
            return False
        if op.kind in ("Mul", "Div") and len(trace.net.data_inputs(op)) == 1:
            return not trace.kinds.isdisjoint(_SIGMOIDS)
    return False


def find_pooling(trace: OutputTrace) -> str | None:
    """Return how an embedding was pooled: normalized, mean, tanh (the pooler of BERT), or None for one position."""
    if is_normalized(trace):
        return "normalized"
    return "mean" if trace.kinds & {"ReduceSum", *POOLS} else "tanh" if "Tanh" in trace.kinds else None


def is_normalized(trace: OutputTrace) -> bool:
    return bool(trace.kinds & _NORM_KINDS) or any(kinds <= trace.kinds for kinds in _DECOMPOSED_L2_NORMS)


def token_tables(net: Net) -> list[Op]:
    return [op for op in net.of("embedding") if op.embedding.role == "token"]
