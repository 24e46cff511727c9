"""`Operator`, one row per operator, and the vocabulary that rows are written in."""

from collections.abc import Callable, Mapping, Sequence, Set
from enum import StrEnum
from typing import Final, NoReturn

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from onnx_autodoc.ir import Node, Tensor
from onnx_autodoc.ops.call import Call
from onnx_autodoc.ops.cost import CostRule
from onnx_autodoc.ops.input_constraints import ConstraintRule
from onnx_autodoc.ops.values import Array, InferenceError, ValueInfo

ShapeRule = Callable[[Call], Sequence[ValueInfo]]
Choices = frozenset[str] | frozenset[int]
ValueRule = Callable[[Call, list[Array]], Sequence[Array]]


class WorkClass(StrEnum):
    """The kind of work that an operator is to a processor. Estimates of time have one rate per class."""

    CONVOLUTION = "convolution"
    PRODUCT = "product"
    ATTENTION = "attention"
    RECURRENT = "recurrent"
    NORMALIZATION = "normalization"
    SOFTMAX = "softmax"
    POINTWISE = "pointwise"
    REDUCTION = "reduction"
    POOLING = "pooling"
    MOVE = "move"  # copies elements to other places
    LOOKUP = "lookup"  # copies elements chosen by an index
    VIEW = "view"  # the same data under another shape: no work
    OTHER = "other"


# Class of the onnxruntime CPU kernels of a row that declares none
_KERNEL_BY_WORK: Final = {
    WorkClass.NORMALIZATION: "norm",
    WorkClass.POOLING: "pool",
    WorkClass.REDUCTION: "reduce",
    WorkClass.LOOKUP: "gather",
    WorkClass.POINTWISE: "plain",
    WorkClass.MOVE: "copy",
}
# Classes that compilers fuse into the kernel that produces their input
FUSIBLE_CLASSES: Final = frozenset(
    (WorkClass.NORMALIZATION, WorkClass.POINTWISE, WorkClass.REDUCTION, WorkClass.SOFTMAX)
)


class Trait(StrEnum):
    """Behaviour of an operator that graph analyses and lint rules rely on."""

    # sources of values
    CONSTANT = "constant"  # its output is stored in the file
    RANDOM = "random"
    SHAPE_QUERY = "shape query"  # reads dims, never elements
    GENERATES = "generates"  # its output holds no element of its inputs
    # control flow
    CONTROL_FLOW = "control flow"
    BRANCH = "branch"
    LOOP = "loop"  # runs its body many times
    # data movement
    SHARES_MEMORY = "shares memory"  # the output is a view of the input's memory
    RESHAPES = "reshapes"  # the same elements in the same order under other dims
    MOVES = "moves"  # the output holds elements of the first input, unchanged
    FORWARDS = "forwards"  # the output is the input in another type, or with axes of 1 added or removed
    SHIFTS_AXES = "shifts axes"  # a move after which axes have other positions
    KEEPS_SCALAR = "keeps scalar"  # a single element stays the same element
    JOINS = "joins"  # concatenates its inputs
    SCATTERS_ALONG_AXIS = "scatters along axis"
    PICKS_ROWS = "picks rows"  # rows of input 0 by the indices of input 1
    # attention
    PRODUCT = "product"  # a matrix product of its `operands`
    PRECEDES_SCORES = "precedes scores"  # occurs between a KV cache and the product that reads it
    FOLLOWS_SCORES = "follows scores"  # occurs between attention scores and their Softmax
    # quantization
    QUANTIZES = "quantizes"
    DEQUANTIZES = "dequantizes"
    DYNAMIC_QUANTIZATION = "dynamic quantization"  # an integer product of activations quantized at run time
    QOPERATOR = "qoperator"  # computes on quantized tensors from end to end
    PACKS_SUB_BYTES = "packs sub-bytes"  # a uint8 weight holds several numbers around the middle of their range
    SCALES_PER_DIRECTION = "scales per direction"  # axis 0 of weights and scales is the direction
    INT8_KERNEL = "int8 kernel"  # runtimes have it in int8, for its first two inputs
    INT8_OPERATOR = "int8 operator"  # an INT8_KERNEL that is already written as one
    INT8_CONSTANTS = "int8 constants"  # onnxruntime quantizes its constants if its data are quantized
    INT8_NEEDS_OUTPUT = "int8 needs output"  # onnxruntime runs it in int8 only with a quantized output
    CROSSES_QUANTIZATION = "crosses quantization"  # some runtime moves it across a quantization
    # checks of a node
    NO_NEGATIVE_PADS = "no negative pads"
    PADS_BELOW_KERNEL = "pads below kernel"  # each pad is smaller than the kernel
    AXIS_ATTRIBUTE = "axis attribute"  # `axis` names an axis of the input, and decides no shape
    IGNORES_CASE = "ignores case"  # of words in attributes
    EXPERIMENTAL = "experimental"  # of ONNX's first days or its exporters, never released
    # lint
    FOLDS_BATCH_NORM = "folds BatchNormalization"  # its weights can absorb a BatchNormalization behind it
    UNARY = "unary"  # commutes with Transpose: acts on each element of its only input
    UNARY_WITH_SCALARS = "unary with scalars"  # likewise if all other inputs are scalars
    FREE_TO_FOLD = "free to fold"  # folding it into a constant saves nothing
    DATA_SIZED = "data sized"  # the elements decide the size of its output
    DROPPED_BY_ORT = "dropped by onnxruntime"  # removed before an execution provider sees the graph
    MULTIPLIES = "multiplies"  # multiplies data by a matrix: an infinite weight gives NaN
    PROPAGATES_NAN = "propagates NaN"  # adds, multiplies or scales: NaN in gives NaN out
    TESTS_NUMBERS = "tests numbers"  # selects or compares: a NaN or infinite constant may be intended
    # ranges of integer inputs
    SUMS = "sums"  # adds numbers along an axis: positions are counted from a mask by it
    CLIPS = "clips"  # bounds its numbers from above by the attribute `max` or by input 2
    COMPARES = "compares"  # compares the numbers of its two inputs
    COMPARES_ORDER = "compares order"  # as less or greater


# Traits of operators whose output has the numbers of the first input
_COPIES_FIRST_INPUT: Final = frozenset((Trait.FORWARDS, Trait.MOVES, Trait.RESHAPES))


class Arithmetic(StrEnum):
    """The arithmetic of an operator with two inputs."""

    SUM = "sum"
    DIFFERENCE = "difference"
    PRODUCT = "product"
    QUOTIENT = "quotient"


FLAG: Final = frozenset((0, 1))  # choices of an attribute that is off or on


def words(text: str) -> frozenset[str]:
    """Return the choices of an attribute, from a text of words."""
    return frozenset(text.split())


def no_shape_rule(call: Call) -> NoReturn:
    raise InferenceError(f"{call.node.op} has no shape rule")


def unchanged(call: Call, arrays: list[Array]) -> list[Array]:
    """Return the elements of the first input; the caller gives them the output's shape and type."""
    return [arrays[0]]


class ConstantRole(StrEnum):
    """The role of a constant input, where its type and size do not decide it."""

    WEIGHT = "weight"  # though an integer, or a single number
    QUANTIZATION = "quantization"  # scales and zero points
    STATISTIC = "statistic"  # measured in training, not learned: a BatchNormalization's mean and variance
    CONSTANT = "constant"  # non-learned, though floating point: a table of sines, a window, a Resize's scales


def scales(*inputs: int) -> dict[int, ConstantRole]:
    """Mark inputs as scales and zero points."""
    return dict.fromkeys(inputs, ConstantRole.QUANTIZATION)


def weights(*inputs: int) -> dict[int, ConstantRole]:
    """Mark inputs whose constants are weights, whatever their type and size."""
    return dict.fromkeys(inputs, ConstantRole.WEIGHT)


def constants(*inputs: int) -> dict[int, ConstantRole]:
    """Mark inputs whose constants are not learned."""
    return dict.fromkeys(inputs, ConstantRole.CONSTANT)


class PackedWeight(Struct, frozen=True):
    """Element type and count of a weight that stores several numbers per byte."""

    dtype: str
    elements: int


class KVCacheInputs(Struct, frozen=True):
    """A KV cache that an operator takes as an input and returns with new tokens appended."""

    past: int  # input
    present: int  # output
    tokens: tuple[int, ...] = (-2,)  # axes along which tokens lie
    axis: str = ""  # attribute that names another axis of tokens


class QuantizedInput(Struct, frozen=True):
    """A quantized weight input with the inputs of its scale and zero point (-1: the operator has none)."""

    weight: int
    scale: int
    zero_point: int


class Neutral(Struct, frozen=True):
    """The number that leaves the other operand unchanged, and the inputs where it does."""

    value: float
    inputs: tuple[int, ...]


class Deprecation(Struct, frozen=True):
    """The opset versions at which an operator is deprecated, and what replaces it there."""

    first: int
    last: int | None
    replacement: str

    def applies(self, opset: int | None) -> bool:
        return opset is not None and self.first <= opset and (self.last is None or opset <= self.last)


class Identity(StrEnum):
    """The condition under which an operator returns its input unchanged."""

    ALWAYS = "always"
    INFERENCE = "not in training"
    SAME_TYPE = "the input has the target type"
    SAME_SHAPE = "the input has the target shape"
    SAME_ORDER = "the axes keep their order"
    MATRIX = "the input is a matrix"
    WHOLE = "the whole input is taken"
    NO_PADDING = "all pads are zero"
    ONE_INPUT = "there is one input"
    ONE_OUTPUT = "there is one output"
    NEUTRAL_OPERAND = "the other operand is neutral"
    REPEATED_ONCE = "repeated once along each axis"


class Operator(Struct, frozen=True):
    """One operator: its rules, weights, behaviour and attributes.

    Rules. infer: types and dims of the outputs; control flow has none, `shapes` runs it. value: elements of the
    outputs, called only if every input is known and small and every output is small. partial: `value` also accepts
    arrays with `Unknown` elements (it only moves elements, or uses + - *). cost: the cost of one run.

    Weights. roles: roles of constant inputs. packed: readers of packed weights, by input. learned_attributes:
    attributes that store learned numbers. quantized: quantized weights with their scales. kv_caches: KV caches.

    Behaviour. work: its class of work. traits: see `Trait`. operands: the inputs that a product or a convolution
    multiplies. overwrites: inputs that it returns with elements replaced. identity: the condition under which it
    returns its input. neutral: the operand that changes nothing. size_inputs: inputs whose elements are sizes, bounds
    or counts: 1 unless `constraints` has another number for them. index_input: the input that selects rows of a table.
    position_output: the output that holds positions. position_input: the input with the positions of tokens; if it is
    absent, positions are the order of the tokens. position_shift: positions stay positions, shifted by a constant
    operand times this. number_inputs: inputs whose numbers the outputs have, within their range; None: all inputs;
    unset: all inputs if it `JOINS`, the first if it `MOVES`, `FORWARDS` or `RESHAPES`. arithmetic: of two inputs.
    default_block_size: numbers per scale if the node declares none. fused_block: the kind of block that one node of
    this operator is. kernel: its class of kernels, if its work does not determine it. constraints: numbers that inputs
    must have, where others would stop a run.

    Attributes, as the specification or onnxruntime accepts them, whichever accepts more. choices: the words or numbers
    that an attribute may be. old_choices: others, before a version. equal_lengths: lists of equal length. alternatives:
    attributes of which a node has exactly one. activations: per direction of a recurrent operator. deprecated: the
    versions at which it is deprecated.
    """

    infer: ShapeRule = no_shape_rule
    value: ValueRule | None = None
    partial: bool = False
    cost: CostRule | None = None
    roles: Mapping[int, ConstantRole] = {}
    packed: Mapping[int, Callable[[Node, Tensor], PackedWeight]] = {}
    learned_attributes: tuple[str, ...] = ()
    quantized: tuple[QuantizedInput, ...] = ()
    kv_caches: tuple[KVCacheInputs, ...] = ()
    work: WorkClass = WorkClass.OTHER
    traits: Set[Trait] = frozenset()
    operands: tuple[int, int] = (0, 1)
    overwrites: tuple[int, ...] = ()
    identity: Identity | None = None
    neutral: Neutral | None = None
    size_inputs: tuple[int, ...] = ()
    index_input: int | None = None
    position_output: int | None = None
    position_input: int | None = None
    position_shift: int | None = None
    number_inputs: tuple[int, ...] | UnsetType | None = UNSET
    arithmetic: Arithmetic | None = None
    default_block_size: int | None = None
    fused_block: str = ""
    constraints: Mapping[int, ConstraintRule] = {}
    deprecated: Deprecation | None = None
    choices: Mapping[str, Choices] = {}
    old_choices: tuple[int, Mapping[str, Choices]] = (0, {})
    equal_lengths: tuple[tuple[str, ...], ...] = ()
    alternatives: tuple[tuple[str, ...], ...] = ()
    activations: int = 0
    kernel: str = ""
    domain: str = ""
    op_type: str = ""

    @property
    def kernel_class(self) -> str:
        """The class of onnxruntime CPU kernels with the same time per unit of work."""
        return self.kernel or _KERNEL_BY_WORK.get(self.work, self.work.value)

    def select_number_inputs(self, count: int) -> Sequence[int]:
        """Return the indices of the inputs, of `count`, whose numbers the outputs have."""
        if self.number_inputs is None or (self.number_inputs is UNSET and Trait.JOINS in self.traits):
            return range(count)
        if self.number_inputs is UNSET:
            return () if self.traits.isdisjoint(_COPIES_FIRST_INPUT) else (0,)
        return self.number_inputs


def of_class(work: WorkClass, rows: Mapping[str, Operator]) -> dict[str, Operator]:
    """Give the rows of a family its class of work; a row that declares a class keeps it."""
    return {name: row if row.work is not WorkClass.OTHER else replace(row, work=work) for name, row in rows.items()}


def with_traits(traits: Set[Trait], rows: Mapping[str, Operator]) -> dict[str, Operator]:
    """Add traits to rows that share them."""
    return {name: replace(row, traits=row.traits | traits) for name, row in rows.items()}
