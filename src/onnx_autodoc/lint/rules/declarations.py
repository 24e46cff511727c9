"""Rules on declarations that are malformed or contradict each other."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from onnx_autodoc.ir import (
    Attribute,
    AttributeReference,
    Function,
    Graph,
    Node,
    Tensor,
    Type,
    Value,
    find_cyclic,
    iter_subgraphs,
)
from onnx_autodoc.lint.context import FIRST_IR_WITH_FREE_INITIALIZERS, LintContext, ResolvedScope
from onnx_autodoc.lint.rule import MAX_NAME_CHARS, Severity, Violation, first_problem, report_problems, rule
from onnx_autodoc.lint.rules.opsets import VERSION_DEFECT
from onnx_autodoc.ops import ValueInfo, check_node, format_dims
from onnx_autodoc.shapes import required_inputs
from onnx_autodoc.text import display_name, pluralize

_NODE_OUTPUT_KINDS: Final = frozenset(("tensor", "sequence", "optional"))


@rule(
    Severity.ERROR,
    """What the file declares of a value is contradicted by itself.

Why it matters: types and shapes are declared for callers and for tools. Where a node makes another type than is
declared, or a weight is not as the input of its name, onnxruntime refuses the file; where one value is declared twice
and differently, each tool believes another one.

What to do: delete what is declared of inner values and let it be inferred anew: del model.graph.value_info[:], then
onnx.shape_inference.infer_shapes(model). An input or output is set right with onnx.helper.make_tensor_value_info.

Shapes that are declared otherwise than the nodes make them are contradictory-shape's. A warning of a weight that is
declared otherwise as an output or inside the graph, and a note of outputs without a type and, up to IR version 3, of
weights that are not among the inputs: checkers refuse these, runtimes take them.
""",
)
def contradictory_declaration(context: LintContext) -> Iterator[Violation]:
    model = context.model
    graphs = [scope.graph for scope in context.declared_graphs]
    mistyped = {name: text for scope in context.scopes for name, text in _mistyped_values(scope)}
    yield from report_problems(mistyped, "a value is of another type", "values are of other types", about="types")
    inputs = {value.name: text for value in required_inputs(model) for text in _missing_type(value)}
    yield from report_problems(inputs, "an input has no type", "inputs have no type", about="inputs")
    weights = {name: text for graph in graphs for name, text in _misdeclared_weights(graph, graph.inputs)}
    singular, plural = "a weight is not as its input", "weights are not as their inputs"
    yield from report_problems(weights, singular, plural, about="weights")
    repeated = {name: text for graph in graphs for name, text in _repeated_declarations(graph)}
    singular, plural = "a value is declared twice", "values are declared twice"
    yield from report_problems(repeated, singular, plural, about="values", severity=Severity.WARNING)
    constants = {
        name: text
        for graph in graphs
        for name, text in _misdeclared_weights(graph, _with_shape((*graph.outputs, *graph.value_info)))
    }
    singular, plural = "a weight is declared otherwise", "weights are declared otherwise"
    yield from report_problems(constants, singular, plural, about="constants", severity=Severity.WARNING)
    outputs = {value.name: text for value in model.graph.outputs if not value.type for text in _missing_type(value)}
    singular, plural = "an output has no type", "outputs have no type"
    yield from report_problems(outputs, singular, plural, about="outputs", severity=Severity.NOTE)
    # Old files have to list their weights as inputs; checkers require it, runtimes do not
    if model.ir_version is not None and 0 < model.ir_version < FIRST_IR_WITH_FREE_INITIALIZERS:
        unlisted = [item.name for item in model.graph.initializers if item.name not in model.graph.index.inputs]
        if unlisted:
            text = pluralize(len(unlisted), "weight is not listed", "weights are not listed")
            where = f"among the inputs, as IR version {model.ir_version} wants"
            yield Violation(f"{text} {where}", unlisted, severity=Severity.NOTE, about="unlisted")


def _mistyped_values(scope: ResolvedScope) -> Iterator[tuple[str, str]]:
    """Yield values whose nodes produce another kind or element type than is declared."""
    graph = scope.graph
    declared = {value.name: value.type for value in (*graph.value_info, *graph.outputs) if value.type is not None}
    for ref in scope.refs if declared else ():
        for name, inferred in zip(ref.node.outputs, ref.step.outputs):
            claim = declared.get(name)
            if claim is None or inferred.dtype is None or not {claim.kind, inferred.kind} <= _NODE_OUTPUT_KINDS:
                continue
            if claim.kind != inferred.kind or (claim.kind == "tensor" and claim.dtype != inferred.dtype):
                types = f"as {_kind_text(claim, inferred.kind)}, its nodes give {_kind_text(inferred, claim.kind)}"
                yield name, f"the file declares {_show_name(name)} {types}"


def _show_name(name: str) -> str:
    return display_name(name, MAX_NAME_CHARS)


def _kind_text(info: Type | ValueInfo, compared_kind: str) -> str:
    """Return the element type alone where that is the difference."""
    dtype = info.dtype or "no known type"
    return dtype if info.kind == compared_kind else f"{info.kind} of {dtype}"


def _missing_type(value: Value) -> Iterator[str]:
    name, claim = _show_name(value.name), value.type
    if claim is None:
        yield f"of {name} nothing is declared"
    elif claim.kind in ("tensor", "sparse") and claim.dtype is None:
        yield f"the elements of {name} are of a type that ONNX does not define"
    elif claim.kind in ("sequence", "optional", "map") and claim.element is None:
        yield f"{name} is a {claim.kind} of nothing"


def _misdeclared_weights(graph: Graph, declared: Sequence[Value]) -> Iterator[tuple[str, str]]:
    """Yield initializers with a declaration that contradicts them."""
    types = {value.name: value.type for value in declared if value.type is not None}
    for tensor in graph.initializers if types else ():
        claim, stored = types.get(tensor.name), Type("tensor", tensor.dtype, tensor.dims)
        if claim is not None and not tensor.defects and _types_differ(claim, stored):
            text = f"{_show_name(tensor.name)} is {_type_text(stored)}, and declared as {_type_text(claim)}"
            yield tensor.name, text


def _with_shape(values: Sequence[Value]) -> list[Value]:
    """Leave out scalars, which some exporters declare where they know no shape."""
    return [value for value in values if value.type is not None and value.type.dims != ()]


def _repeated_declarations(graph: Graph) -> Iterator[tuple[str, str]]:
    first: dict[str, Type] = {}
    for value in (*graph.inputs, *graph.outputs, *graph.value_info):
        if value.type is None or not value.name:
            continue
        earlier = first.setdefault(value.name, value.type)
        if _types_differ(earlier, value.type) and _with_shape((value,)):
            yield value.name, f"{_show_name(value.name)} as {_type_text(earlier)} and as {_type_text(value.type)}"


def _types_differ(left: Type, right: Type) -> bool:
    if left.kind != "tensor" or right.kind != "tensor":
        return False
    if left.dtype and right.dtype and left.dtype != right.dtype:
        return True
    if left.dims is None or right.dims is None:
        return False
    pairs = zip(left.dims, right.dims)
    return len(left.dims) != len(right.dims) or any(type(a) is type(b) is int and a != b for a, b in pairs)


def _type_text(claim: Type) -> str:
    return f"{claim.dtype or 'no known type'}{format_dims(claim.dims) if claim.dims is not None else ''}"


_NO_SHAPE: Final = "[]"  # what some exporters declare inside a graph where they know no shape


@rule(
    Severity.WARNING,
    """Shapes in the file contradict each other.

Why it matters: a node whose inputs do not fit stops the model with an error. An output that is declared otherwise than
its nodes make it misleads its callers, and onnxruntime warns of it; inside the graph a wrong declaration
misleads tools that trust it.

What to do: of a node that cannot run, look at the last step that changed the file, and export again. Declarations are
made anew by python -m onnxruntime.tools.symbolic_shape_infer --input model.onnx --output new.onnx, after deleting the
old ones (del model.graph.value_info[:]; it needs sympy); those of outputs are corrected in model.graph.output.

Said only of what is wrong at any size: the open dimensions are left open for this, so no size that was assumed or asked
for can be the cause. Values inside the graph that are declared as single numbers are passed over: some exporters write
that where they know no shape.
""",
)
def contradictory_shape(context: LintContext) -> Iterator[Violation]:
    shapes = context.facts.unbound_shapes
    # undefined-value and cycle report undefined values
    failing = [conflict for conflict in shapes.contradictions if conflict.code == "cannot-run"]
    if failing:
        labels = {conflict.subject for conflict in failing}
        unresolved = [ref for ref in context.all_nodes() if ref.step.gap]
        nodes = [ref for ref in unresolved if ref.node.label(ref.step.at) in labels]
        text = first_problem([conflict.sentence for conflict in failing], "a node cannot run", "nodes cannot run")
        yield Violation(text, nodes, severity=Severity.ERROR, about="nodes")
    outputs = context.model.graph.index.outputs
    wrong = [item for item in shapes.misdeclared if item.subject in outputs or item.declared != _NO_SHAPE]
    if wrong:
        text = first_problem([item.sentence for item in wrong], "a value has another shape", "values have other shapes")
        names = dict.fromkeys(item.subject for item in wrong)
        severity = Severity.NOTE if outputs.isdisjoint(names) else Severity.WARNING
        yield Violation(text, names, severity=severity, about="declarations")


@rule(
    Severity.ERROR,
    """A function of the file cannot be called as it is.

Why it matters: a function that calls itself never ends; one that is called with more values than it takes, or asked for
more than it gives, means something else than what is written. So does one that gives one value twice. Runtimes refuse
the file.

What to do: export again, or write the functions out where they are called: onnx.inliner.inline_local_functions(model).

A warning of a function without a name, and of one that has two attributes of one name: runtimes take it, checkers
refuse it.
""",
)
def malformed_function(context: LintContext) -> Iterator[Violation]:
    functions = context.model.functions_by_key
    if not functions:
        return
    graphs = {key: [function.body, *iter_subgraphs(function.nodes)] for key, function in functions.items()}
    called = {key: {node.function_key for graph in graphs[key] for node in graph.nodes} for key in functions}
    recursive = find_cyclic({key: keys & functions.keys() for key, keys in called.items()})
    calls = {name: f"the function {_show_name(name)} calls itself" for _, name, _ in recursive}
    for scope in context.declared_graphs:
        for at, node in enumerate(scope.graph.nodes):
            function = functions.get(node.function_key)
            problem = _arity_problem(node, function) if function is not None else ""
            if problem:
                calls[scope.node_path(at)] = f"{_show_name(scope.node_path(at))} {problem}"
    for function in context.model.functions:
        for name, count in Counter(function.outputs).items():
            if count > 1:
                calls[function.name] = (
                    f"the function {_show_name(function.name)} gives {_show_name(name)} {count} times"
                )
    yield from report_problems(calls, "a call cannot be made", "calls cannot be made")
    definitions = {
        function.name: text for function in context.model.functions for text in _definition_problems(function)
    }
    if definitions:
        text = first_problem(definitions.values(), "a function is odd", "functions are odd")
        yield Violation(text, list(filter(None, definitions)), severity=Severity.WARNING, about="definitions")


def _arity_problem(node: Node, function: Function) -> str:
    if len(node.inputs) > len(function.inputs):
        return f"gives {_show_name(function.name)} {len(node.inputs)} values, which takes {len(function.inputs)}"
    if len(node.outputs) > len(function.outputs):
        return f"asks {_show_name(function.name)} for {len(node.outputs)} values, which gives {len(function.outputs)}"
    return ""


def _definition_problems(function: Function) -> Iterator[str]:
    if not function.name:
        yield f"one of the domain {_show_name(function.domain or 'ai.onnx')} has no name"
    for defect in function.defects:
        if not defect.startswith(VERSION_DEFECT):
            yield f"of {_show_name(function.name)}: {defect}"


_FIRST_IR_WITH_ATTRIBUTE_TYPES: Final = 2
_UNTYPED: Final = "does not declare its type"  # the end of the reader's sentence on an attribute without a type


@rule(
    Severity.ERROR,
    """A node is not as its operator is specified.

Why it matters: an operator takes so many inputs of such types, and attributes of such names and kinds. ONNX's checker
and onnxruntime refuse a node that does not keep to it; a tool that does not look closely takes a default where the file
says something else, or reads an attribute that means nothing.

What to do: look at the node's page in ONNX's list of operators at the opset that the file says; if the node was written
for another opset, convert the file: onnx.version_converter.convert_version(model, target). Else export again.

Held against ONNX's own operators and ai.onnx.ml, at versions that are known here; attributes that begin with two
underscores are for tools, and are passed over.
""",
)
def malformed_node(context: LintContext) -> Iterator[Violation]:
    local = context.local_functions
    needs_types = (context.model.ir_version or 0) >= _FIRST_IR_WITH_ATTRIBUTE_TYPES
    nodes: dict[str, str] = {}
    for ref in context.all_nodes():
        node = ref.node
        problems = [] if node.op else ["it names no operator"]
        if node.defects:
            problems += [defect for defect in node.defects if needs_types or not defect.endswith(_UNTYPED)]
        attributes = node.attributes.values() if node.attributes and not ref.scope.in_function else ()
        if attributes and any(isinstance(item, AttributeReference) for item in attributes):
            problems.append("it takes an attribute from a function, and stands in none")
        if (node.domain, node.op) not in local:
            problems += check_node(node, ref.step.version, ref.step.inputs)
        if problems:
            operator = display_name(node.op) if node.op else "without an operator"
            nodes.setdefault(ref.path, f"{display_name(ref.path, 80)} ({operator}): {problems[0]}")
    yield from report_problems(nodes, "a node is malformed", "nodes are malformed")


# Parts of the reader's sentences on defects that runtimes accept
_ACCEPTED_DEFECTS: Final = ("stored twice", "also stored in the model", "data location", "it is sparse, but")


@rule(
    Severity.ERROR,
    """A tensor of the file is not what it says.

Why it matters: its dimensions, its type and its data each say how large it is. Where they differ the model does not
load, or loads other numbers than were meant; and no count of its parameters can be trusted.

What to do: fetch the file again if it may be cut off; else write the tensor anew from its array:
onnx.numpy_helper.from_array(array, name). A file from a stranger that is wrong here may be meant to break its readers.

A warning where the data are there twice, or in the model and beside it: runtimes take one of them, checkers refuse it.
So it is where the indices of a sparse tensor are not in order, or not of int64.
""",
)
def malformed_tensor(context: LintContext) -> Iterator[Violation]:
    unnamed = sum(not tensor.name for scope in context.declared_graphs for tensor in scope.graph.initializers)
    if unnamed:
        have = pluralize(unnamed, "initializer has no name", "initializers have no name")
        message = f"{have}, so that nothing can read {'it' if unnamed == 1 else 'them'}"
        yield Violation(message, severity=Severity.WARNING, about="names")
    rejected: dict[str, str] = {}
    accepted: dict[str, str] = {}
    for name, tensor in _defective_tensors(context):
        is_accepted = all(any(part in defect for part in _ACCEPTED_DEFECTS) for defect in tensor.defects)
        (accepted if is_accepted else rejected)[name] = f"{_show_name(name)}: {tensor.defects[0]}"
    singular, plural = "a tensor contradicts itself", "tensors contradict themselves"
    yield from report_problems(rejected, singular, plural, about="contradictions")
    singular, plural = "a tensor is doubtful", "tensors are doubtful"
    yield from report_problems(accepted, singular, plural, about="doubts", severity=Severity.WARNING)


def _defective_tensors(context: LintContext) -> Iterator[tuple[str, Tensor]]:
    """Yield defective initializers by name, and tensor attributes by the name of their node or function."""
    for scope in context.declared_graphs:
        yield from ((scope.qualify(tensor.name), tensor) for tensor in scope.graph.initializers if tensor.defects)
        for at, node in enumerate(scope.graph.nodes):
            if node.attributes:
                yield from ((scope.node_path(at), tensor) for tensor in _defective_attributes(node.attributes))
    for function in context.model.functions:
        yield from ((function.name, tensor) for tensor in _defective_attributes(function.defaults))


def _defective_attributes(attributes: Mapping[str, Attribute]) -> Iterator[Tensor]:
    for value in attributes.values():
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Tensor) and item.defects:
                yield item
