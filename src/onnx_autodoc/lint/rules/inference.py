"""Rules on graphs that are not prepared for inference: training mode, randomness, dead and foldable nodes."""

from collections.abc import Collection, Iterator
from typing import Final

import numpy as np

from onnx_autodoc.ir import BITS, topological_order
from onnx_autodoc.lint.context import LintContext, NodeRef, ResolvedScope
from onnx_autodoc.lint.rule import Severity, Violation, count_operators, rule
from onnx_autodoc.ops import Trait, find, has_trait, nbytes
from onnx_autodoc.text import pluralize


@rule(
    Severity.NOTE,
    """Nodes compute what no output needs.

Why it matters: a runtime that does not remove them runs them for nothing, and a reader takes them for part of the
model. They are often the rest of an output that was cut off.

What to do: remove them with onnxscript.optimizer.remove_unused_nodes(model) or with onnxsim; onnxruntime's
optimization leaves them in. If the result was meant to be used, declare it as an output.

Constants that nobody reads are good to know, anything else is a note. Each graph is judged by its own outputs, so a
node in a branch or a loop's body counts by what the body hands out. What is inside a dead node is not listed again.
An operator that the tool does not know may do something beside giving results, so it and what it reads count as
needed.
""",
)
def dead_node(context: LintContext) -> Iterator[Violation]:
    nodes: list[NodeRef] = []
    dead_paths: set[str] = set()  # of dead nodes with subgraphs, and of graphs inside them
    for scope in context.scopes:
        if dead_paths and scope.path.rpartition("/")[0] in dead_paths:  # the path of the node that holds the graph
            dead_paths.add(scope.path)
            continue
        live = scope.live_nodes(context.opaque_operators)
        dead = [ref for ref in scope.refs if ref.step.at not in live]
        produced = [name for ref in scope.refs for name in ref.node.outputs if name] if dead else []
        if dead and len(produced) == len(set(produced)):  # else the file does not tell which value is read
            dead_paths.update(ref.path for ref in dead if ref.step.bodies)
            nodes += dead
    if nodes:
        message = f"{pluralize(len(nodes), 'node leads', 'nodes lead')} to no output: {count_operators(nodes)}"
        severity = Severity.INFO if all(ref.node.is_op("Constant") for ref in nodes) else Severity.NOTE
        yield Violation(message, nodes, severity=severity)


_NOTE_FOLDED_BYTES: Final = 64 << 10  # computed at every load
_MAX_GROWTH_BYTES: Final = 1 << 10  # of the file, by folding one node
_MAX_QUANTIZED_BITS: Final = 8
_UNKNOWN_BYTES: Final = 1 << 62  # more than any file has


@rule(
    Severity.NOTE,
    """Nodes are made of constants alone, and are computed again at every load.

Why it matters: a runtime works them out whenever a session starts, and an engine that does not fold runs them with
every inference. They also hide what they are: weights that are turned before use, sizes that are known.

What to do: fold them into the file once: export with constant folding (torch.onnx.export does so by default), run
onnxsim, or save what onnxruntime's basic optimization makes of the file (SessionOptions.optimized_model_filepath).

It is a note where more than 64 KiB are worked out; less is good to know. Not reported: constants, second names of
them, and those that are written as a size and one number; what is made of quantized weights, which are stored small
on purpose; what folding would make larger than it is now (a mask from its size, a table that is also read as it is);
and what hangs on initializers that a caller may override.
""",
)
def foldable_constant(context: LintContext) -> Iterator[Violation]:
    nodes = [ref for scope in context.scopes for ref in _foldable_nodes(scope, context.overridable)]
    if nodes:
        message = f"{pluralize(len(nodes), 'node')} of constants alone could be folded: {count_operators(nodes)}"
        severity = Severity.NOTE if sum(map(_output_bytes, nodes)) > _NOTE_FOLDED_BYTES else Severity.INFO
        yield Violation(message, nodes, severity=severity)


def _foldable_nodes(scope: ResolvedScope, overridable: frozenset[str]) -> Iterator[NodeRef]:
    """Yield the nodes that folding removes without making the file larger, in execution order."""
    unfoldable = set(overridable)
    freed: dict[str, int] = {}  # bytes of the constants that disappear when a value is folded
    constant = [ref for ref in scope.refs if scope.are_constant(ref.node.inputs) and not ref.node.is_op("Constant")]
    for at in topological_order([ref.node for ref in constant]):
        ref, names = constant[at], [name for name in constant[at].node.inputs if name]
        if not unfoldable.isdisjoint(names) or not _can_fold(ref):
            unfoldable.update(ref.node.outputs)
            continue
        size = sum(freed.get(name, _freed_bytes(scope, name)) for name in names)
        freed.update(dict.fromkeys(ref.node.outputs, size))
        if not has_trait(ref.node, Trait.FREE_TO_FOLD) and _output_bytes(ref) <= max(size, _MAX_GROWTH_BYTES):
            yield ref


def _can_fold(ref: NodeRef) -> bool:
    node = ref.node
    if node.has_subgraphs or not node.inputs or ref.step.gap or find(node.domain, node.op) is None:
        return False
    if has_trait(node, Trait.RANDOM, Trait.QUANTIZES, Trait.DEQUANTIZES):
        return False
    # Quantized weights have few bits per element; scalars of such types are zero points, and bool is for flags
    stored = [info.dtype or "" for info in ref.step.inputs if info is not None and info.shape != ()]
    return not any(0 < BITS.get(dtype, 0) <= _MAX_QUANTIZED_BITS for dtype in stored if dtype != "bool")


def _freed_bytes(scope: ResolvedScope, name: str) -> int:
    """The bytes of a constant that disappear when its reader is folded: 0 if others read it too."""
    tensor = scope.find_constant(name)
    is_only_reader = len(scope.consumers(name)) == 1 and name not in scope.escaping
    return (tensor.nbytes or 0) if tensor is not None and is_only_reader else 0


def _output_bytes(ref: NodeRef) -> int:
    sizes = [nbytes(known) for known in ref.step.outputs]
    return sum(size if isinstance(size, int) else _UNKNOWN_BYTES for size in sizes)


@rule(
    Severity.NOTE,
    """The model draws random numbers, so two runs give different answers.

Why it matters: outputs cannot be compared bit by bit with another runtime's or with yesterday's, caches of answers do
not hold, and some engines have no such operator at all.

What to do: if chance is part of the model (sampling, diffusion, a voice's variation), make the noise an input:
replace the operator's output by a graph input and draw the numbers outside, where a seed can be kept. If it is a rest
of training, export in evaluation mode.

A seed in the file does not settle it: the specification leaves the generator to the runtime, and a runtime may go on
where the run before ended. Operators whose results no output needs, and those in branches that are not taken, are not
reported.
""",
)
def random_operator(context: LintContext) -> Iterator[Violation]:
    random = context.nodes_with_trait(Trait.RANDOM) + context.nodes_of("Sampling", domain="com.microsoft")
    executed = [ref for ref in random if ref.scope.is_executed]
    live = {scope: scope.live_nodes(context.opaque_operators) for scope in {ref.scope for ref in executed}}
    nodes = [ref for ref in executed if ref.step.at in live[ref.scope]]
    if nodes:
        seeded = sum("seed" in ref.node.attributes for ref in nodes)
        draw = pluralize(len(nodes), "node draws random numbers", "nodes draw random numbers")
        seeds = f" ({seeded:,} with a seed)" if seeded else ""
        yield Violation(f"{draw}: {count_operators(nodes)}{seeds}", nodes)


_FIRST_OPSET_WITH_FLAG: Final = 14  # before it, the number of outputs told whether BatchNormalization trains
_OPTIMIZERS: Final = frozenset(
    (
        *("AdamOptimizer", "AdamWOptimizer", "InPlaceAccumulator", "InPlaceAccumulatorV2", "LambOptimizer"),
        *("SGDOptimizer", "SGDOptimizerV2"),
    )
)  # com.microsoft


@rule(
    Severity.WARNING,
    """The graph is in training mode, or trains.

Why it matters: a dropout in training mode throws numbers away at random, and a batch normalization in training mode
takes its statistics from the batch at hand, so that the answer to one input hangs on the others beside it. Engines
for inference refuse them or ignore the flag.

What to do: export for inference: model.eval() before torch.onnx.export, or training=False at the call of a Keras
model. Of onnxruntime's training artifacts, ship what export_model_for_inferencing writes. A batch normalization that
was trained without statistics (track_running_stats=False) is exported so even then: run it with whole batches.

A dropout whose mode is an input of the model is not reported. Gradients and optimizers are a note: such a file is
meant to train.
""",
)
def training_mode(context: LintContext) -> Iterator[Violation]:
    training = [
        ref
        for ref in context.all_nodes()
        if ref.node.domain == "ai.onnx.preview.training"
        or (ref.node.domain == "com.microsoft" and (ref.node.op.endswith("Grad") or ref.node.op in _OPTIMIZERS))
    ]
    if training:
        compute = pluralize(len(training), "node computes", "nodes compute")
        message = f"{compute} gradients or updates of weights: {count_operators(training)}"
        yield Violation(message, training, severity=Severity.NOTE)
    elif context.model.training:
        yield Violation("the file holds a graph for training beside the model", severity=Severity.NOTE)
    else:
        nodes = [ref for ref in context.nodes_of("BatchNormalization") if updates_statistics(ref)]
        nodes += [ref for ref in context.nodes_of("Dropout") if _drops(ref)]
        nodes = [ref for ref in nodes if ref.scope.is_executed]
        if nodes:
            are = pluralize(len(nodes), "node is", "nodes are")
            yield Violation(f"{are} in training mode: {count_operators(nodes)}", nodes)


def updates_statistics(ref: NodeRef) -> bool:
    """Whether a BatchNormalization computes new running statistics."""
    if (ref.step.version or 0) >= _FIRST_OPSET_WITH_FLAG:
        return ref.node.attributes.get("training_mode", 0) == 1
    return sum(map(bool, ref.node.outputs)) > 1


def _drops(ref: NodeRef) -> bool:
    """Whether constants set a Dropout to training mode with a ratio that is not zero."""
    if len(ref.node.inputs) < 3 or not ref.node.inputs[2] or not ref.has_constant(2):
        return False
    mode, ratio = ref.input(2), ref.elements(1)
    is_dropping = ratio is None or bool(np.any(ratio))
    return is_dropping and mode is not None and mode.value is not None and bool(np.all(mode.value == 1))


@rule(
    Severity.NOTE,
    """A batch normalization stands right after the convolution that could hold it.

Why it matters: with its statistics fixed, a batch normalization is a factor and an offset per channel, which fit into
the weights of the convolution or linear map before it. Left apart, every activation is read and written once more, and
quantizers that look at weights see the wrong ranges.

What to do: run onnxscript.rewriter.rewrite over the loaded model, or save what onnxruntime's basic optimization makes
of the file (SessionOptions.optimized_model_filepath; it leaves those behind a Gemm). An export in evaluation mode with
dynamo=True of torch.onnx.export folds them all, the older exporter those behind a Conv.

Not reported: normalizations in training mode or with numbers for each position (spatial=0), weights that a caller may
replace, and weights that are stored quantized, whose scales would have to follow.
""",
)
def unfused_batch_norm(context: LintContext) -> Iterator[Violation]:
    norms = [ref for ref in context.nodes_of("BatchNormalization") if _is_foldable_norm(ref)]
    if norms:
        which = "it" if len(norms) == 1 else "each"
        count = pluralize(len(norms), "batch normalization")
        yield Violation(f"{count} could be folded into the convolution or linear map before {which}", norms)


def _is_foldable_norm(ref: NodeRef) -> bool:
    """Whether only this node reads the convolution, and the parameters of both are constants."""
    source = ref.producer()
    if source is None or source.node.domain or not has_trait(source.node, Trait.FOLDS_BATCH_NORM):
        return False
    if updates_statistics(ref) or not ref.node.attributes.get("spatial", 1):
        return False
    parameters = [name for name in (*ref.node.inputs[1:], *source.node.inputs[1:]) if name]
    producers = [producer for name in parameters if (producer := ref.scope.producer(name)) is not None]
    if any(has_trait(producer.node, Trait.QUANTIZES, Trait.DEQUANTIZES) for producer in producers):
        return False
    return all(map(ref.scope.is_constant, parameters)) and source.only_consumer() is ref


_MIN_BLOCKS: Final = 2
_FUSIBLE_BLOCKS: Final = {"attention": "attention", "layer-norm": "layer normalization", "gelu": "GELU"}


@rule(
    Severity.INFO,
    """Attention, layer normalization or GELU is written out in small operators.

Why it matters: each small operator writes its answer to memory for the next one to read. Runtimes have one operator
for the whole, and use it where the file has it or where they recognize the pieces; attention they recognize only in
the forms that they know.

What to do: run onnxruntime's optimizer for transformers and see what it fused (python -m
onnxruntime.transformers.optimizer --input model.onnx --output fused.onnx --model_type bert, with the type that fits),
or export again at an opset that has the operator: 17 for LayerNormalization, 20 for Gelu, 23 for Attention. Layer
normalization and GELU onnxruntime fuses by itself when it loads a model, so there is nothing to do for them there.

Reported from two on, for models that are not quantized (fuse first, then quantize) and have no local functions.
""",
)
def unfused_block(context: LintContext) -> Iterator[Violation]:
    if context.model.functions or context.facts.precision.scheme is not None:
        return
    counts = {kind: count for kind in _FUSIBLE_BLOCKS if (count := _count_unfused(context, kind))}
    paths = list(_node_paths(context, counts)) if sum(counts.values()) >= _MIN_BLOCKS else []
    if paths:
        words = [pluralize(count, _FUSIBLE_BLOCKS[kind]) for kind, count in counts.items()]
        listed = " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]
        yield Violation(f"{listed} are written out in small operators", paths)


def _node_paths(context: LintContext, kinds: Collection[str]) -> Iterator[str]:
    """Yield the nodes of unfused blocks that are part of no larger block."""
    places = context.structure.places
    for row, (scope, step) in enumerate(context.facts.shapes.rows()):
        kind = places.get(row, "").rpartition("/")[2]
        if kind in kinds and not step.node.has_subgraphs and not _is_fused(step.node.domain, step.node.op, kind):
            name = step.node.label(step.at)
            yield f"{scope}/{name}" if scope else name


def _count_unfused(context: LintContext, kind: str) -> int:
    """Count the blocks of a kind that are not one operator."""
    blocks = sum(block.count for block in context.structure.blocks if block.kind == kind)
    return max(0, blocks - sum(count for domain, op, count in context.facts.operators if _is_fused(domain, op, kind)))


def _is_fused(domain: str, op: str, kind: str) -> bool:
    if kind == "attention":
        return "Attention" in op
    row = find(domain, op)
    return row is not None and row.fused_block == kind
