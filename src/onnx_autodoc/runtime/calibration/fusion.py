"""Fusions and layout changes of onnxruntime on a CPU, as its optimized graphs show them.

The rules are those that matter for the time of a run: rules whose removal left the accuracy of predictions as it was
are not here. onnxruntime itself is not used: a card must not load a native parser, and its machine may lack it.
"""

from collections.abc import Iterable
from typing import Final

from onnx_autodoc.ops import ValueInfo
from onnx_autodoc.runtime.calibration import ort_fusions
from onnx_autodoc.runtime.calibration.scope_graph import ScopeGraph, count_elements, dims_of

PatternMatch = tuple[str, tuple[int, ...]]  # name of a block, and its nodes by row number
ON_INTEGERS: Final = "integer"
PACKED: Final = "packed"
GELU: Final = "gelu"
SILU: Final = "silu"
CHANNEL_BLOCK: Final = 8
_FLOATS: Final = ("float32", "float16")
_PACKED_TYPES: Final = ("int4", "uint4")
_IMAGE_RANK: Final = 4


def fuse_nodes(graph: ScopeGraph, matches: Iterable[PatternMatch]) -> None:
    """Fuse blocks first, then nodes between quantizers, then the nodes after a convolution or matrix product."""
    for name, rows in matches:
        nodes = [node for node in rows if node in graph.rows and not graph.is_removed(node)]
        if nodes and _is_fused_block(graph, name, nodes):
            last = max(nodes)
            for node in nodes:
                if node != last:
                    graph.fuse(node, last)
            graph.pattern[last] = name
    for node in graph.kernels():
        if not graph.is_removed(node) and node not in graph.pattern and graph.op(node) in ort_fusions.QUANTIZABLE:
            _fuse_quantized(graph, node)
    _remove_absorbed_dequantizers(graph)
    for node in graph.kernels():
        if not graph.is_removed(node) and node not in graph.pattern:
            _fuse_following(graph, node)


def _is_fused_block(graph: ScopeGraph, name: str, nodes: list[int]) -> bool:
    """Return whether onnxruntime fuses this form of a normalization or activation that is written as several nodes.

    No other node may read its intermediate values.
    """
    last = max(nodes)
    inner = (value for node in nodes[:-1] if node != last for value in graph.rows[node].step.node.outputs)
    if any(consumer not in nodes for value in inner for consumer in graph.consumers.get(value, ())):
        return False
    if len(nodes) == 1 or name == SILU:
        return True
    ops = [graph.op(node) for node in nodes]
    if name == GELU:
        if graph.rows[last].step.outputs[0].dtype != "float32" or ("Tanh" in ops and "Pow" not in ops):
            return False
        # x · (0.5 · (1 + erf)) is not fused, (0.5 · x) · (1 + erf) is
        after_sums = [graph.sole_consumer(graph.output(node)) for node in nodes if graph.op(node) == "Add"]
        return "Erf" not in ops or not any(node is not None and _scales_by_scalar(graph, node) for node in after_sums)
    reductions = [op for op in ops if op.startswith("Reduce")]
    return "Sqrt" in ops and "Div" in ops and set(reductions) <= {"ReduceMean"}


def _scales_by_scalar(graph: ScopeGraph, node: int) -> bool:
    return graph.op(node) in ort_fusions.SCALES and graph.has_scalar_constant(node)


# -- quantized


def _fuse_quantized(graph: ScopeGraph, node: int) -> None:
    """An operator between DequantizeLinear and QuantizeLinear runs on integers."""
    op = graph.op(node)
    floats = [name for name, known in graph.typed_inputs(node) if known.dtype in _FLOATS]
    producers = [graph.producer.get(name) for name in (floats[:1] if op in ort_fusions.CLAMPS else floats)]
    before = [node for node in producers if node is not None and graph.op(node) == "DequantizeLinear"]
    if not producers or len(before) < len(producers):
        return
    after = list[int]()
    clamp = graph.sole_consumer(graph.output(node)) if op in ort_fusions.CLAMPED else None
    if clamp is not None and graph.op(clamp) in ort_fusions.CLAMPS:
        after.append(clamp)
    quantizers = graph.consumers.get(graph.output(after[0] if after else node), [])
    if quantizers and all(graph.op(quantizer) == "QuantizeLinear" for quantizer in quantizers):
        graph.pattern[node] = ON_INTEGERS
        after += quantizers
    elif op == "MatMul":  # the result stays in floating point
        weight = graph.rows[before[-1]].step.inputs[0]
        graph.pattern[node] = PACKED if weight is not None and weight.dtype in _PACKED_TYPES else ON_INTEGERS
        after = []
    else:
        return
    for dequantizer in dict.fromkeys(before):
        if not graph.is_removed(dequantizer) and graph.sole_consumer(graph.output(dequantizer)) == node:
            graph.fuse(dequantizer, node)
    for follower in after:
        if not graph.is_removed(follower):
            graph.append(follower, node)


def _remove_absorbed_dequantizers(graph: ScopeGraph) -> None:
    """Remove DequantizeLinear nodes that only kernels on integers read."""
    for node in graph.kernels():
        consumers = graph.consumers.get(graph.output(node), [])
        absorbed = (graph.is_removed(item) or graph.pattern.get(item) in (ON_INTEGERS, PACKED) for item in consumers)
        if graph.op(node) == "DequantizeLinear" and consumers and all(absorbed):
            graph.remove(node)


# -- in floating point


def _fuse_following(graph: ScopeGraph, node: int) -> None:
    op = graph.op(node)
    if op in ort_fusions.CONVOLUTIONS or op == "ConvTranspose":
        _fuse_convolution(graph, node)
    elif op == "MatMul":
        _fuse_matmul(graph, node)
    elif op == "Gemm":
        _fuse_activation(graph, node, ort_fusions.AFTER_GEMM)
    elif op == "MatMulInteger":
        _fuse_dynamic_matmul(graph, node)
    elif op in ort_fusions.PACKED_PRODUCTS and (bias := _bias_after(graph, node)) is not None:
        graph.append(bias, node)


def _fuse_convolution(graph: ScopeGraph, node: int) -> None:
    """Padding before; normalization and constants by channel go into the weights; then a sum, then an activation."""
    before = graph.producer.get(graph.inputs(node)[0])
    if before is not None and graph.op(before) == "Pad" and graph.sole_consumer(graph.output(before)) == node:
        graph.fuse(before, node)
    after = graph.next_node(node)
    while after is not None and (graph.op(after) == "BatchNormalization" or _scales_channels(graph, after)):
        graph.append(after, node)
        after = graph.next_node(node)
    if graph.op(node) == "ConvTranspose":
        return
    if after is not None and is_blocked(graph, node) and graph.op(after) in ort_fusions.SUMS:
        shapes = [dims_of(known) for _, known in graph.typed_inputs(after)]
        if len(shapes) == 2 and shapes[0] == shapes[1]:
            graph.append(after, node)
    _fuse_activation(graph, node, ort_fusions.AFTER_CONVOLUTION)


def _fuse_activation(graph: ScopeGraph, node: int, activations: frozenset[str]) -> None:
    after = graph.next_node(node)
    if after is not None and graph.op(after) in activations:
        graph.append(after, node)


def _scales_channels(graph: ScopeGraph, node: int) -> bool:
    """Return whether a node adds or multiplies by a constant for each channel, or by a scalar."""
    if graph.op(node) not in ort_fusions.CHANNEL_WISE:
        return False
    inputs = graph.typed_inputs(node)
    if graph.op(node) in ort_fusions.SCALES and any(known.concrete == () for _, known in inputs):
        return graph.has_scalar_constant(node)
    out = dims_of(graph.rows[node].step.outputs[0]) or ()
    for name, known in inputs:
        dims = dims_of(known) or ()
        if graph.is_constant(node, name) and len(out) > 1 and len(out) - 1 <= len(dims) <= len(out):
            padded = (1,) * (len(out) - len(dims)) + dims
            return padded[1] == out[1] > 1 and count_elements(known) == out[1]
    return False


def _fuse_matmul(graph: ScopeGraph, node: int) -> None:
    """A scale after it; a bias only after the product of a matrix, or before a GELU."""
    after = graph.next_node(node)
    if after is not None and _scales_by_scalar(graph, after):
        graph.append(after, node)
        return
    bias = _bias_after(graph, node)
    if bias is None:
        return
    dims = dims_of(graph.rows[node].step.inputs[0])
    if dims is not None and len(dims) == 2:
        graph.append(bias, node)
        _fuse_activation(graph, node, ort_fusions.AFTER_GEMM)
        return
    consumers = {graph.kernel_of(consumer) for consumer in graph.consumers.get(graph.output(bias), [])}
    if len(consumers) == 1 and graph.pattern.get(consumer := consumers.pop()) == GELU:
        graph.fuse(bias, consumer)


def _bias_after(graph: ScopeGraph, node: int) -> int | None:
    after = graph.next_node(node)
    is_bias = after is not None and graph.op(after) == "Add" and graph.adds_constant(after, graph.output(node))
    return after if is_bias else None


def _fuse_dynamic_matmul(graph: ScopeGraph, node: int) -> None:
    """Fuse cast, scales and bias of a product on integers."""
    after = graph.next_node(node)
    while after is not None and graph.op(after) in ort_fusions.AFTER_DYNAMIC_PRODUCT:
        if graph.op(after) == "Add" and not graph.adds_constant(after, graph.output(node)):
            return
        for name, known in graph.typed_inputs(after):  # the product of the two scales
            scale = graph.producer.get(name)
            is_scale = len(dims_of(known) or ()) < 2 and graph.sole_consumer(name) == after
            if is_scale and scale is not None and not graph.is_removed(scale) and graph.op(scale) in ort_fusions.SCALES:
                graph.fuse(scale, node)
        graph.append(after, node)
        after = graph.next_node(node)


# -- layout: convolutions of images run on blocks of channels (NCHWc)


def is_blocked(graph: ScopeGraph, node: int) -> bool:
    """Return whether a convolution runs on blocks: images, enough channels, one group or whole blocks in each."""
    step = graph.rows[node].step
    if graph.op(node) not in ort_fusions.CONVOLUTIONS or graph.pattern.get(node) or len(step.inputs) <= 1:
        return False
    data, weight = step.inputs[0], dims_of(step.inputs[1])
    if data is None or data.dtype not in _FLOATS or weight is None or len(weight) != _IMAGE_RANK:
        return False
    if weight[0] < CHANNEL_BLOCK or graph.inputs(node)[1] in graph.producer:
        return False
    group = group_count(graph, node)
    if group == 1 or (weight[1] == 1 and weight[0] == group):
        return True
    return weight[1] % CHANNEL_BLOCK == 0 and (weight[0] // group) % CHANNEL_BLOCK == 0


def group_count(graph: ScopeGraph, node: int) -> int:
    group = graph.rows[node].step.node.attributes.get("group", 1)
    return group if isinstance(group, int) and group > 0 else 1


def reads_unblocked(graph: ScopeGraph, node: int) -> bool:
    """Return whether a blocked convolution reads its input unblocked: one of few channels."""
    weight = dims_of(graph.rows[node].step.inputs[1]) or (0, 0)
    return weight[1] < CHANNEL_BLOCK and group_count(graph, node) == 1


def find_reorders(graph: ScopeGraph) -> list[tuple[ValueInfo, int]]:
    """Return the values that are reordered into blocks or back, and how often; sets `blocked_values`."""
    into: dict[str, tuple[ValueInfo, int]] = {}
    back: dict[str, None] = {}
    for node in graph.kernels():
        data, row = _data_inputs(graph, node), graph.rows[node]
        if is_blocked(graph, node):
            first, known, is_unblocked = graph.inputs(node)[0], row.step.inputs[0], reads_unblocked(graph, node)
            if first in graph.blocked_values and is_unblocked:
                back[first] = None
            elif first not in graph.blocked_values and known is not None and not is_unblocked:
                into[first] = known, row.times
        elif not _keeps_blocks(graph, node) or not all(name in graph.blocked_values for name in data):
            back.update(dict.fromkeys(name for name in data if name in graph.blocked_values))
            continue
        graph.blocked_values.add(graph.output(node))
    back.update(dict.fromkeys(name for name in graph.outputs if name in graph.blocked_values))
    reorders = list(into.values())
    for name in back:
        known = graph.output_type(name)
        if known is not None:
            reorders.append((known, graph.rows[graph.producer[name]].times))
    return reorders


def _data_inputs(graph: ScopeGraph, kernel: int) -> list[str]:
    """Return the values that a kernel reads from other kernels; [""], which is never blocked, if it reads none."""
    nodes = graph.nodes(kernel)
    names = dict.fromkeys(name for node in nodes for name in graph.inputs(node) if name in graph.producer)
    return [name for name in names if graph.producer[name] not in nodes] or [""]


def _keeps_blocks(graph: ScopeGraph, node: int) -> bool:
    """Return whether a kernel runs on blocks if its inputs are blocked."""
    step, op = graph.rows[node].step, graph.op(node)
    if graph.pattern.get(node):
        return graph.pattern[node] in (SILU, GELU)
    shapes = [dims_of(known) for _, known in graph.typed_inputs(node)]
    if op in ort_fusions.BLOCKED_BINARY:
        return len(shapes) > 1 and len(set(shapes)) == 1
    if op == "Concat":
        return step.node.attributes.get("axis") == 1 and all(dims and dims[1] % CHANNEL_BLOCK == 0 for dims in shapes)
    if op in ort_fusions.RESIZES:
        return step.node.attributes.get("mode", "nearest") == "nearest"
    return op in ort_fusions.BLOCKED_UNARY or op in ort_fusions.BLOCKED_POOLS
