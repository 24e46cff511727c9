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
    """Declarations of a value contradict each other or the graph.

Why it matters: callers and tools rely on declared types and shapes. If a node produces a type other than the declared
one, or an initializer does not match the input of its name, onnxruntime rejects the file. If a value is declared twice
with different types, each tool uses a different one.

What to do: delete the declarations of inner values and infer them again: del model.graph.value_info[:], then
onnx.shape_inference.infer_shapes(model). Correct an input or output with onnx.helper.make_tensor_value_info.

Shapes that differ from those that nodes produce are reported by contradictory-shape. The severity is warning for an
initializer that differs from its declaration as an output or inner value. It is note for outputs without a type and, up
to IR version 3, for initializers that are not among the inputs: checkers reject these, runtimes accept them.
""",
)
def contradictory_declaration(context: LintContext) -> Iterator[Violation]:
    model = context.model
    graphs = [scope.graph for scope in context.declared_graphs]
    mistyped = {name: text for scope in context.scopes for name, text in _mistyped_values(scope)}
    yield from report_problems(
        mistyped, "a value contradicts its declared type", "values contradict their declared types", about="types"
    )
    inputs = {value.name: text for value in required_inputs(model) for text in _missing_type(value)}
    yield from report_problems(inputs, "an input has no type", "inputs have no type", about="inputs")
    weights = {name: text for graph in graphs for name, text in _misdeclared_weights(graph, graph.inputs)}
    singular, plural = "an initializer differs from the input of its name", "initializers differ from their inputs"
    yield from report_problems(weights, singular, plural, about="weights")
    repeated = {name: text for graph in graphs for name, text in _repeated_declarations(graph)}
    singular, plural = "a value has contradictory declarations", "values have contradictory declarations"
    yield from report_problems(repeated, singular, plural, about="values", severity=Severity.WARNING)
    constants = {
        name: text
        for graph in graphs
        for name, text in _misdeclared_weights(graph, _with_shape((*graph.outputs, *graph.value_info)))
    }
    singular, plural = "an initializer differs from its declaration", "initializers differ from their declarations"
    yield from report_problems(constants, singular, plural, about="constants", severity=Severity.WARNING)
    outputs = {value.name: text for value in model.graph.outputs if not value.type for text in _missing_type(value)}
    singular, plural = "an output has no type", "outputs have no type"
    yield from report_problems(outputs, singular, plural, about="outputs", severity=Severity.NOTE)
    # Old files have to list their weights as inputs; checkers require it, runtimes do not
    if model.ir_version is not None and 0 < model.ir_version < FIRST_IR_WITH_FREE_INITIALIZERS:
        unlisted = [item.name for item in model.graph.initializers if item.name not in model.graph.index.inputs]
        if unlisted:
            text = pluralize(len(unlisted), "initializer is not an input", "initializers are not inputs")
            reason = f"IR version {model.ir_version} requires all to be"
            yield Violation(f"{text}; {reason}", unlisted, severity=Severity.NOTE, about="unlisted")


def _mistyped_values(scope: ResolvedScope) -> Iterator[tuple[str, str]]:
    """Yield values whose nodes produce another kind or element type than is declared."""
    graph = scope.graph
    declared = {value.name: value.type for value in (*graph.value_info, *graph.outputs) if value.type is not None}
    for ref in scope.refs if declared else ():
        for name, inferred in zip(ref.node.outputs, ref.step.outputs):
            declared_type = declared.get(name)
            if declared_type is None or inferred.dtype is None:
                continue
            if not {declared_type.kind, inferred.kind} <= _NODE_OUTPUT_KINDS:
                continue
            is_tensor = declared_type.kind == "tensor"
            if declared_type.kind != inferred.kind or (is_tensor and declared_type.dtype != inferred.dtype):
                produced = f"but its node produces {_kind_text(inferred, declared_type.kind)}"
                yield name, f"{_show_name(name)} is declared as {_kind_text(declared_type, inferred.kind)} {produced}"


def _show_name(name: str) -> str:
    return display_name(name, MAX_NAME_CHARS)


def _kind_text(info: Type | ValueInfo, compared_kind: str) -> str:
    """Return only the element type if the kinds are equal."""
    dtype = info.dtype or "an unknown type"
    return dtype if info.kind == compared_kind else f"{info.kind} of {dtype}"


def _missing_type(value: Value) -> Iterator[str]:
    name, declared = _show_name(value.name), value.type
    if declared is None:
        yield f"{name} has no declaration"
    elif declared.kind in ("tensor", "sparse") and declared.dtype is None:
        yield f"{name} has an element type that ONNX does not define"
    elif declared.kind in ("sequence", "optional", "map") and declared.element is None:
        yield f"{name} is declared as {declared.kind} without an element type"


def _misdeclared_weights(graph: Graph, declared: Sequence[Value]) -> Iterator[tuple[str, str]]:
    """Yield initializers with a declaration that contradicts them."""
    types = {value.name: value.type for value in declared if value.type is not None}
    for tensor in graph.initializers if types else ():
        declared_type, stored = types.get(tensor.name), Type("tensor", tensor.dtype, tensor.dims)
        if declared_type is not None and not tensor.defects and _types_differ(declared_type, stored):
            text = f"{_show_name(tensor.name)} is {_type_text(stored)} but declared as {_type_text(declared_type)}"
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
            types = f"{_type_text(earlier)} and as {_type_text(value.type)}"
            yield value.name, f"{_show_name(value.name)} is declared as {types}"


def _types_differ(left: Type, right: Type) -> bool:
    if left.kind != "tensor" or right.kind != "tensor":
        return False
    if left.dtype and right.dtype and left.dtype != right.dtype:
        return True
    if left.dims is None or right.dims is None:
        return False
    pairs = zip(left.dims, right.dims)
    return len(left.dims) != len(right.dims) or any(type(a) is type(b) is int and a != b for a, b in pairs)


def _type_text(info: Type) -> str:
    return f"{info.dtype or 'unknown type'}{format_dims(info.dims) if info.dims is not None else ''}"


_NO_SHAPE: Final = "[]"  # declared by some exporters for inner values of unknown shape


@rule(
    Severity.WARNING,
    """Shapes in the file contradict each other.

Why it matters: a node with incompatible input shapes stops the model with an error. A wrong declaration of an output
misleads callers, and onnxruntime warns about it; a wrong declaration inside the graph misleads tools that rely on it.

What to do: for a node that cannot run, review the last step that changed the file, and export again. To correct
declarations, delete them (del model.graph.value_info[:]), then run python -m onnxruntime.tools.symbolic_shape_infer
--input model.onnx --output new.onnx (requires sympy); correct those of outputs in model.graph.output.

Only contradictions that hold at any size are reported: dynamic dimensions stay symbolic for this check, so neither an
assumed nor a requested size can be the cause. Inner values declared as scalars are skipped: some exporters declare this
for unknown shapes.
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
        text = first_problem(
            [item.sentence for item in wrong],
            "a declared shape differs from the inferred one",
            "declared shapes differ from the inferred ones",
        )
        names = dict.fromkeys(item.subject for item in wrong)
        severity = Severity.NOTE if outputs.isdisjoint(names) else Severity.WARNING
        yield Violation(text, names, severity=severity, about="declarations")


@rule(
    Severity.ERROR,
    """A local function is invalid, or a call does not match its signature.

Why it matters: a recursive function never returns. A call with more inputs or outputs than the function declares does
not have the meaning that was intended, and neither does a function that lists an output twice. Runtimes reject the
file.

What to do: export again, or inline the functions: onnx.inliner.inline_local_functions(model).

The severity is warning for a function without a name, and for one that has two attributes of the same name: runtimes
accept these, checkers reject them.
""",
)
def malformed_function(context: LintContext) -> Iterator[Violation]:
    functions = context.model.functions_by_key
    if not functions:
        return
    graphs = {key: [function.body, *iter_subgraphs(function.nodes)] for key, function in functions.items()}
    called = {key: {node.function_key for graph in graphs[key] for node in graph.nodes} for key in functions}
    recursive = find_cyclic({key: keys & functions.keys() for key, keys in called.items()})
    calls = {name: f"the function {_show_name(name)} is recursive" for _, name, _ in recursive}
    for scope in context.declared_graphs:
        for at, node in enumerate(scope.graph.nodes):
            function = functions.get(node.function_key)
            problem = _arity_problem(node, function) if function is not None else ""
            if problem:
                calls[scope.node_path(at)] = f"{_show_name(scope.node_path(at))} {problem}"
    for function in context.model.functions:
        for name, count in Counter(function.outputs).items():
            if count > 1:
                outputs = f"{count} outputs named {_show_name(name)}"
                calls[function.name] = f"the function {_show_name(function.name)} has {outputs}"
    yield from report_problems(calls, "a function call is invalid", "function calls are invalid")
    definitions = {
        function.name: text for function in context.model.functions for text in _definition_problems(function)
    }
    if definitions:
        text = first_problem(
            definitions.values(), "a function violates the specification", "functions violate the specification"
        )
        yield Violation(text, list(filter(None, definitions)), severity=Severity.WARNING, about="definitions")


def _arity_problem(node: Node, function: Function) -> str:
    name = _show_name(function.name)
    if len(node.inputs) > len(function.inputs):
        return f"passes {pluralize(len(node.inputs), 'input')} to {name}, which declares {len(function.inputs)}"
    if len(node.outputs) > len(function.outputs):
        return f"requests {pluralize(len(node.outputs), 'output')} of {name}, which declares {len(function.outputs)}"
    return ""


def _definition_problems(function: Function) -> Iterator[str]:
    if not function.name:
        yield f"a function of the domain {_show_name(function.domain or 'ai.onnx')} has no name"
    for defect in function.defects:
        if not defect.startswith(VERSION_DEFECT):
            yield f"{_show_name(function.name)}: {defect}"


_FIRST_IR_WITH_ATTRIBUTE_TYPES: Final = 2
_UNTYPED: Final = "does not declare its type"  # the end of the reader's sentence on an attribute without a type


@rule(
    Severity.ERROR,
    """A node violates the specification of its operator.

Why it matters: an operator defines the number and types of its inputs, and the names and types of its attributes.
ONNX's checker and onnxruntime reject a node that violates this; less strict tools substitute a default for a value in
the file, or read an attribute that has no meaning.

What to do: compare the node with the operator's page in the ONNX documentation, at the opset that the file declares. If
the node was written for another opset, convert the file: onnx.version_converter.convert_version(model, target).
Otherwise export again.

Covers the operators of ai.onnx and ai.onnx.ml, at versions that this tool knows. Attributes whose names begin with two
underscores are for tools and are ignored.
""",
)
def malformed_node(context: LintContext) -> Iterator[Violation]:
    local = context.local_functions
    needs_types = (context.model.ir_version or 0) >= _FIRST_IR_WITH_ATTRIBUTE_TYPES
    nodes: dict[str, str] = {}
    checked: dict[int, list[str]] = {}  # by the id of equal calls
    for ref in context.all_nodes():
        node, step = ref.node, ref.step
        problems = [] if node.op else ["it has no op type"]
        if node.defects:
            problems += [defect for defect in node.defects if needs_types or not defect.endswith(_UNTYPED)]
        attributes = node.attributes.values() if node.attributes and not ref.scope.in_function else ()
        if attributes and AttributeReference in map(type, attributes):
            problems.append("it refers to an attribute of a function outside any function")
        if (node.domain, node.op) not in local:
            if not step.call_id or step.call_id not in checked:
                checked[step.call_id] = check_node(node, step.version, step.inputs)
            problems += checked[step.call_id]
        if problems:
            operator = display_name(node.op) if node.op else "unnamed operator"
            nodes.setdefault(ref.path, f"{display_name(ref.path, 80)} ({operator}): {problems[0]}")
    yield from report_problems(nodes, "a node is malformed", "nodes are malformed")


# Parts of the reader's sentences on defects that runtimes accept
_ACCEPTED_DEFECTS: Final = ("stored twice", "also stored in the model", "data location", "it is sparse, but")


@rule(
    Severity.ERROR,
    """The type, dimensions and data of a stored tensor are inconsistent.

Why it matters: the dimensions, the type and the data each determine the size of a tensor. If they differ, the model
does not load or loads wrong values, and its parameter count is unreliable.

What to do: download the file again if it may be truncated; otherwise write the tensor again from its array:
onnx.numpy_helper.from_array(array, name). In an untrusted file, this may be an attempt to exploit a reader.

The severity is warning if the data are stored twice, or both in the model and in an external file: runtimes use one of
them, checkers reject the file. The same applies to a sparse tensor whose indices are not sorted or not int64.
""",
)
def malformed_tensor(context: LintContext) -> Iterator[Violation]:
    unnamed = sum(not tensor.name for scope in context.declared_graphs for tensor in scope.graph.initializers)
    if unnamed:
        have = pluralize(unnamed, "initializer has no name", "initializers have no name")
        message = f"{have}, so no node can read {'it' if unnamed == 1 else 'them'}"
        yield Violation(message, severity=Severity.WARNING, about="names")
    rejected: dict[str, str] = {}
    accepted: dict[str, str] = {}
    for name, tensor in _defective_tensors(context):
        is_accepted = all(any(part in defect for part in _ACCEPTED_DEFECTS) for defect in tensor.defects)
        (accepted if is_accepted else rejected)[name] = f"{_show_name(name)}: {tensor.defects[0]}"
    singular, plural = "a tensor is inconsistent", "tensors are inconsistent"
    yield from report_problems(rejected, singular, plural, about="contradictions")
    singular, plural = "a tensor violates the specification", "tensors violate the specification"
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
