"""A tensor of the file is not what it says.

Why it matters: its dimensions, its type and its data each say how large it is. Where they differ the model does not
load, or loads other numbers than were meant; and no count of its parameters can be trusted.

What to do: fetch the file again if it may be cut off; else write the tensor anew from its array:
onnx.numpy_helper.from_array(array, name). A file from a stranger that is wrong here may be meant to break its readers.

A warning where the data are there twice, or in the model and beside it: runtimes take one of them, checkers refuse it.
So it is where the indices of a sparse tensor are not in order, or not of int64.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from onnx_autodoc.ir import Attribute, Tensor
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._written import told
from onnx_autodoc.text import named, plural

SEVERITY: Final = Severity.ERROR
# What runtimes take nevertheless
_BOTH: Final = ("there twice", "in the model too", "data location", "it is sparse, and")
_LONGEST: Final = 100  # letters of a name


def check(case: Case) -> Iterator[Found]:
    wrong: dict[str, str] = {}
    twice: dict[str, str] = {}
    bare = sum(not tensor.name for each in case.written for tensor in each.graph.initializers)
    if bare:
        text = plural(bare, "initializer has no name, so that nothing", "initializers have no name, so that nothing")
        yield Found(f"{text} can read {'it' if bare == 1 else 'them'}", severity=Severity.WARNING, about="names")
    for name, tensor in _flawed(case):
        harmless = all(any(word in flaw for word in _BOTH) for flaw in tensor.flaws)
        (twice if harmless else wrong)[name] = f"{named(name, _LONGEST)}: {tensor.flaws[0]}"
    if wrong:
        text = told(tuple(wrong.values()), "a tensor contradicts itself", "tensors contradict themselves")
        yield Found(text, tuple(wrong), about="contradictions")
    if twice:
        text = told(tuple(twice.values()), "a tensor is doubtful", "tensors are doubtful")
        yield Found(text, tuple(twice), severity=Severity.WARNING, about="doubts")


def _flawed(case: Case) -> Iterator[tuple[str, Tensor]]:
    for each in case.written:
        yield from ((each.within(tensor.name), tensor) for tensor in each.graph.initializers if tensor.flaws)
        for at, node in enumerate(each.graph.nodes):
            if node.attributes:
                yield from ((each.name(at), tensor) for tensor in _held(node.attributes))
    for function in case.model.functions:
        yield from ((function.name, tensor) for tensor in _held(function.defaults))


def _held(attributes: Mapping[str, Attribute]) -> Iterator[Tensor]:
    for item in attributes.values():
        for each in item if isinstance(item, tuple) else (item,):
            if isinstance(each, Tensor) and each.flaws:
                yield each
