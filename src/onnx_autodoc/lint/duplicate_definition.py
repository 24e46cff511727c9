"""One name stands for two things.

Why it matters: a name in a graph is one value. Where two nodes make it, or a node makes what is an input or a weight
already, readers get one or the other: runtimes refuse the file, and tools that do not may each take another one. Of a
weight that is there twice one is dead bytes.

What to do: look at the last step that changed the file; joining two models without a prefix does this
(onnx.compose.merge_models(first, second, prefix1="a/", …) keeps names apart).

A weight that is listed among the inputs too is no double: older files had to. Graphs beside each other may use the same
names, and a body's inputs and weights those of the graph around it; what its nodes make may not be there already. A
warning of a weight that is there twice in one shape: onnxruntime takes one of them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import Graph, Model
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._written import Written, told
from onnx_autodoc.text import named, quoted

SEVERITY: Final = Severity.ERROR
_MOST: Final = 3  # places that are named in the sentence
_LONGEST: Final = 100  # letters of a name


def check(case: Case) -> Iterator[Found]:
    wrong: dict[str, str] = {}
    copies: dict[str, str] = {}
    for each in case.written:
        for name, text, is_copy in _doubles(each):
            (copies if is_copy else wrong)[each.within(name)] = text
    wrong.update(_functions(case.model))
    if wrong:
        yield _found(wrong, "a name is defined twice", "names are defined twice")
    if copies:
        yield _found(copies, "a weight is there twice", "weights are there twice", Severity.WARNING, "weights")
    hidden = dict(_hidden(case.model))
    if hidden:
        yield _found(hidden, "a name is used again", "names are used again", about="bodies")


def _found(texts: dict[str, str], one: str, many: str, severity: Severity | None = None, about: str = "names") -> Found:
    return Found(told(tuple(texts.values()), one, many), tuple(texts), severity=severity, about=about)


def _doubles(each: Written) -> Iterator[tuple[str, str, bool]]:
    """Names with too many definitions, what they are, and whether it is the same weight again."""
    graph = each.graph
    inputs = Counter(value.name for value in graph.inputs)
    tensors = Counter(tensor.name for tensor in graph.initializers)
    made = Counter(name for node in graph.nodes for name in node.outputs)
    counted = (inputs | tensors) + made  # an input with an initializer is one that has a default
    twice = {name for name, count in counted.items() if count > 1 and name}
    if not twice:
        return
    makers, kinds = _makers(each, twice), _kinds(graph)
    for name in sorted(twice):
        is_copy = not made[name] and inputs[name] < 2 and len(kinds[name]) == 1
        yield name, f"{quoted(name, _LONGEST)} is {_said(inputs[name], tensors[name], makers.get(name, []))}", is_copy


def _makers(each: Written, names: set[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for at, node in enumerate(each.graph.nodes):
        for name in names.intersection(node.outputs):
            found.setdefault(name, []).append(each.name(at))
    return found


def _kinds(graph: Graph) -> dict[str, set[object]]:
    found: dict[str, set[object]] = {}
    for tensor in graph.initializers:
        found.setdefault(tensor.name, set()).add((tensor.dtype, tensor.dims))
    return found


def _said(inputs: int, tensors: int, makers: list[str]) -> str:
    parts = [f"{inputs} inputs" if inputs > 1 else "an input"] if inputs else []
    parts += [f"{tensors} initializers" if tensors > 1 else "an initializer"] if tensors else []
    parts += [f"made by {' and by '.join(named(each, _LONGEST) for each in makers[:_MOST])}"] if makers else []
    return " and ".join(parts) + (", twice" if len(makers) == 1 and not inputs and not tensors else "")


def _functions(model: Model) -> Iterator[tuple[str, str]]:
    times = Counter(function.key for function in model.functions)
    for (domain, name, overload), count in times.items():
        if count > 1:
            key = ":".join(filter(None, (domain, name, overload)))
            yield key, f"there are {count} functions {named(key, _LONGEST)}"


class _Around(Struct, frozen=True, eq=False):
    """The graph that a body stands in: where each of its names comes from, and where the body's node is."""

    places: Mapping[str, int]
    at: int
    outer: "_Around | None"

    def has(self, name: str) -> bool:
        each: _Around | None = self
        while each is not None and each.places.get(name, each.at) >= each.at:
            each = each.outer
        return each is not None


def _hidden(model: Model) -> Iterator[tuple[str, str]]:
    """Values that nodes of a body make under a name that stands for something else before it, around it."""
    waiting: list[tuple[Written, _Around | None]] = [(Written("", model.graph), None)]
    while waiting:
        each, around = waiting.pop()
        nodes = each.graph.nodes
        if around is not None:
            made = (name for node in nodes for name in node.outputs if name and around.has(name))
            inside = f"is made in {named(each.path, _LONGEST)} and around it"
            yield from ((each.within(name), f"{quoted(name, _LONGEST)} {inside}") for name in made)
        nested = [at for at, node in enumerate(nodes) if node.nested]
        places = _places(each.graph) if nested else {}
        for at in nested:
            bodies = nodes[at].graphs()
            waiting.extend((Written(f"{each.name(at)}/{key}", one), _Around(places, at, around)) for key, one in bodies)


def _places(graph: Graph) -> dict[str, int]:
    """The node that makes each name; before all nodes is what the graph is given."""
    places = {name: at for at, node in reversed(list(enumerate(graph.nodes))) for name in node.outputs}
    places.update(dict.fromkeys((value.name for value in graph.inputs), -1))
    places.update(dict.fromkeys((tensor.name for tensor in graph.initializers), -1))
    return places
