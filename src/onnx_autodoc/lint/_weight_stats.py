"""The weights of a model with the numbers in them, for rules that look at those."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from onnx_autodoc import text as say
from onnx_autodoc.analysis.weights import Numbers
from onnx_autodoc.lint._case import Case

_SHOWN: Final = 3


class Weighed(Struct, frozen=True):
    """A weight: the operator that puts it to use, how many numbers it stands for, and what they are."""

    op: str
    elements: int
    numbers: Numbers


def weighed(case: Case) -> Iterator[Weighed]:
    """What counts as a weight and was read."""
    if case.weights is None:
        return
    for weight in case.facts.parameters.held:
        reader = case.facts.parameters.readers.get(weight.place)
        numbers = case.weights.find(weight.place[0], weight.name)
        if numbers is not None and numbers.unread is None and reader is not None:
            yield Weighed(reader.op, weight.elements, numbers)


def axes(numbers: Numbers) -> int:
    """Dimensions of more than one: a vector has one, however many ones stand around it."""
    return sum(size > 1 for size in numbers.dims)


def named(names: tuple[str, ...]) -> str:
    """The first few, for a sentence."""
    return ", ".join(say.named(name, 40) for name in names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")
