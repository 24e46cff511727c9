"""An entry of the shelf: all that the tool knows of one operator."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from onnx_autodoc.ir import Node, Tensor
from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._cost import Price
from onnx_autodoc.ops._known import Array, Known

Rule = Callable[[Call], Sequence[Known]]
Evaluate = Callable[[Call, list[Array]], Sequence[Array]]


def unchanged(call: Call, arrays: list[Array]) -> list[Array]:
    """The elements of the first input; whoever asks gives them the output's shape and type."""
    return [arrays[0]]


class Part(StrEnum):
    """What a constant input is to an operator, where its type and size do not tell."""

    WEIGHT = "weight"  # though an integer, or a single number
    QUANTIZATION = "quantization"  # the scales and zero points of something else
    STATISTIC = "statistic"  # measured in training, not learned: a BatchNormalization's mean and variance
    CONSTANT = "constant"  # though floating point: a table of sines, a window, a Resize's scales


def scales(*inputs: int) -> dict[int, Part]:
    """The inputs with the scales and zero points of others."""
    return dict.fromkeys(inputs, Part.QUANTIZATION)


def weights(*inputs: int) -> dict[int, Part]:
    """The inputs whose constants are weights, whatever their type and size."""
    return dict.fromkeys(inputs, Part.WEIGHT)


def constants(*inputs: int) -> dict[int, Part]:
    """The inputs whose constants are not learned."""
    return dict.fromkeys(inputs, Part.CONSTANT)


class Packed(Struct, frozen=True):
    """What a weight holds that keeps several numbers in one byte: numbers of a type, and how many."""

    dtype: str
    elements: int


class Cached(Struct, frozen=True):
    """A cache that an operator is given and hands on with new tokens in it, and the axes along which tokens lie."""

    past: int  # the input
    present: int  # the output
    tokens: tuple[int, ...] = (-2,)
    axis: str = ""  # the attribute that names another axis of tokens


class Operator(Struct, frozen=True):
    """What the tool knows of one operator.

    infer: the outputs' types and dims from the inputs'.
    value: the outputs' elements, called only where every input is known and small and every output is small; without
    it, the elements are only known when the model runs. partial: `value` also works where single elements are `Unknown`
    (it only moves elements, or uses + - *).
    cost: what one run takes.
    parts: what constants at some of its inputs are. packs: what a packed weight at some input holds. held: attributes
    that hold learned numbers. caches: what it keeps of past tokens.
    """

    infer: Rule
    value: Evaluate | None = None
    partial: bool = False
    cost: Price | None = None
    parts: Mapping[int, Part] = {}
    packs: Mapping[int, Callable[[Node, Tensor], Packed]] = {}
    held: tuple[str, ...] = ()
    caches: tuple[Cached, ...] = ()
