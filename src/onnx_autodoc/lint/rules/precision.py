"""Rules on element types of data."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import dtype_name, is_float
from onnx_autodoc.lint.context import LintContext, NodeRef
from onnx_autodoc.lint.rule import Severity, Violation, list_names, rule
from onnx_autodoc.ops import Trait, has_trait, operator_of
from onnx_autodoc.shapes import required_inputs
from onnx_autodoc.text import format_bytes, format_percent, pluralize

_WARNING_SHARE: Final = 0.1  # of the arithmetic
_WARNING_FLOPS: Final = 1_000_000
_MIN_STORED_SHARE: Final = 0.01  # of the parameters
_MIN_STORED_BYTES: Final = 1 << 20
_CLASSIC: Final = "ai.onnx.ml"


@rule(
    Severity.NOTE,
    """Data or weights are in float64.

Why it matters: consumer and inference GPUs compute float64 at 1/32 or 1/64 of the speed of float32, NPUs and most
mobile engines do not support it, TensorRT casts it to a smaller type, and every value takes twice the memory. Few
models need the precision.

What to do: convert the model to float32 before the export: model.float() in PyTorch, dtype=np.float32 for constants
from NumPy (whose default is float64), FloatTensorType instead of DoubleTensorType as initial type in skl2onnx. Keep
float64 only if a comparison of results shows that it is needed.

The severity is warning if float64 has at least a tenth of the arithmetic and at least one million operations, otherwise
note; the body of a loop counts once for this. Not reported: arithmetic on sizes, constants that are computed from
constants, casts and data movement, tree ensembles and other classic models, whose thresholds may require float64.
""",
)
def float64(context: LintContext) -> Iterator[Violation]:
    # By the first input, or by the first output, as random generators have no input
    costs: dict[NodeRef, tuple[int, int]] = {}
    for ref in context.all_nodes():
        if "float64" not in ref.dtypes or ref.node.domain == _CLASSIC or not ref.scope.is_executed:
            continue
        if not ref.step.bodies and not ref.is_data_independent and (cost := _double_cost(context, ref))[1]:
            costs[ref] = cost
    if costs:
        products = sum(macs > 0 for macs, _ in costs.values())
        flops = sum(flops for _, flops in costs.values())
        is_expensive = flops >= max(_WARNING_FLOPS, _WARNING_SHARE * context.facts.costs.total.flops)
        which = "a matrix product or convolution" if products == 1 else f"{products:,} matrix products or convolutions"
        among = f", including {which}" if 0 < products < len(costs) else f": {which}" if products else ""
        message = f"{pluralize(len(costs), 'node computes', 'nodes compute')} in float64{among}"
        yield Violation(message, costs, severity=Severity.WARNING if is_expensive else Severity.NOTE)
        return
    # Weights that are stored in float64 although nothing is computed in it
    parameters = context.facts.parameters
    weights = [weight for weight in parameters.held if weight.dtype == "float64" and weight.name]
    weights = [weight for weight in weights if parameters.readers[weight.place].domain != _CLASSIC]
    elements = sum(weight.elements for weight in weights)
    if elements * 8 >= _MIN_STORED_BYTES and elements >= _MIN_STORED_SHARE * parameters.total:
        share = format_percent(elements / parameters.total)
        message = f"weights of {format_bytes(elements * 8)} are stored in float64, {share} of the parameters"
        yield Violation(message, [weight.name for weight in weights])


def _double_cost(context: LintContext, ref: NodeRef) -> tuple[int, int]:
    """The MACs and FLOPs of a node, as far as they are known."""
    cost = context.facts.costs.price(ref.step, bookkeeping=False).cost
    macs = cost.macs if isinstance(cost.macs, int) else 0
    return macs, 2 * macs + (cost.other if isinstance(cost.other, int) else 0)


_MAX_INPUTS: Final = 4
_MAX_VISITED_VALUES: Final = 100
_DATA_ROLES: Final = frozenset(("tokens", "mask", "segment", "positions", "category", "features"))


@rule(
    Severity.INFO,
    """Data of the model are 64-bit integers.

Why it matters: most accelerators have no 64-bit integers. TensorRT before 10, CoreML, QNN and WebGPU convert them to 32
bits at the interface, leave the nodes that read them to the CPU, or reject the model.

What to do: for an engine without 64-bit integers, export with 32-bit example inputs (input_ids.to(torch.int32):
embeddings and masks accept them), or insert a Cast to int32 after ArgMax, TopK and NonZero. On a CPU or with CUDA, this
gains nothing.

Covers inputs whose values are data, and positions that nodes find in data. Shape arithmetic, which runs on the CPU
everywhere, and models of ai.onnx.ml, which run there entirely, are not reported.
""",
)
def int64_data(context: LintContext) -> Iterator[Violation]:
    if any(domain == _CLASSIC for domain, _, _ in context.facts.operators):
        return  # classic models run on a CPU, whatever their types are
    inputs = [
        value.name
        for value in required_inputs(context.model)
        if value.type is not None and value.type.dtype == "int64" and value.type.dims
        if context.structure.roles.get(value.name) in _DATA_ROLES
    ]
    positional = context.nodes_where(lambda row: row.position_output is not None)
    nodes = [ref for ref in positional if _outputs_int64_positions(ref)]
    parts = []
    if inputs:
        are = pluralize(len(inputs), "input is", "inputs are")
        parts.append(f"{are} int64: {list_names(inputs, _MAX_INPUTS)}")
    if nodes:
        parts.append(f"{pluralize(len(nodes), 'node outputs', 'nodes output')} int64 positions of data")
    if parts:
        yield Violation("; ".join(parts), [*inputs, *nodes])


def _outputs_int64_positions(ref: NodeRef) -> bool:
    at = operator_of(ref.node).position_output
    name = ref.node.outputs[at] if at is not None and at < len(ref.node.outputs) else ""
    if not name or not ref.scope.is_executed:
        return False
    readers = (reader.node for reader in ref.scope.consumers(name))
    targets = (reader.attributes.get("to") if reader.is_op("Cast") else None for reader in readers)
    narrows = [isinstance(target, int) and dtype_name(target) != "int64" for target in targets]
    return (name in ref.scope.escaping or not all(narrows)) and _depends_on_data(ref)


def _depends_on_data(ref: NodeRef) -> bool:
    """Whether the node depends on the elements of a graph input, not only on its size.

    The search is bounded: a node with many values before it counts as one that does.
    """
    pending, seen = [ref.node.inputs[0]], {ref.node.inputs[0]}
    while pending and len(seen) < _MAX_VISITED_VALUES:
        name = pending.pop(0)
        producer = ref.scope.producer(name)
        if producer is None and ref.scope.find_constant(name) is None:
            return True
        if producer is not None and not has_trait(producer.node, Trait.SHAPE_QUERY):
            pending += [source for source in producer.node.inputs if source and source not in seen]
            seen.update(producer.node.inputs)
    return len(seen) >= _MAX_VISITED_VALUES


_HALF: Final = ("float16", "bfloat16")
_WIDE: Final = ("float32", "float64")
_ROUNDING_RECOMMENDATION: Final = (
    "Remove both casts: nothing is computed between them. Results change by the rounding that is saved; compare them "
    "once."
)


@rule(
    Severity.INFO,
    """Data are cast from half precision to single precision and back.

Why it matters: each cast reads and writes the whole tensor only to change its type, and the nodes between run with
twice the bytes and, on many devices, at half the speed. Islands around normalizations and softmax are usual, and keep
their sums exact; others come from a converter that did not support an operator.

What to do: check the nodes between the casts. Convert those that do not need single precision: remove them from
op_block_list of onnxconverter_common's or onnxruntime.transformers' convert_float_to_float16, or export from a model
that is entirely in half precision. A fused normalization or attention operator computes its sums in single precision
without the casts.

Casts of constants, of inputs and to outputs do not count. A seam counts where data return: from a cast to single
precision, through floating-point values, to a cast to the original half precision. Data that are cast to half precision
and directly back are reported separately: these casts only round.
""",
)
def precision_seam(context: LintContext) -> Iterator[Violation]:
    casts = list(context.outside_functions(context.nodes_of("Cast")))
    interface = context.model.graph.index.inputs | context.model.graph.index.outputs
    up = []
    for ref in casts:
        # Callers may need another precision at the interface of the model
        is_inner = ref.scope.path or interface.isdisjoint((*ref.node.inputs, *ref.node.outputs))
        if ref.dtypes[0] in _HALF and ref.dtypes[1] == "float32" and is_inner and not ref.has_constant(0):
            up.append(ref)
    left = {ref.dtypes[0] for ref in up}
    back, between = _trace_islands(up)
    back = [ref for ref in back if ref.dtypes[1] in left]
    if back:
        half = " and ".join(sorted({str(ref.dtypes[1]) for ref in back}))
        nodes = f", around {pluralize(between, 'node')}" if between else ""
        leave = pluralize(len(up), f"cast converts {half} to float32", f"casts convert {half} to float32")
        message = f"{leave}, and {len(back):,} {'converts' if len(back) == 1 else 'convert'} back{nodes}"
        yield Violation(message, [*up, *back])
    rounding = [ref for ref in casts if _is_rounding(ref)]
    if rounding:
        pairs = pluralize(len(rounding), "pair of casts only rounds", "pairs of casts only round")
        half = " and ".join(sorted({str(ref.dtypes[0]) for ref in rounding}))
        message = f"{pairs} data to {half}, with no node in between"
        yield Violation(message, rounding, _ROUNDING_RECOMMENDATION, about="rounding")


def _is_rounding(ref: NodeRef) -> bool:
    """Whether a cast out of half precision reads, alone, a cast of the same type into it."""
    first = ref.producer()
    if first is None or not first.node.is_op("Cast") or first.only_consumer() is not ref:
        return False
    before, after = first.dtypes[0], ref.dtypes[1]
    return ref.dtypes[0] in _HALF and before in _WIDE and before == after and not first.has_constant(0)


def _trace_islands(up: list[NodeRef]) -> tuple[list[NodeRef], int]:
    """Return the casts back to half precision that data reach from `up`, and the number of nodes between."""
    pending, seen, back = list(up), set[NodeRef](), list[NodeRef]()
    between = 0
    while pending:
        ref = pending.pop()
        for reader in [reader for name in ref.node.outputs if name for reader in ref.scope.consumers(name)]:
            if reader in seen:
                continue
            seen.add(reader)
            after = reader.dtypes[1]
            if reader.node.is_op("Cast") and after in _HALF:
                back.append(reader)
            elif is_float(after) and after not in _HALF:
                between += 1
                pending.append(reader)
    return sorted(back, key=lambda ref: (ref.scope.path, ref.step.at)), between
