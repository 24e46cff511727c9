"""Rules on the structure of graphs: definitions, names and order of nodes."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import GraphScope
from onnx_autodoc.lint.context import LintContext, NodeRef
from onnx_autodoc.lint.rule import MAX_NAME_CHARS, Severity, Violation, list_names, report_problems, rule
from onnx_autodoc.text import display_name, format_count, pluralize, repr_name

_MAX_NODES: Final = 4


@rule(
    Severity.ERROR,
    """Nodes form a cycle.

Why it matters: each node requires the output of another one, so none can run first. No runtime loads such a graph, and
the shapes, cost and memory of these nodes and of all nodes after them are unknown.

What to do: review the last step that changed the file, usually one that renamed values or merged two models, and repeat
it. Express a loop over data with the operator Loop or Scan.
""",
)
def cycle(context: LintContext) -> Iterator[Violation]:
    paths = [scope.node_path(at) for scope in context.declared_graphs for at in scope.graph.index.cyclic]
    if paths:
        cycle = f"{pluralize(len(paths), 'node')} form a cycle"
        problem = "a node reads its own output" if len(paths) == 1 else cycle
        yield Violation(f"{problem}: {list_names(paths, _MAX_NODES)}", paths)


_MAX_PRODUCERS: Final = 3


@rule(
    Severity.ERROR,
    """A name is defined more than once.

Why it matters: a name identifies one value of a graph. If two nodes produce it, or a node produces an input or
initializer again, readers get one value or the other: runtimes reject the file, and tools that accept it may each use a
different one. If an initializer is stored twice, one copy is never used.

What to do: review the last step that changed the file. Merging two models without a prefix causes this
(onnx.compose.merge_models(first, second, prefix1="a/", …) keeps names distinct).

An initializer that is also listed as an input is not a duplicate: older files require this. Sibling graphs may use the
same names, and inputs and initializers of a body may repeat names of the graph around it; outputs of its nodes may not.
The severity is warning for an initializer stored twice with the same type and shape: onnxruntime uses one of them.
""",
)
def duplicate_definition(context: LintContext) -> Iterator[Violation]:
    conflicts: dict[str, str] = {}
    copies: dict[str, str] = {}
    for scope in context.declared_graphs:
        for name, text, is_copy in _repeated_names(scope):
            (copies if is_copy else conflicts)[scope.qualify(name)] = text
    for key, count in Counter(function.key for function in context.model.functions).items():
        if count > 1:
            name = ":".join(filter(None, key))
            conflicts[name] = f"{count} functions are named {display_name(name, MAX_NAME_CHARS)}"
    yield from report_problems(
        conflicts, "a name is defined more than once", "names are defined more than once", about="names"
    )
    singular, plural = "an initializer is stored twice", "initializers are stored twice"
    yield from report_problems(copies, singular, plural, about="weights", severity=Severity.WARNING)
    shadowing = {path: text for scope in context.declared_graphs for path, text in _shadowing_names(scope)}
    singular, plural = "a name of an outer graph is redefined", "names of outer graphs are redefined"
    yield from report_problems(shadowing, singular, plural, about="bodies")


def _repeated_names(scope: GraphScope) -> Iterator[tuple[str, str, bool]]:
    """Yield names with several definitions, a description, and whether they are copies of one weight."""
    graph = scope.graph
    inputs = Counter(value.name for value in graph.inputs)
    tensors = Counter(tensor.name for tensor in graph.initializers)
    produced = Counter(name for node in graph.nodes for name in node.outputs)
    counts = (inputs | tensors) + produced  # an input with an initializer is one that has a default
    repeated = {name for name, count in counts.items() if count > 1 and name}
    if not repeated:
        return
    producers: dict[str, list[str]] = {}
    for at, node in enumerate(graph.nodes):
        for name in repeated.intersection(node.outputs):
            producers.setdefault(name, []).append(scope.node_path(at))
    types: dict[str, set[object]] = {}
    for tensor in graph.initializers:
        types.setdefault(tensor.name, set()).add((tensor.dtype, tensor.dims))
    for name in sorted(repeated):
        is_copy = not produced[name] and inputs[name] < 2 and len(types[name]) == 1
        parts = [f"{inputs[name]} inputs" if inputs[name] > 1 else "an input"] if inputs[name] else []
        if tensors[name]:
            parts.append(f"{tensors[name]} initializers" if tensors[name] > 1 else "an initializer")
        paths = producers.get(name, [])
        if paths:
            shown = (display_name(path, MAX_NAME_CHARS) for path in paths[:_MAX_PRODUCERS])
            parts.append(f"produced by {' and by '.join(shown)}")
        twice = ", twice" if len(paths) == len(parts) == 1 else ""
        yield name, f"{repr_name(name, MAX_NAME_CHARS)} is {' and '.join(parts)}{twice}", is_copy


def _shadowing_names(scope: GraphScope) -> Iterator[tuple[str, str]]:
    """Yield values that nodes of a subgraph produce under a name that is visible from the graphs around it."""
    if scope.parent is None or scope.in_function:
        return
    inside = f"is produced in {display_name(scope.path, MAX_NAME_CHARS)} and defined around it"
    for name in (name for node in scope.graph.nodes for name in node.outputs if name):
        inner = scope
        while inner.parent is not None:
            if inner.parent.graph.index.first_definitions.get(name, inner.position) < inner.position:
                yield scope.qualify(name), f"{repr_name(name, MAX_NAME_CHARS)} {inside}"
                break
            inner = inner.parent


_MIN_NODES: Final = 10  # fewer are distinguished by their operators


@rule(
    Severity.INFO,
    """Nodes have no name, or share one.

Why it matters: profilers, lists of nodes that a quantizer excludes, error messages and this card refer to nodes by
name. If names are shared or missing, the reference is ambiguous.

What to do: give every node a unique name and save the file: for at, node in enumerate(model.graph.node): node.name =
f"{node.op_type}_{at}".

Missing names are reported only if most nodes have none; Constant nodes do not need one. Each graph has its own names: a
body may repeat those of the graph around it.
""",
)
def duplicate_name(context: LintContext) -> Iterator[Violation]:
    graphs = [[ref for ref in scope.refs if not ref.node.is_op("Constant")] for scope in context.scopes]
    shared: list[NodeRef] = []
    for refs in graphs:
        counts = Counter([ref.node.name for ref in refs])
        if len(counts) < len(refs):
            shared += [ref for ref in refs if ref.node.name and counts[ref.node.name] > 1]
    if shared:
        names = pluralize(len({(ref.scope.path, ref.node.name) for ref in shared}), "name")
        yield Violation(f"{format_count(len(shared))} nodes share {names}", shared, about="shared")
    total = sum(map(len, graphs))
    unnamed = sum(not ref.node.name for refs in graphs for ref in refs)
    if total >= _MIN_NODES and 2 * unnamed > total:
        yield Violation(f"{format_count(unnamed)} of {pluralize(total, 'node')} have no name", about="missing")


_MAX_NAMES: Final = 4


@rule(
    Severity.ERROR,
    """A value is used but never defined.

Why it matters: no runtime loads the file. The shapes and the cost of all nodes that depend on the value are unknown.

What to do: review the last step that changed the file. The usual causes are a removed node, a value renamed on one side
only, and a model that was split; onnx.utils.extract_model splits without this problem.

A value is defined by a node, an initializer or an input, of the graph or of one around it. A function does not see
values outside it, and the body of a branch or loop may only output values that it defines.
""",
)
def undefined_value(context: LintContext) -> Iterator[Violation]:
    graphs = context.declared_graphs
    names = list(
        dict.fromkeys(name for scope in graphs if scope.parent is None for name in scope.graph.index.undefined)
    )
    undefined = set(names)
    if names:
        need = pluralize(len(names), "value is used but never defined", "values are used but never defined")
        paths = [
            scope.node_path(at)
            for scope in graphs
            for at, node in enumerate(scope.graph.nodes)
            if not undefined.isdisjoint(node.inputs)
        ]
        yield Violation(f"{need}: {list_names(names, _MAX_NAMES, _quote_value)}", paths or names, about="values")
    for kind, values in (("output", context.model.graph.outputs), ("input", context.model.graph.inputs)):
        unnamed = sum(not value.name for value in values)
        if unnamed:
            severity = None if kind == "output" else Severity.WARNING  # runtimes ignore an input that nothing reads
            have = pluralize(unnamed, f"{kind} of the model has", f"{kind}s of the model have")
            yield Violation(f"{have} no name", severity=severity, about=f"{kind}s")
    returned = [
        (scope.path, value.name)
        for scope in graphs
        if scope.parent is not None
        for value in scope.graph.outputs
        if value.name not in scope.graph.index.defined and value.name not in undefined
    ]
    if returned:
        singular, plural = "output of a subgraph is not defined in it", "outputs of subgraphs are not defined in them"
        listed = list_names([name for _, name in returned], _MAX_NAMES, _quote_value)
        message = f"{pluralize(len(returned), singular, plural)}: {listed}"
        yield Violation(message, [path for path, _ in returned], about="bodies")


def _quote_value(name: str) -> str:
    return repr_name(name, 40)


@rule(
    Severity.NOTE,
    """Nodes are not in topological order.

Why it matters: ONNX requires the nodes of a graph in an order in which they can run. onnxruntime sorts them; ONNX's
checker, engines that process the list from top to bottom and scripts that iterate over it do not.

What to do: sort the nodes and save the file: onnx_graphsurgeon's graph.toposort(), or onnx_ir's
onnx_ir.passes.common.TopologicalSortPass.

Reported only if a topological order exists: cycles are reported by cycle.
""",
)
def unsorted_nodes(context: LintContext) -> Iterator[Violation]:
    paths: list[str] = []
    for scope in context.declared_graphs:
        index = scope.graph.index
        if index.is_sorted or index.cyclic:
            continue
        available = index.inputs | index.initializers
        producers = {name: at for name, at in index.producers.items() if name not in available}
        for at, node in enumerate(scope.graph.nodes):
            if any(producers.get(name, -1) >= at for name in node.all_inputs):
                paths.append(scope.node_path(at))
    if paths:
        text = pluralize(len(paths), "node precedes its inputs", "nodes precede their inputs")
        yield Violation(text, paths)
