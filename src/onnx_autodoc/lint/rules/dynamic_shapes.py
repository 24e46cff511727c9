"""Rules on dynamic dimensions, data-dependent shapes and control flow."""

import re
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import Value
from onnx_autodoc.lint.context import LintContext, NodeRef
from onnx_autodoc.lint.rule import Severity, Violation, count_operators, list_names, rule
from onnx_autodoc.ops import Trait, find, operator_of
from onnx_autodoc.shapes import dynamic_axes, required_inputs
from onnx_autodoc.text import display_name, pluralize

_FIX_SIZES: Final = "Fix the dynamic dimensions (python -m onnxruntime.tools.make_dynamic_shape_fixed), then fold"
_FOLD_CONDITIONS: Final = (
    " the conditions with onnxsim, or save the file that onnxruntime's basic optimization produces "
    "(SessionOptions.optimized_model_filepath)."
)


@rule(
    Severity.NOTE,
    """The graph contains branches or loops.

Why it matters: engines that compile ahead of time (TensorRT, OpenVINO, CoreML, QNN) support control flow partly or not
at all. The rest runs on the host, and each iteration or decision waits for data from the device.

What to do: resolve control flow in the exporting code where it does not depend on run-time data (torch.onnx.export
unrolls a plain Python branch or a loop of fixed length when it traces), use an operator that contains the recurrence
(LSTM, GRU), or split the model and keep the loop in the calling program.

A branch whose condition depends only on sizes and constants is reported separately if the sizes on the card determine
it: it disappears once the sizes are fixed. Nodes inside branches that are not taken are not listed.
""",
)
def control_flow(context: LintContext) -> Iterator[Violation]:
    nodes = [ref for ref in context.nodes_with_trait(Trait.CONTROL_FLOW) if ref.scope.is_executed]
    foldable = [ref for ref in nodes if _has_foldable_condition(ref)]
    remaining = [ref for ref in nodes if not _has_foldable_condition(ref)]
    if remaining:
        nodes_text = pluralize(len(remaining), "control-flow node")
        yield Violation(f"the graph contains {nodes_text}: {count_operators(remaining)}", remaining)
    if foldable:
        have = pluralize(len(foldable), "If node has a condition", "If nodes have conditions")
        recommendation = (_FIX_SIZES if dynamic_axes(context.model) else "Fold") + _FOLD_CONDITIONS
        depend = "depends" if len(foldable) == 1 else "depend"
        message = f"{have} that {depend} only on sizes and constants"
        yield Violation(message, foldable, recommendation, about="conditions of sizes")


def _has_foldable_condition(ref: NodeRef) -> bool:
    """Whether sizes and constants determine the condition of an If."""
    is_known = ref.node.is_op("If") and ref.elements(0) is not None
    return is_known and ref.scope.is_data_independent(ref.node.inputs[0])


@rule(
    Severity.NOTE,
    """The shape of a result depends on the values of the data.

Why it matters: memory cannot be planned before the run. Engines that compile ahead of time reject such a node or end
the compiled part there; on a GPU, the host waits for the size before it can continue.

What to do: give the result a fixed size if the task allows it: TopK with a constant k and a mask instead of NonZero or
Compress, a Gather with a padded list of indices, or box selection outside the model (export detectors without NMS).
Otherwise split the model at these nodes.

Sizes computed from the sizes of inputs are not data-dependent: shape arithmetic and a constant k are not reported. Only
the nodes where an unknown size originates are listed, not those that it propagates to.
""",
)
def data_dependent_shape(context: LintContext) -> Iterator[Violation]:
    # A value carried through a loop may be a count as well as data, so operators with size inputs do not count there
    sized = context.outside_functions(context.nodes_where(lambda row: row.size_inputs))
    outside_loops = [
        ref for ref in sized if not any(scope.outer and scope.graph.inputs for scope in ref.scope.outward())
    ]
    candidates = [*context.nodes_with_trait(Trait.DATA_SIZED), *outside_loops]
    nodes = [ref for ref in candidates if ref.scope.is_executed and _has_data_dependent_size(ref)]
    if nodes:
        have = pluralize(len(nodes), "node has a data-dependent shape", "nodes have data-dependent shapes")
        yield Violation(f"{have}: {count_operators(nodes)}", nodes)


def _has_data_dependent_size(ref: NodeRef) -> bool:
    """Whether an output size is unknown although the operator has a shape rule, and depends on unknown elements."""
    target = ref.input(1)
    is_flat = ref.node.is_op("Reshape") and target is not None and target.concrete == (1,)  # no size to choose
    if is_flat or find(ref.node.domain, ref.node.op) is None:
        return False
    if not any(output.kind == "tensor" and output.concrete is None for output in ref.step.outputs):
        return False
    slots = operator_of(ref.node).size_inputs or range(len(ref.node.inputs))
    unknown = [at for at in slots if ref.input(at) is not None and ref.elements(at) is None]
    return any(not ref.scope.is_data_independent(ref.node.inputs[at]) for at in unknown)


_MAX_DIMENSIONS: Final = 6


@rule(
    Severity.NOTE,
    """An input has a dynamic dimension.

Why it matters: engines that compile ahead of time (TensorRT, OpenVINO on an NPU, QNN, CoreML) require a number or a
range for it, and plan memory for the largest size.

What to do: fix the size in the file if it never changes (onnxruntime.tools.make_dynamic_shape_fixed); otherwise give
the engine a range, as an optimization profile or an enumerated shape.

A dimension declared as 0 is not reported: some exporters write 0 for a dynamic dimension, but onnxruntime takes it
literally and accepts only 0.
""",
)
def dynamic_input(context: LintContext) -> Iterator[Violation]:
    axes = [
        axis
        for axis in dynamic_axes(context.model)
        if axis.value.type is None or axis.value.type.dims is None or axis.value.type.dims[axis.axis] != 0
    ]
    keys = list(dict.fromkeys(axis.key for axis in axes))
    if keys:
        dimensions = pluralize(len(keys), "dynamic dimension")
        message = f"the inputs have {dimensions}: {list_names(keys, _MAX_DIMENSIONS)}"
        yield Violation(message, dict.fromkeys(axis.value.name for axis in axes))


_MAX_INPUTS: Final = 3
# Roles of inputs with a batch axis, and the rank from which on the first axis surely is the batch
_BATCHED_RANKS: Final = {
    **dict.fromkeys(("video", "volume"), 5),
    **dict.fromkeys(("image NCHW", "image NHWC"), 4),
    **dict.fromkeys(("audio", "spectrogram", "token embeddings"), 3),
    "tokens": 2,
}
_AUXILIARY_ROLES: Final = frozenset(("mask", "segment", "positions"))  # have the batch of the data that they belong to


@rule(
    Severity.INFO,
    """The batch size is fixed at 1.

Why it matters: accelerators reach good utilization with many examples at once. With a fixed batch of 1, each example is
a separate run, and a server cannot batch requests.

What to do: if throughput matters, export with a dynamic first dimension (dynamic_axes={"input": {0: "batch"}} or
dynamic_shapes of torch.onnx.export, dynamic=True of Ultralytics). For one example at a time, no change is needed.

Reported only if the first dimension is certainly a batch (of images, token sequences or spectrograms, for example) and
every output has one result per example. Models that carry a state or a cache from run to run are not reported.
""",
)
def fixed_batch(context: LintContext) -> Iterator[Violation]:
    inputs, roles = required_inputs(context.model), context.structure.roles
    data = [value for value in inputs if _is_single_example(value, roles.get(value.name, ""))]
    if not data or context.facts.cache is not None:
        return
    others = [value for value in inputs if value not in data]
    if any(roles.get(value.name) not in _AUXILIARY_ROLES or _dims(value)[:1] != (1,) for value in others):
        return
    outputs = [context.facts.shapes.values.get(value.name) for value in context.model.graph.outputs]
    sizes = [info.shape[0] if info is not None and info.shape else None for info in outputs]
    if all(type(size) is int and size == 1 for size in sizes):
        listed = list_names([value.name for value in data], _MAX_INPUTS)
        which = "the input" if len(inputs) == 1 else f"all {pluralize(len(inputs), 'input')}"
        yield Violation(f"the batch size of {which} is fixed at 1: {listed}", [value.name for value in inputs])


def _dims(value: Value) -> tuple[int | str | None, ...]:
    return (value.type.dims if value.type else None) or ()


def _is_single_example(value: Value, role: str) -> bool:
    """Whether the batch is 1. A single token is a decoding step of a model with a state, and does not count."""
    dims = _dims(value)
    return len(dims) >= _BATCHED_RANKS.get(role, 99) and dims[0] == 1 and not (role == "tokens" and dims[1] == 1)


_MIN_ITERATIONS: Final = 1_000


@rule(
    Severity.NOTE,
    """A loop runs 1,000 iterations or more.

Why it matters: iterations run one after the other, and each launches every node of the body again. With small tensors,
this takes far longer than the arithmetic, especially on a GPU, and no engine can run two iterations at once.

What to do: replace a decomposed recurrence by the operator that contains it (LSTM, GRU, RNN, CumSum), compute all
positions at once if iterations do not depend on each other, or split the input into shorter pieces.

Reported only if the sizes determine the number of iterations.
""",
)
def long_loop(context: LintContext) -> Iterator[Violation]:
    executed = [ref for ref in context.nodes_with_trait(Trait.LOOP) if ref.scope.is_executed]
    counts = {
        ref: max((body.times for body in ref.step.bodies if isinstance(body.times, int)), default=0) for ref in executed
    }
    loops = [ref for ref, count in counts.items() if count >= _MIN_ITERATIONS]
    if loops:
        longest = max(counts.values())
        one = f"a loop runs {longest:,} iterations at these sizes"
        many = (
            f"{pluralize(len(loops), 'loop')} run {_MIN_ITERATIONS:,} iterations or more at these sizes, "
            f"the longest {longest:,}"
        )
        yield Violation(one if len(loops) == 1 else many, loops)


_PLACEHOLDER: Final = re.compile(r"\s*(\?|none|-\d+|unk_*\d*|unknown\d*|dynamicdimension\.\d+)?\s*", re.I)


@rule(
    Severity.INFO,
    """A dynamic dimension of an input or output has no name.

Why it matters: a name identifies a size and shows which sizes are equal. Without one, callers do not know which size to
pass, runtimes can neither check that two inputs agree nor plan memory for both at once, and a size can only be fixed
input by input.

What to do: name the dimension in the export (dynamic_axes={"input": {0: "batch"}} or dynamic_shapes of
torch.onnx.export), or in the file: onnx.tools.update_model_dims.update_inputs_outputs_dims(model, {"input": ["batch",
3, "height", "width"]}, {"output": ["batch", 1000]}).

"?", "unk__12" and negative numbers do not count as names: exporters write them as placeholders.
""",
)
def unnamed_dimension(context: LintContext) -> Iterator[Violation]:
    dimensions = [
        (value.name, axis)
        for value in (*required_inputs(context.model), *context.model.graph.outputs)
        for axis, dim in enumerate(_dims(value))
        if (dim < 0 if isinstance(dim, int) else dim is None or _PLACEHOLDER.fullmatch(dim))
    ]
    if dimensions:
        have = pluralize(len(dimensions), "dynamic dimension has", "dynamic dimensions have")
        axes = [f"{display_name(name, 40)}.{axis}" for name, axis in dimensions]
        message = f"{have} no name: {list_names(axes, _MAX_DIMENSIONS, show=str)}"
        yield Violation(message, dict.fromkeys(name for name, _ in dimensions))
