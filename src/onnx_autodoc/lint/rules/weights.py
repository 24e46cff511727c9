"""Rules on weights: their elements, copies, readers."""

import math
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Numbers
from onnx_autodoc.ir import Tensor, is_float
from onnx_autodoc.lint.context import LintContext
from onnx_autodoc.lint.rule import Confidence, Severity, Violation, list_names, rule
from onnx_autodoc.ops import Trait, WorkClass, has_trait, operator_of
from onnx_autodoc.text import format_bytes, format_count, format_percent, pluralize


class WeightStats(Struct, frozen=True):
    """A weight: the operator that uses it, how many parameters it has, and statistics of its stored elements."""

    op: str
    domain: str
    elements: int
    numbers: Numbers

    @property
    def name(self) -> str:
        return self.numbers.name

    @property
    def rank(self) -> int:
        """Dimensions larger than one."""
        return sum(size > 1 for size in self.numbers.dims)


def weight_stats(context: LintContext) -> Iterator[WeightStats]:
    """Yield the weights whose elements were read."""
    if context.weights is None:
        return
    parameters = context.facts.parameters
    for weight in parameters.held:
        reader = parameters.readers.get(weight.place)
        numbers = context.weights.find(weight.place[0], weight.name)
        if numbers is not None and numbers.unread is None and reader is not None:
            yield WeightStats(reader.op, reader.domain, weight.elements, numbers)


_MIN_CONSTANT_ELEMENTS: Final = 4096
_WARNING_ZERO_SHARE: Final = 0.1  # of the parameters: the file lost its weights, or most of it has no effect
_MAX_NAMES: Final = 3


@rule(
    Severity.WARNING,
    """A whole matrix of weights is one value.

Why it matters: a layer whose matrix is all zero gives its bias, whatever comes in: it costs time and memory and does
nothing, or the file lost its weights (a graph that was stripped for sharing, an export before the checkpoint was
loaded). One that is all another value only sums its inputs.

What to do: compare with the checkpoint (state_dict()[name].unique()); if it differs, load it before the export
(model.load_state_dict(…, strict=True) says what is missing) and export anew. If it is the same there, the layer was
never trained or was pruned: remove it from the model.

Only with --weights. Zeros in less than a tenth of the parameters are a note: some layers start as zeros, and stay so
until they are trained. Looked at are matrices and kernels of 4,096 numbers or more that multiply data. Vectors are not:
biases of 0 and scales of 1 are usual. Nor are kernels of one channel each that are all one value but not zero: they
average, which is what blurs and poolings do.
""",
    needs_weights=True,
)
def constant_weight(context: LintContext) -> Iterator[Violation]:
    zero: list[WeightStats] = []
    other: list[WeightStats] = []
    for weight in weight_stats(context):
        dims = weight.numbers.dims
        is_matrix = weight.rank > 1 and math.prod(dims) >= _MIN_CONSTANT_ELEMENTS
        if not is_matrix or weight.numbers.constant is not True or not has_trait(weight, Trait.MULTIPLIES):
            continue
        if weight.numbers.least == 0 and is_float(weight.numbers.dtype):  # the zero of integers is their zero point
            zero.append(weight)
        elif not (len(dims) > 2 and dims[1] == 1):  # a depthwise kernel averages
            other.append(weight)
    total = max(context.facts.parameters.total, 1)
    for weights, singular, plural in ((zero, "all zero", "all zero"), (other, "one value", "one value each")):
        if not weights:
            continue
        share = sum(weight.elements for weight in weights) / total
        matrices = pluralize(len(weights), f"matrix of weights is {singular}", f"matrices of weights are {plural}")
        names = [weight.name for weight in weights]
        message = f"{matrices}, {format_percent(share)} of the parameters: {list_names(names, _MAX_NAMES)}"
        if weights is zero:
            yield Violation(message, names, severity=None if share >= _WARNING_ZERO_SHARE else Severity.NOTE)
        else:
            yield Violation(message, names, severity=Severity.NOTE, confidence=Confidence.MEDIUM, about="not zero")


_MIN_COPY_BYTES: Final = 1 << 14
_MIN_COPIES_BYTES: Final = 1 << 20  # where copies are less than a tenth of the weights


@rule(
    Severity.NOTE,
    """The file holds the same weights more than once.

Why it matters: every copy takes its bytes on disk, in the download and, once loaded, in memory. Tied embeddings and
layers that share their weights come out of some exporters as copies, and so do the branches of a merged decoder.
Layers that should differ and do not were made as copies of one, and never trained.

What to do: run onnx_ir.passes.common.DeduplicateHashedInitializersPass over the model (pip install onnx-ir;
LiftConstantsToInitializersPass before it if they are in Constant nodes, LiftSubgraphInitializersToMainGraphPass if they
are in branches), or share the parameters before the export.

Only with --weights. Tensors are the same if type, dimensions and all their bytes are. Looked at are those of 16 KiB
or more; reported is what makes a tenth of the weights, or a hundredth and 1 MiB. Two names for one place in an external
file are no copies, and tensors that are all one value are not looked at.
""",
    needs_weights=True,
)
def duplicate_weight(context: LintContext) -> Iterator[Violation]:
    # Large tensors by content, then by location: of those at one location, only the first counts
    places: dict[tuple[object, ...], dict[object, Numbers]] = {}
    for at, tensor in enumerate(context.weights.tensors if context.weights is not None else ()):
        numbers, location = tensor.numbers, tensor.place
        in_function = bool(tensor.owner) and isinstance(tensor.owner[0], tuple)  # cannot read the graph's tensors
        is_large = (numbers.bytes or 0) >= _MIN_COPY_BYTES
        if is_large and numbers.sha256 and not numbers.constant and not in_function:
            where: object = (location.path, location.offset) if location is not None else at
            places.setdefault((numbers.sha256, numbers.dtype, numbers.dims), {}).setdefault(where, numbers)
    groups = [list(group.values()) for group in places.values() if len(group) > 1]
    saved = sum((len(group) - 1) * (group[0].bytes or 0) for group in groups)
    total = context.facts.parameters.nbytes
    if saved <= 0 or not (saved * 10 >= total or (saved >= _MIN_COPIES_BYTES and saved * 100 >= total)):
        return
    tensors = pluralize(sum(len(group) - 1 for group in groups), "tensor is a copy", "tensors are copies")
    originals = list_names([group[0].name for group in groups], _MAX_NAMES)
    evidence = [numbers.name for group in groups for numbers in group]
    yield Violation(f"{tensors} of {originals}, which costs {format_bytes(saved)}", evidence)


@rule(
    Severity.ERROR,
    """A weight holds what is no number: NaN or infinity.

Why it matters: NaN goes through every sum and product that it meets, so whatever this weight touches comes out as NaN,
in all runs or for some inputs. It is left behind by a training run that diverged, by a conversion to a type that is too
small for the value (float16 ends at 65,504), or by a damaged file.

What to do: load the checkpoint that was exported and look for it there (torch.isnan(w).any() over the state_dict); if
it is clean, export in float32 or bfloat16, or keep the nodes that read it in float32 (node_block_list of
onnxconverter_common.float16.convert_float_to_float16). If it is not, export an earlier checkpoint.

Only with --weights. Looked at are weights: constants that no one learned are not. Infinities are reported only where a
matrix or a scale of a normalization holds them: added to scores they are a mask, and usual. NaN beside a condition
(Where, a comparison) is not reported, it may be there on purpose.
""",
    needs_weights=True,
)
def non_finite_weight(context: LintContext) -> Iterator[Violation]:
    weights = [weight for weight in weight_stats(context) if _is_broken(weight)]
    if weights:
        names = [weight.name for weight in weights]
        nan = sum(weight.numbers.nan or 0 for weight in weights)
        infinite = sum(weight.numbers.infinite or 0 for weight in weights)
        counts = [f"{nan:,} NaN"] if nan else []
        if infinite:
            counts.append(pluralize(infinite, "infinity", "infinities"))
        hold = pluralize(len(weights), "weight holds", "weights hold")
        message = f"{hold} {' and '.join(counts)}: {list_names(names, _MAX_NAMES)}"
        propagates = any(has_trait(weight, Trait.MULTIPLIES, Trait.PROPAGATES_NAN) for weight in weights)
        yield Violation(message, names, severity=None if propagates else Severity.WARNING)


def _is_broken(weight: WeightStats) -> bool:
    if weight.numbers.nan:
        return not has_trait(weight, Trait.TESTS_NUMBERS)
    in_matrix = has_trait(weight, Trait.MULTIPLIES) and weight.rank > 1
    normalizes = has_trait(weight, Trait.PROPAGATES_NAN) and operator_of(weight).work is WorkClass.NORMALIZATION
    return bool(weight.numbers.infinite) and (in_matrix or normalizes)


@rule(
    Severity.NOTE,
    """Weights are listed as inputs too, so a caller may replace them.

Why it matters: what may be replaced is no constant. onnxruntime then folds nothing into it and fuses nothing with it,
converters fail or ask for these inputs, and people cannot tell the inputs from the weights.

What to do: python -m onnxruntime.tools.remove_initializer_from_input --input model.onnx --output new.onnx, or export
with keep_initializers_as_inputs=False of torch.onnx.export, which is the default.

Not said of files of IR version 3 and older, whose format wanted it so and whose weights onnxruntime holds fixed, nor of
single numbers and a few tensors among many: those are defaults that an author meant to be replaced.
""",
)
def overridable_weight(context: LintContext) -> Iterator[Violation]:
    weights = [tensor.name for tensor in context.model.graph.initializers if tensor.elements > 1]
    overridable = [name for name in weights if name in context.overridable]
    if 2 * len(overridable) > len(weights):
        are = pluralize(len(overridable), "weight is an input", "weights are inputs")
        message = f"{are} too, of {format_count(len(weights))}: what callers may replace, optimizers do not fold"
        yield Violation(message, overridable)


_NOTE_UNUSED_SHARE: Final = 0.01  # of the bytes of all initializers
_NOTE_UNUSED_BYTES: Final = 1 << 10


@rule(
    Severity.NOTE,
    """The file holds weights that no node reads.

Why it matters: they are shipped, loaded and held in memory for nothing. Often they are left over from a part that was
cut off, or from a conversion that wrote a second copy; then the file is larger than the model.

What to do: remove them: onnxruntime's offline optimization (SessionOptions.optimized_model_filepath) and onnxsim
write the model without them, and onnxscript.optimizer.remove_unused_nodes takes them out of a loaded one.

Reported are initializers, in the main graph and in inner ones, that are read by no node at any depth and are no
output. It is a note from 1 KiB and one percent of all bytes in initializers on. A file with a training part is not
judged, since that may read them.
""",
)
def unused_weight(context: LintContext) -> Iterator[Violation]:
    if context.model.training:
        return
    unused: list[Tensor] = []
    total = 0
    for graph in context.model.all_graphs:
        unread = set(graph.index.initializers - graph.index.outputs)
        for node in graph.nodes:
            unread.difference_update(node.all_inputs)
            if not unread:
                break
        unused += [tensor for tensor in graph.initializers if tensor.name in unread]
        total += sum(tensor.nbytes or 0 for tensor in graph.initializers)
    if unused:
        nbytes = sum(tensor.nbytes or 0 for tensor in unused)
        share = nbytes / total if total else 0.0
        is_sized = all(tensor.nbytes is not None for tensor in unused)  # tensors of strings are not
        size = f" with {format_bytes(nbytes)}" if is_sized else ""
        of_all = f" ({format_percent(share)} of all)" if nbytes and is_sized else ""
        are = "is" if len(unused) == 1 else "are"
        is_note = share >= _NOTE_UNUSED_SHARE and nbytes >= _NOTE_UNUSED_BYTES
        yield Violation(
            f"{pluralize(len(unused), 'initializer')}{size} {are} read by no node{of_all}",
            [tensor.name for tensor in unused],
            severity=Severity.NOTE if is_note else Severity.INFO,
        )
