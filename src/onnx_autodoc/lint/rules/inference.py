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
    """Nodes contribute to no output.

Why it matters: a runtime that does not remove them runs them for nothing, and readers mistake them for part of the
model. They are often left over from an output that was removed.

What to do: remove the nodes with onnxscript.optimizer.remove_unused_nodes(model) or onnxsim; onnxruntime's optimization
does not remove them. If the result is needed, declare it as an output.

The severity is info if all unused nodes are Constant nodes, otherwise note. Each graph is checked against its own
outputs: a node in a branch or loop body counts as used if an output of the body depends on it. Nodes inside a dead node
are not listed. Operators that this tool does not know may have side effects, so they and their inputs count as used.
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
        if dead and len(produced) == len(set(produced)):  # else it is ambiguous which value is read
            dead_paths.update(ref.path for ref in dead if ref.step.bodies)
            nodes += dead
    if nodes:
        message = (
            f"{pluralize(len(nodes), 'node contributes', 'nodes contribute')} to no output: {count_operators(nodes)}"
        )
        severity = Severity.INFO if all(ref.node.is_op("Constant") for ref in nodes) else Severity.NOTE
        yield Violation(message, nodes, severity=severity)


_NOTE_FOLDED_BYTES: Final = 64 << 10  # computed at every load
_MAX_GROWTH_BYTES: Final = 1 << 10  # of the file, by folding one node
_MAX_QUANTIZED_BITS: Final = 8
_UNKNOWN_BYTES: Final = 1 << 62  # more than any file has


@rule(
    Severity.NOTE,
    """Nodes depend only on constants and are computed again at every load.

Why it matters: a runtime computes them whenever a session starts, and an engine without constant folding computes them
in every inference. They also hide information: weights that are transposed before use, sizes that are known.

What to do: fold these nodes in the file once: export with constant folding (the default of torch.onnx.export), run
onnxsim, or save the file that onnxruntime's basic optimization produces (SessionOptions.optimized_model_filepath).

The severity is note if the folded results exceed 64 KiB, otherwise info. Not reported: constants, aliases of constants,
and constants given as a shape and one value; results of quantized weights, which are stored small on purpose; nodes
whose folding would enlarge the file (a mask computed from its size, a table that is also read unfolded); and nodes that
depend on initializers that a caller may override.
""",
)
def foldable_constant(context: LintContext) -> Iterator[Violation]:
    nodes = [ref for scope in context.scopes for ref in _foldable_nodes(scope, context.overridable)]
    if nodes:
        depend = pluralize(len(nodes), "node depends", "nodes depend")
        message = f"{depend} only on constants and could be folded: {count_operators(nodes)}"
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
    """The model generates random numbers, so two runs give different results.

Why it matters: outputs cannot be compared bit by bit with those of another runtime or an earlier run, results cannot be
cached, and some engines do not support such operators.

What to do: if randomness is part of the model (sampling, diffusion, variation of a voice), make the noise an input:
replace the operator's output by a graph input and generate the numbers outside, where the seed can be controlled. If it
is left over from training, export in evaluation mode.

A seed in the file does not make runs reproducible: the specification leaves the generator to the runtime, and a runtime
may continue where the previous run ended. Operators whose results no output needs, and those in branches that are not
taken, are not reported.
""",
)
def random_operator(context: LintContext) -> Iterator[Violation]:
    random = context.nodes_with_trait(Trait.RANDOM) + context.nodes_of("Sampling", domain="com.microsoft")
    executed = [ref for ref in random if ref.scope.is_executed]
    live = {scope: scope.live_nodes(context.opaque_operators) for scope in {ref.scope for ref in executed}}
    nodes = [ref for ref in executed if ref.step.at in live[ref.scope]]
    if nodes:
        seeded = sum("seed" in ref.node.attributes for ref in nodes)
        generate = pluralize(len(nodes), "node generates random numbers", "nodes generate random numbers")
        seeds = f" ({seeded:,} with a seed)" if seeded else ""
        yield Violation(f"{generate}: {count_operators(nodes)}{seeds}", nodes)


_FIRST_OPSET_WITH_FLAG: Final = 14  # before it, the number of outputs determined whether BatchNormalization trains
_OPTIMIZERS: Final = frozenset(
    (
        *("AdamOptimizer", "AdamWOptimizer", "InPlaceAccumulator", "InPlaceAccumulatorV2", "LambOptimizer"),
        *("SGDOptimizer", "SGDOptimizerV2"),
    )
)  # com.microsoft


@rule(
    Severity.WARNING,
    """The graph is in training mode, or performs training.

Why it matters: in training mode, Dropout discards values at random, and BatchNormalization computes its statistics from
the current batch, so the result for one input depends on the other inputs of the batch. Inference engines reject such
nodes or ignore the flag.

What to do: export for inference: model.eval() before torch.onnx.export, or training=False in the call of a Keras model.
Of onnxruntime's training artifacts, ship the file that export_model_for_inferencing writes. A batch normalization
trained without running statistics (track_running_stats=False) is exported in training mode even then: run it with
complete batches.

A Dropout whose mode is an input of the model is not reported. The severity is note for gradients and optimizers: such a
file is meant for training.
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
        message = f"{compute} gradients or weight updates: {count_operators(training)}"
        yield Violation(message, training, severity=Severity.NOTE)
    elif context.model.training:
        yield Violation("the file contains a training graph in addition to the model", severity=Severity.NOTE)
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
    """A BatchNormalization could be folded into the layer before it.

Why it matters: with fixed statistics, batch normalization is a scale and an offset per channel, which can be folded
into the weights of the preceding convolution or linear layer. Otherwise every activation is read and written once more,
and quantizers that inspect weights see the wrong ranges.

What to do: run onnxscript.rewriter.rewrite on the loaded model, or save the file that onnxruntime's basic optimization
produces (SessionOptions.optimized_model_filepath; it does not fold those after a Gemm). In evaluation mode,
torch.onnx.export with dynamo=True folds all of them, the older exporter those after a Conv.

Not reported: normalizations in training mode or with parameters per position (spatial=0), weights that a caller may
override, and quantized weights, whose scales would have to change as well.
""",
)
def unfused_batch_norm(context: LintContext) -> Iterator[Violation]:
    norms = [ref for ref in context.nodes_of("BatchNormalization") if _is_foldable_norm(ref)]
    if norms:
        count = pluralize(len(norms), "BatchNormalization node")
        yield Violation(f"{count} could be folded into the preceding convolution or linear layer", norms)


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
_FUSIBLE_BLOCKS: Final = {"attention": "attention block", "layer-norm": "layer normalization", "gelu": "GELU"}


@rule(
    Severity.INFO,
    """Attention, layer normalization or GELU is decomposed into small operators.

Why it matters: each small operator writes its result to memory for the next one to read. Runtimes have one operator for
the whole block, and use it if the file contains it or if they recognize the pattern; they recognize attention only in
the forms that they know.

What to do: run onnxruntime's optimizer for transformers and check what it fused (python -m
onnxruntime.transformers.optimizer --input model.onnx --output fused.onnx --model_type bert, with the matching type), or
export again at an opset that has the operator: 17 for LayerNormalization, 20 for Gelu, 23 for Attention. onnxruntime
fuses layer normalization and GELU when it loads a model, so there no change is needed for these.

Reported from two blocks, for models that are not quantized (fuse first, then quantize) and have no local functions.
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
        yield Violation(f"{listed} are decomposed into small operators", paths)


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
