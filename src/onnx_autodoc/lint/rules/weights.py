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
    """All elements of a weight matrix have the same value.

Why it matters: a layer whose matrix is all zero outputs its bias for any input: it costs time and memory without
effect, or the file lost its weights (a graph stripped for sharing, an export before the checkpoint was loaded). A
matrix of any other single value only sums its inputs.

What to do: compare with the checkpoint (state_dict()[name].unique()). If it differs, load it before the export
(model.load_state_dict(…, strict=True) reports missing entries) and export again. If it is the same, the layer was never
trained or was pruned: remove it from the model.

Only with --weights. The severity is note if zeros are less than a tenth of the parameters: some layers start as zeros,
and stay so until they are trained. Checked are matrices and kernels of at least 4,096 elements that multiply data.
Vectors are not checked: biases of 0 and scales of 1 are usual. Kernels of one channel with a single nonzero value are
not reported either: they average, as blurs and poolings do.
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
    for weights, singular, plural in (
        (zero, "is all zero", "are all zero"),
        (other, "has one value", "have one value each"),
    ):
        if not weights:
            continue
        share = sum(weight.elements for weight in weights) / total
        matrices = pluralize(len(weights), f"weight matrix {singular}", f"weight matrices {plural}")
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
    """The file stores the same weights more than once.

Why it matters: every copy takes space on disk, in the download and in memory. Some exporters write tied embeddings and
layers that share weights as copies, as well as the branches of a merged decoder. Identical layers that should differ
were created as copies and never trained.

What to do: run onnx_ir.passes.common.DeduplicateHashedInitializersPass on the model (pip install onnx-ir; before it,
LiftConstantsToInitializersPass if they are in Constant nodes, LiftSubgraphInitializersToMainGraphPass if they are in
branches), or share the parameters before the export.

Only with --weights. Tensors are the same if their type, dimensions and all bytes are equal. Checked are tensors of at
least 16 KiB; reported are copies that make up a tenth of the weights, or a hundredth and at least 1 MiB. Two names for
one location in an external file are not copies, and tensors of a single value are not checked.
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
    yield Violation(f"{tensors} of {originals}: {format_bytes(saved)} of duplicate data", evidence)


@rule(
    Severity.ERROR,
    """A weight contains NaN or infinity.

Why it matters: NaN propagates through every sum and product, so results that depend on this weight are NaN, in all runs
or for some inputs. The cause is a training run that diverged, a conversion to a type too small for the value (float16
ends at 65,504), or a damaged file.

What to do: check the checkpoint that was exported (torch.isnan(w).any() over the state_dict). If it is clean, export in
float32 or bfloat16, or keep the nodes that read the weight in float32 (node_block_list of
onnxconverter_common.float16.convert_float_to_float16). Otherwise export an earlier checkpoint.

Only with --weights. Non-learned constants are not checked. Infinities are reported only in a matrix or a scale of a
normalization: added to scores, they are a mask, and usual. NaN next to a condition (Where, a comparison) is not
reported, because it may be intended.
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
        contain = pluralize(len(weights), "weight contains", "weights contain")
        message = f"{contain} {' and '.join(counts)}: {list_names(names, _MAX_NAMES)}"
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
    """Initializers are also inputs, so a caller may override them.

Why it matters: an initializer that a caller may override is not a constant. onnxruntime does not fold or fuse it,
converters fail or require these inputs, and users cannot distinguish inputs from weights.

What to do: run python -m onnxruntime.tools.remove_initializer_from_input --input model.onnx --output new.onnx, or
export with keep_initializers_as_inputs=False of torch.onnx.export, which is the default.

Not reported for files of IR version 3 and older, whose format requires it and whose weights onnxruntime treats as
constants, nor for scalars and a few tensors among many: those are defaults that are meant to be overridden.
""",
)
def overridable_weight(context: LintContext) -> Iterator[Violation]:
    weights = [tensor.name for tensor in context.model.graph.initializers if tensor.elements > 1]
    overridable = [name for name in weights if name in context.overridable]
    if 2 * len(overridable) > len(weights):
        are = "is also an input" if len(overridable) == 1 else "are also inputs"
        count = f"{format_count(len(overridable))} of {pluralize(len(weights), 'weight')}"
        message = f"{count} {are}: optimizers do not fold weights that callers may override"
        yield Violation(message, overridable)


_NOTE_UNUSED_SHARE: Final = 0.01  # of the bytes of all initializers
_NOTE_UNUSED_BYTES: Final = 1 << 10


@rule(
    Severity.NOTE,
    """The file contains initializers that no node reads.

Why it matters: they are shipped, loaded and kept in memory for nothing. Often they are left over from a part that was
removed, or from a conversion that wrote a second copy; then the file is larger than the model.

What to do: remove the initializers: onnxruntime's offline optimization (SessionOptions.optimized_model_filepath) and
onnxsim write the model without them, and onnxscript.optimizer.remove_unused_nodes removes them from a loaded model.

Reported are initializers of the main graph and of subgraphs that no node reads at any depth and that are not outputs.
The severity is note from 1 KiB and one percent of the bytes of all initializers, otherwise info. A file with a training
graph is not checked, because that graph may read them.
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
            f"{pluralize(len(unused), 'initializer')}{size}{of_all} {are} read by no node",
            [tensor.name for tensor in unused],
            severity=Severity.NOTE if is_note else Severity.INFO,
        )
