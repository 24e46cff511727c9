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
_MAX_LAYOUT_CHANGES: Final = 3


class OutputTrace(Struct, frozen=True, eq=False):
    """`ops` are those between the sources and the output, nearest to the output first."""

    output: str
    value: int
    ops: tuple[Op, ...]
    sources: tuple[Op, ...]  # the ops with weights behind the output
    ends: tuple[int, ...]  # what the sources compute
    model_inputs: tuple[int, ...]
    reads_float_input: bool

    @property
    def label(self) -> str:
        """The output's name as it is quoted in a sentence."""
        return quote_name(self.output)

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(op.kind for op in self.ops)

    @property
    def source(self) -> Op | None:
        """The only source, if there is just one. An integer input, such as a mask, may be read as well."""
        return self.sources[0] if len(self.sources) == 1 and not self.reads_float_input else None


def trace_outputs(net: Net) -> list[OutputTrace]:
    """Trace the outputs in their order, up to a total number of visits that no real model needs."""
    traces, visits_left = list[OutputTrace](), _MAX_VISITS
    for name, value in net.outputs.items():
        if visits_left > 0 and not net.constant[value]:
            traces.append(_trace_output(net, name, value))
            visits_left -= len(traces[-1].ops) + len(traces[-1].ends) + len(traces[-1].model_inputs)
    return traces


def _trace_output(net: Net, name: str, output: int) -> OutputTrace:
    ops, sources, ends, inputs = dict[Op, None](), dict[Op, None](), list[int](), list[int]()
    waiting, seen = [output], {output}
    while waiting and len(ops) < _MAX_OPS and len(seen) < _MAX_VALUES:
        found = dict[int, None]()
        for value in waiting:
            op = net.producers[value]
            if op is None:
                inputs.append(value)
            elif is_source(net, op):
                sources[op] = None
                ends.append(value)
            else:
                ops[op] = None
                found |= dict.fromkeys(each for each in net.data_inputs(op) if each not in seen)
        seen.update(found)
        waiting = list(found)
    reads_float_input = any(is_float(net.dtype(value)) for value in inputs)
    return OutputTrace(name, output, tuple(ops), tuple(sources), tuple(ends), tuple(inputs), reads_float_input)


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
    return (last.out_features if last is not None else None) or op.out_features


def last_linear(op: Op) -> Op | None:
    """Return the last linear layer or convolution in a block."""
    found = [part for part in op.walk() if part.kind in _LINEAR and part.out_features]
    return max(found, key=lambda part: part.position) if found else None


def is_biased(op: Op) -> bool:
    last = last_linear(op)
    return last is not None and last.linear.biased


def count_positions(net: Net, value: int, width: int) -> int | None:
    """Return for how many positions of one example a value has `width` numbers; None if it does not divide."""
    dims = net.shape(value)
    if dims is None or not width:
        return None
    elements = math.prod(dims)
    for numbers in (width * net.batch_size, width):
        if elements and elements % numbers == 0:
            return elements // numbers
    return None


def softmax_size(net: Net, op: Op) -> int | None:
    """Return the number of elements that a softmax or an ArgMax reduces."""
    part = next((part for part in op.walk() if part.node is not None), None)
    node = part.node if part is not None else None
    dims = net.shape(op.inputs[0] if node is not None and node.op == "ArgMax" else op.outputs[0])
    if part is None or node is None or not dims:
        return None
    if node.op not in ("Softmax", "LogSoftmax", "Hardmax", "ArgMax", "QLinearSoftmax"):
        return dims[-1]  # decomposed: exporters reduce the last axis
    flattens = (part.version or 13) < 13 and node.op != "ArgMax"
    axis = node.attributes.get("axis", 0 if node.op == "ArgMax" else 1 if flattens else -1)
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


class Head(Struct, frozen=True):
    """`activation` is softmax, sigmoid, argmax, log-softmax or None; of an embedding it is the pooling."""

    kind: str
    output: str
    classes: int | None = None
    activation: str | None = None
    positions: int | None = None
    evidence: str = ""
    width: int | None = None  # numbers per box in a list of boxes


def final_activation(net: Net, trace: OutputTrace, width: int | None = None) -> str | None:
    """Return the last activation. A softmax over another axis than the one of `width` does not select classes."""
    for op in trace.ops:
        if op.kind in _SIGMOIDS:
            return "sigmoid"
        if op.kind in _SELECTING:
            return _SELECTING[op.kind] if width is None or softmax_size(net, op) == width else None
    return None


def is_rescaled(net: Net, trace: OutputTrace) -> bool:
    """Whether a sigmoid's result is scaled to another range (a rating from 1 to 5, a coordinate)."""
    for op in trace.ops:
        if op.kind in _SIGMOIDS:
            return False
        if op.kind in ("Mul", "Div") and len(net.data_inputs(op)) == 1:
            return any(kind in trace.kinds for kind in _SIGMOIDS)
    return False


def find_pooling(trace: OutputTrace) -> str | None:
    """Return how an embedding was pooled: normalised, mean, tanh (the pooler of BERT), or None for one position."""
    if is_normalized(trace):
        return "normalised"
    return "mean" if trace.kinds & {"ReduceSum", *POOLS} else "tanh" if "Tanh" in trace.kinds else None


def is_normalized(trace: OutputTrace) -> bool:
    return bool(trace.kinds & _NORM_KINDS) or any(kinds <= trace.kinds for kinds in _DECOMPOSED_L2_NORMS)


def has_tokens(net: Net) -> bool:
    return any(op.embedding.role == "token" for op in net.of("embedding"))
