"""The class of each kernel, and how much there is of each quantity that takes time.

The seconds of a kernel are a sum: so many for its launch, for each multiply-add, each element, each byte in a cache or
in memory. Calibration measures the seconds for one unit of each quantity, by class.
"""

import math
from collections.abc import Callable, Mapping
from typing import Final

from onnx_autodoc.ops import WorkClass, operator_of
from onnx_autodoc.runtime.calibration import ort_fusions
from onnx_autodoc.runtime.calibration.fusion import (
    CHANNEL_BLOCK,
    GELU,
    ON_INTEGERS,
    PACKED,
    SILU,
    group_count,
    is_blocked,
    reads_unblocked,
)
from onnx_autodoc.runtime.calibration.scope_graph import (
    ScopeGraph,
    computed_bytes,
    count_elements,
    dims_of,
    known_or_zero,
)

Quantities = dict[str, float]
ClassifiedWork = tuple[str, Quantities]  # class of the kernel, and its work

_CACHE_BYTES: Final = float(16 << 20)  # around which the data of a kernel leave the cache
_FLOAT_BYTES: Final = 4
_FLOATS: Final = ("float32", "float16")
_HALF_STEPS: Final = 3  # softmax and norms in half precision are computed in several steps
_ACCURACY_INT8: Final = 4  # `accuracy_level` of MatMulNBits at which data are quantized too
_PANEL_COLUMNS: Final = 16  # that a matrix product computes at once
_PARALLEL_BLOCKS: Final = 4  # of output channels, that a convolution computes at once
_UNKNOWN: Final[ClassifiedWork] = ("unknown", {})


def split_bytes(nbytes: float) -> Quantities:
    """Divide the data of a kernel into bytes in a cache and bytes in memory."""
    far = 1 / (1 + (_CACHE_BYTES / nbytes) ** 2) if nbytes else 0.0
    return {"near": nbytes * (1 - far), "far": nbytes * far}


class KernelView:
    """One kernel of a graph with its sizes. `input` and `output` are elements of its first input and output."""

    def __init__(self, graph: ScopeGraph, node: int) -> None:
        row, self.graph, self.node = graph.rows[node], graph, node
        self.row, self.step, self.attributes = row, row.step, row.step.node.attributes
        self.op, self.pattern, self.group = graph.op(node), graph.pattern.get(node), group_count(graph, node)
        operator = operator_of(row.step.node)
        self.work, self.kind = operator.work, operator.kernel_class
        data, out = next(iter(row.step.inputs), None), next(iter(row.step.outputs), None)
        self.dims, self.input = dims_of(data), count_elements(data)
        self.out_dims, self.output = dims_of(out), count_elements(out)
        self.macs = known_or_zero(row.cost.macs) // max(row.times, 1) if row.cost else 0
        self.weight_index = ort_fusions.SECOND_FACTOR.get(self.op, 1)
        self.weight = row.step.inputs[self.weight_index] if self.weight_index < len(row.step.inputs) else None

    @property
    def read_bytes(self) -> int:
        """The bytes that a node reads: all of its inputs, or the part that its cost counts."""
        whole = sum(computed_bytes(known) for known in dict(self.graph.typed_inputs(self.node)).values())
        counted = self.row.cost.read if self.row.cost else None
        return min(whole, counted // max(self.row.times, 1)) if type(counted) is int and whole else whole

    @property
    def written_bytes(self) -> int:
        return sum(map(computed_bytes, self.step.outputs))

    @property
    def window(self) -> int:
        """The elements that a pooling reads; a window may be larger than the image, to cover all of it."""
        shape, image = self.attributes.get("kernel_shape"), math.prod((self.dims or ())[2:])
        return self.output * (min(math.prod(shape), image) if isinstance(shape, tuple) else image)  # type: ignore[arg-type]

    @property
    def has_constant_weight(self) -> bool:
        """Whether the second factor is a weight, dequantized or not."""
        name = self.graph.inputs(self.node)[self.weight_index]
        producer = self.graph.producer.get(name)
        is_computed = producer is not None and self.graph.rows[producer].bookkeeping
        return self.graph.is_constant(self.node, name) or is_computed


def count_work(graph: ScopeGraph, node: int) -> ClassifiedWork:
    """Return the class and work of one run of a kernel; the class is empty if nothing runs."""
    kernel = KernelView(graph, node)
    if kernel.work in _PRODUCTS:
        return _PRODUCTS[kernel.work](kernel)
    if kernel.pattern:
        return _fused_block(kernel)
    if kernel.step.bodies:
        return _control_flow(kernel)
    name = _operator_class(kernel)
    return name, _OPERATOR_WORK.get(name, _pointwise_work)(kernel)


def _convolution(kernel: KernelView) -> ClassifiedWork:
    weight, data, out = dims_of(kernel.weight), kernel.dims, kernel.out_dims
    if weight is None or data is None or out is None or len(weight) < 3 or not math.prod(weight):
        return _UNKNOWN
    is_depthwise = weight[1] == 1 and kernel.group > 1
    window = math.prod(weight[2:])
    # elements that are copied to make the convolution a matrix product: none for a kernel of size 1
    columns = math.prod(out[2:]) * out[0] * weight[1] * kernel.group * window if window > 1 else 0
    if kernel.op in ort_fusions.INTEGER_CONVOLUTIONS or kernel.pattern == ON_INTEGERS:
        work: Quantities = {"macs": kernel.macs, "in": kernel.input, "out": kernel.output}
        if is_depthwise:
            return "integer depthwise", work
        kind = "dynamic convolution" if kernel.op == "ConvInteger" else "integer convolution"
        return kind, {**work, "columns": columns, "weights": math.prod(weight)}
    positions = math.prod(out[2:])
    if kernel.op == "ConvTranspose":
        positions = math.prod(data[2:])
        columns = positions * data[0] * math.prod(weight[1:]) * kernel.group
    elif is_blocked(kernel.graph, kernel.node):
        return _blocked_convolution(kernel, weight)
    elif is_depthwise:
        return "unrolled depthwise", {"macs": kernel.macs, "out": kernel.output}
    positions, weights = max(positions, 1), math.prod(weight) * _FLOAT_BYTES
    macs = kernel.macs * _round_up(positions, _PANEL_COLUMNS) // positions
    return "unrolled convolution", {"macs": macs, "columns": columns, "out": kernel.output, "weights": weights}


def _blocked_convolution(kernel: KernelView, weight: tuple[int, ...]) -> ClassifiedWork:
    """On blocks of channels: those missing in the last block are computed nevertheless."""
    out, data = kernel.output, split_bytes((kernel.input + kernel.output) * _FLOAT_BYTES)
    if kernel.group > 1 and weight[1] == 1:
        return "depthwise", {"macs": kernel.macs, "out": out, **data}
    outputs = _round_up(weight[0], CHANNEL_BLOCK)
    macs = kernel.macs * outputs // weight[0]
    parallel = min(outputs // kernel.group // CHANNEL_BLOCK, _PARALLEL_BLOCKS) or 1
    if reads_unblocked(kernel.graph, kernel.node):
        return "first convolution", {"macs": macs, "narrow": macs / parallel, "out": out}
    macs = macs * _round_up(weight[1], CHANNEL_BLOCK) // weight[1]
    kind = "pointwise convolution" if math.prod(weight[2:]) == 1 else "convolution"
    weights = math.prod(weight) * _FLOAT_BYTES
    return kind, {"macs": macs, "out": out, "weights": weights, **data, "narrow": macs / parallel}


def _round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def _matrix_product(kernel: KernelView) -> ClassifiedWork:
    out = kernel.out_dims
    if out is None or kernel.dims is None or kernel.weight_index >= len(kernel.step.inputs):
        return _UNKNOWN
    if kernel.op in ort_fusions.PACKED_PRODUCTS or kernel.pattern == PACKED:
        return _packed_product(kernel, (out or (1,))[-1])
    has_weights = kernel.has_constant_weight
    work: Quantities = {"macs": kernel.macs, "in": kernel.input, "out": kernel.output}
    if kernel.op in ort_fusions.INTEGER_PRODUCTS or kernel.pattern == ON_INTEGERS:
        weights = computed_bytes(kernel.weight) if has_weights else 0
        return "integer product" if has_weights else "integer product of data", {**work, "weights": weights}
    second, batch = count_elements(kernel.step.inputs[1]), math.prod(out[:-2])
    if has_weights and kernel.output == (out or (1,))[-1]:
        return "product of a row", {"weights": second * _FLOAT_BYTES, "out": kernel.output}
    if has_weights:
        return "product", {**work, "weights": second * _FLOAT_BYTES}
    if len(out) < 2 or out[-2] == 1:
        return "product of data and a row", {"batch": batch, "weights": second * _FLOAT_BYTES}
    return "product of data", {**work, "batch": batch, "in": work["in"] + second}


def _packed_product(kernel: KernelView, columns: int) -> ClassifiedWork:
    """Weights of four bits: unpacked once for many rows."""
    weights, has_many_rows = kernel.macs // max(kernel.output // max(columns, 1), 1), kernel.output > columns
    on_integers = kernel.attributes.get("accuracy_level", 0) == _ACCURACY_INT8
    kind = "packed product on integers" if on_integers else "packed product"
    return kind if has_many_rows else f"{kind}, one row", {
        "macs": kernel.macs,
        "weights": weights // 2,
        "out": kernel.output,
        "in": kernel.input,
        "unpacked": weights if has_many_rows else 0,
    }


def _recurrent(kernel: KernelView) -> ClassifiedWork:
    """Each step reads the weights of the state; the weights of the input are one product before the steps."""
    dims, hidden = kernel.dims, kernel.attributes.get("hidden_size", 1)
    if dims is None or len(dims) < 2 or not isinstance(hidden, int):
        return _UNKNOWN
    directions = 2 if kernel.attributes.get("direction") == "bidirectional" else 1
    steps, gates = dims[0] * directions, ort_fusions.GATES.get(kernel.op, 4)
    state = steps * gates * hidden * hidden * dims[1]
    return "integer recurrent" if kernel.op == "DynamicQuantizeLSTM" else "recurrent", {
        "steps": steps,
        "state": state,
        "macs": max(kernel.macs - state, 0),
        "cells": steps * gates * hidden * dims[1],
    }


_PRODUCTS: Final[Mapping[WorkClass, Callable[[KernelView], ClassifiedWork]]] = {
    WorkClass.CONVOLUTION: _convolution,
    WorkClass.PRODUCT: _matrix_product,
    WorkClass.ATTENTION: lambda kernel: (
        "attention",
        {"macs": kernel.macs, "out": kernel.output, "in": kernel.read_bytes // _FLOAT_BYTES},
    ),
    WorkClass.RECURRENT: _recurrent,
}


def _control_flow(kernel: KernelView) -> ClassifiedWork:
    """A branch or loop; the kernels inside are counted separately."""
    if kernel.op not in ort_fusions.CONTROL:
        return "", {}  # a function call, which is inlined
    if kernel.op == "If" and kernel.graph.inputs(kernel.node)[0] not in kernel.graph.producer:
        return "", {}  # the condition is constant
    passes = sum(known_or_zero(body.times) for body in kernel.step.bodies)
    return "control", {"passes": passes if kernel.op != "If" else 0}


def _fused_block(kernel: KernelView) -> ClassifiedWork:
    if kernel.pattern == ON_INTEGERS:
        return _integer_operator(kernel)
    work = {"elements": kernel.output, **split_bytes(8 * kernel.output)}
    if kernel.pattern in (SILU, GELU):
        by_tanh = any(kernel.graph.op(node) in ort_fusions.BY_TANH for node in kernel.graph.nodes(kernel.node))
        return "function silu" if kernel.pattern == SILU or by_tanh else "function gelu", work
    is_half = kernel.step.outputs[0].dtype == "float16"
    return "norm", {name: amount * _HALF_STEPS for name, amount in work.items()} if is_half else work


def _integer_operator(kernel: KernelView) -> ClassifiedWork:
    """Between quantizers, and neither a convolution nor a matrix product."""
    kind, work = kernel.kind, {"elements": float(kernel.output + kernel.input)}
    if kind == "view":
        return "view", {}
    if kind == "softmax":
        return "integer softmax", work
    if kernel.op not in ort_fusions.INTEGER_MOVES:
        return "integer pointwise", work
    return ("integer pool", {"window": kernel.window}) if kind == "pool" else ("integer move", work)


# -- single operators


def _operator_class(kernel: KernelView) -> str:
    """Return the class of an operator, or the variant of it that its attributes and shapes select."""
    kind, step, attributes = kernel.kind, kernel.step, kernel.attributes
    if kind == "cast":
        dtypes = {known.dtype for known in (step.inputs[0], step.outputs[0]) if known is not None}
        return kind if dtypes <= set(_FLOATS) else "cast to another kind"
    if kind == "norm":
        return "norm across" if isinstance(attributes.get("size"), int) else kind  # neighbouring channels
    if kind == "reduce":
        return kind if _reduces_last_axis(kernel) else "reduce across"
    if kind == "pool":
        return "blocked pool" if kernel.graph.output(kernel.node) in kernel.graph.blocked_values else kind
    if kind == "resize":
        return kind if attributes.get("mode", "nearest") == "nearest" else "resize smoothly"
    if kind == "transpose":
        perm = attributes.get("perm")
        keeps_rows = isinstance(perm, tuple) and len(perm) > 0 and perm[-1] == len(perm) - 1
        return "transpose rows" if keeps_rows else kind
    if kind == "softmax":
        return kind if _softmax_axis(kernel) == -1 else "softmax across"
    return _pointwise_class(kernel)


def _pointwise_class(kernel: KernelView) -> str:
    inputs, outputs = kernel.step.inputs, kernel.step.outputs
    if kernel.op == "Pow":
        value = inputs[1].value if len(inputs) > 1 and inputs[1] is not None else None
        is_power = value is not None and value.size == 1 and value.reshape(-1)[0] in (2, 3)
        return "function square" if is_power else kernel.kind  # squares and cubes are computed by multiplication
    if kernel.kind != "plain":
        return kernel.kind
    if outputs and outputs[0].dtype not in _FLOATS:
        return "plain on integers"
    sizes = [count_elements(known) for _, known in kernel.graph.typed_inputs(kernel.node)]
    return "plain spread" if len(sizes) > 1 and any(1 < size < kernel.output for size in sizes) else "plain"


def _reduces_last_axis(kernel: KernelView) -> bool:
    """Return whether a reduction is along the last axis or over all, so that its elements are contiguous."""
    inputs = kernel.step.inputs
    axes: object = kernel.attributes.get("axes", kernel.attributes.get("axis"))
    if axes is None and len(inputs) > 1 and inputs[1] is not None and inputs[1].value is not None:
        axes = tuple(inputs[1].value.reshape(-1).tolist())
    last = len(kernel.dims or ()) - 1
    return axes is None or any(axis in (-1, last) for axis in (axes if isinstance(axes, tuple) else (axes,)))


def _softmax_axis(kernel: KernelView) -> int:
    """Return -1 if the elements of the axis are contiguous; else the data are transposed before and after."""
    dims, axis = kernel.out_dims or (1,), kernel.attributes.get("axis", -1)
    is_inner = isinstance(axis, int) and 0 <= axis < len(dims) and math.prod(dims[axis + 1 :]) > 1
    return axis if is_inner and isinstance(axis, int) else -1


def _softmax_work(kernel: KernelView) -> Quantities:
    steps, dims = 1 if kernel.step.outputs[0].dtype == "float32" else _HALF_STEPS, kernel.out_dims or (1,)
    return {"elements": kernel.output * steps, "rows": kernel.output // max(dims[_softmax_axis(kernel)], 1)}


def _moved(kernel: KernelView) -> Quantities:
    return split_bytes(kernel.read_bytes + kernel.written_bytes)


def _pointwise_work(kernel: KernelView) -> Quantities:
    return {"elements": kernel.output, **_moved(kernel)}


def _gather_work(kernel: KernelView) -> Quantities:
    return {"elements": kernel.output, **split_bytes(2 * kernel.written_bytes)}


def _neighbour_norm_work(kernel: KernelView) -> Quantities:
    channels = kernel.attributes.get("size")
    return {"elements": kernel.output, "window": kernel.output * (channels if isinstance(channels, int) else 1)}


_OPERATOR_WORK: Final[Mapping[str, Callable[[KernelView], Quantities]]] = {
    "view": lambda _: {},
    **dict.fromkeys(("other", "copy", "cast", "cast to another kind", "plain", "plain spread"), _moved),
    "plain on integers": _moved,
    **dict.fromkeys(
        ("quantize", "dequantize", "quantize dynamically"),
        lambda kernel: {"elements": max(kernel.input, kernel.output)},
    ),
    "integer pointwise": lambda kernel: {"elements": kernel.input + kernel.output},
    **dict.fromkeys(("softmax", "softmax across"), _softmax_work),
    "gather": _gather_work,
    "sort": lambda kernel: {**_gather_work(kernel), "elements": kernel.input},
    "norm": lambda kernel: {"elements": kernel.output, **split_bytes(8 * kernel.output)},
    "norm across": _neighbour_norm_work,
    **dict.fromkeys(
        ("reduce", "reduce across"), lambda kernel: {"elements": kernel.input, **split_bytes(kernel.read_bytes)}
    ),
    **dict.fromkeys(("pool", "blocked pool"), lambda kernel: {"window": kernel.window, **_moved(kernel)}),
    **dict.fromkeys(("resize", "resize smoothly"), lambda kernel: {"elements": kernel.output}),
}
