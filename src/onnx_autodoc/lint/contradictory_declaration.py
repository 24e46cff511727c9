"""What the file declares of a value is contradicted by itself.

Why it matters: types and shapes are declared for callers and for tools. Where a node makes another type than is
declared, or a weight is not as the input of its name, onnxruntime refuses the file; where one value is declared twice
and differently, each tool believes another one.

What to do: delete what is declared of inner values and let it be inferred anew: del model.graph.value_info[:], then
onnx.shape_inference.infer_shapes(model). An input or output is set right with onnx.helper.make_tensor_value_info.

Shapes that are declared otherwise than the nodes make them are contradictory-shape's. A warning of a weight that is
declared otherwise as an output or inside the graph, and a note of outputs without a type and, up to IR version 3, of
weights that are not among the inputs: checkers refuse these, runtimes take them.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from onnx_autodoc.ir import Graph, Model, Type, Value
from onnx_autodoc.lint._case import Case, Scope
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._scope import INPUTS_ARE_APART
from onnx_autodoc.lint._written import told
from onnx_autodoc.ops import Known, dims_text
from onnx_autodoc.shapes import inputs_of
from onnx_autodoc.text import named, plural

SEVERITY: Final = Severity.ERROR
_TENSORS: Final = ("tensor", "sparse")
_MADE: Final = frozenset(("tensor", "sequence", "optional"))  # what nodes make
_WRAPPED: Final = ("sequence", "optional", "map")
_LONGEST: Final = 100  # letters of a name


def check(case: Case) -> Iterator[Found]:
    types = {name: text for scope in case.scopes for name, text in _mistyped(scope)}
    if types:
        yield _found(types, "a value is of another type", "values are of other types", "types")
    bare = {value.name: text for value in inputs_of(case.model) for text in _untyped(value.name, value.type)}
    if bare:
        yield _found(bare, "an input has no type", "inputs have no type", "inputs")
    weights, twice, otherwise = dict[str, str](), dict[str, str](), dict[str, str]()
    for each in case.written:
        weights.update(_misgiven(each.graph, each.graph.inputs))
        otherwise.update(_misgiven(each.graph, _shaped((*each.graph.outputs, *each.graph.values))))
        twice.update(_twice(each.graph))
    if weights:
        yield _found(weights, "a weight is not as its input", "weights are not as their inputs", "weights")
    if twice:
        head = "a value is declared twice", "values are declared twice"
        yield _found(twice, *head, "values", Severity.WARNING)

    if otherwise:
        head = "a weight is declared otherwise", "weights are declared otherwise"
        yield _found(otherwise, *head, "constants", Severity.WARNING)
    yield from _unsaid(case.model)


def _unsaid(model: Model) -> Iterator[Found]:
    """What checkers want to be there, and runtimes do without."""
    bare = {value.name: text for value in model.graph.outputs if not value.type for text in _untyped(value.name, None)}
    if bare:
        yield _found(bare, "an output has no type", "outputs have no type", "outputs", Severity.NOTE)
    given = {value.name for value in model.graph.inputs}
    if model.ir_version is not None and 0 < model.ir_version < INPUTS_ARE_APART:
        names = tuple(tensor.name for tensor in model.graph.initializers if tensor.name not in given)
        text = plural(len(names), "weight is not listed", "weights are not listed")
        where = f"among the inputs, as IR version {model.ir_version} wants"
        yield from [Found(f"{text} {where}", names, severity=Severity.NOTE, about="unlisted")] if names else []


def _found(texts: dict[str, str], one: str, many: str, about: str, severity: Severity | None = None) -> Found:
    return Found(told(tuple(texts.values()), one, many), tuple(texts), severity=severity, about=about)


def _mistyped(scope: Scope) -> Iterator[tuple[str, str]]:
    """Values whose nodes make another kind or element type than is declared."""
    graph = scope.graph
    declared = {value.name: value.type for value in (*graph.values, *graph.outputs) if value.type is not None}
    for spot in scope.spots if declared else ():
        for name, known in zip(spot.node.outputs, spot.step.outputs):
            said = declared.get(name)
            if said is None or known.dtype is None or not {said.kind, known.kind} <= _MADE:
                continue
            if said.kind != known.kind or (said.kind == "tensor" and said.dtype != known.dtype):
                says, gives = _kind(said, known.kind), _kind(known, said.kind)
                yield name, f"the file declares {named(name, _LONGEST)} as {says}, its nodes give {gives}"


def _kind(one: Type | Known, other: str) -> str:
    """Its element type alone, where that is what differs."""
    dtype = one.dtype or "no known type"
    return dtype if one.kind == other else f"{one.kind} of {dtype}"


def _untyped(name: str, said: Type | None) -> Iterator[str]:
    if said is None:
        yield f"of {named(name, _LONGEST)} nothing is declared"
    elif said.kind in _TENSORS and said.dtype is None:
        yield f"the elements of {named(name, _LONGEST)} are of a type that ONNX does not define"
    elif said.kind in _WRAPPED and said.element is None:
        yield f"{named(name, _LONGEST)} is a {said.kind} of nothing"


def _misgiven(graph: Graph, declared: Sequence[Value]) -> Iterator[tuple[str, str]]:
    """Initializers that are declared too, and as other ones than they are."""
    types = {value.name: value.type for value in declared if value.type is not None}
    for tensor in graph.initializers if types else ():
        said = types.get(tensor.name)
        own = Type("tensor", tensor.dtype, tensor.dims)
        if said is not None and not tensor.flaws and _differ(said, own):
            yield tensor.name, f"{named(tensor.name, _LONGEST)} is {_text(own)}, and declared as {_text(said)}"


def _shaped(values: Sequence[Value]) -> list[Value]:
    """All but those declared as single numbers, which some exporters write where they know no shape."""
    return [value for value in values if value.type is not None and value.type.dims != ()]


def _twice(graph: Graph) -> Iterator[tuple[str, str]]:
    first: dict[str, Type] = {}
    for value in (*graph.inputs, *graph.outputs, *graph.values):
        if value.type is None or not value.name:
            continue
        other = first.setdefault(value.name, value.type)
        if _differ(other, value.type) and _shaped((value,)):
            yield value.name, f"{named(value.name, _LONGEST)} as {_text(other)} and as {_text(value.type)}"


def _differ(one: Type, other: Type) -> bool:
    if one.kind != "tensor" or other.kind != "tensor":
        return False
    if one.dtype and other.dtype and one.dtype != other.dtype:
        return True
    if one.dims is None or other.dims is None:
        return False
    sizes = zip(one.dims, other.dims)
    return len(one.dims) != len(other.dims) or any(_apart(left, right) for left, right in sizes)


def _apart(left: int | str | None, right: int | str | None) -> bool:
    return type(left) is int and type(right) is int and left != right


def _text(said: Type) -> str:
    return f"{said.dtype or 'no known type'}{dims_text(said.dims) if said.dims is not None else ''}"
