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
    """Nodes wait for each other.

Why it matters: each needs what another one makes, so that none of them can be the first to run. No runtime loads such a
graph, and nothing can be said of the shapes, the work and the memory of these nodes and of all that come after them.

What to do: look at the last step that changed the file, mostly one that renamed values or joined two models, and do it
again. A loop over data is written with the operator Loop or Scan.
""",
)
def cycle(context: LintContext) -> Iterator[Violation]:
    paths = [scope.node_path(at) for scope in context.declared_graphs for at in scope.graph.index.cyclic]
    if paths:
        cycle = f"{pluralize(len(paths), 'node')} form a cycle"
        problem = "a node needs what it makes itself" if len(paths) == 1 else cycle
        yield Violation(f"{problem}: {list_names(paths, _MAX_NODES)}", paths)


_MAX_PRODUCERS: Final = 3


@rule(
    Severity.ERROR,
    """One name stands for two things.

Why it matters: a name in a graph is one value. Where two nodes make it, or a node makes what is an input or a weight
already, readers get one or the other: runtimes refuse the file, and tools that do not may each take another one. Of a
weight that is there twice one is dead bytes.

What to do: look at the last step that changed the file; joining two models without a prefix does this
(onnx.compose.merge_models(first, second, prefix1="a/", …) keeps names apart).

A weight that is listed among the inputs too is no double: older files had to. Graphs beside each other may use the same
names, and a body's inputs and weights those of the graph around it; what its nodes make may not be there already. A
warning of a weight that is there twice in one shape: onnxruntime takes one of them.
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
            conflicts[name] = f"there are {count} functions {display_name(name, MAX_NAME_CHARS)}"
    yield from report_problems(conflicts, "a name is defined twice", "names are defined twice", about="names")
    singular, plural = "a weight is there twice", "weights are there twice"
    yield from report_problems(copies, singular, plural, about="weights", severity=Severity.WARNING)
    shadowing = {path: text for scope in context.declared_graphs for path, text in _shadowing_names(scope)}
    yield from report_problems(shadowing, "a name is used again", "names are used again", about="bodies")


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
            parts.append(f"made by {' and by '.join(shown)}")
        twice = ", twice" if len(paths) == len(parts) == 1 else ""
        yield name, f"{repr_name(name, MAX_NAME_CHARS)} is {' and '.join(parts)}{twice}", is_copy


def _shadowing_names(scope: GraphScope) -> Iterator[tuple[str, str]]:
    """Yield values that nodes of a subgraph produce under a name that is visible from the graphs around it."""
    if scope.parent is None or scope.in_function:
        return
    inside = f"is made in {display_name(scope.path, MAX_NAME_CHARS)} and around it"
    for name in (name for node in scope.graph.nodes for name in node.outputs if name):
        inner = scope
        while inner.parent is not None:
            if inner.parent.graph.index.first_definitions.get(name, inner.position) < inner.position:
                yield scope.qualify(name), f"{repr_name(name, MAX_NAME_CHARS)} {inside}"
                break
            inner = inner.parent


_MIN_NODES: Final = 10  # fewer can be told apart by their operators


@rule(
    Severity.INFO,
    """Nodes have no name of their own.

Why it matters: profiles, quantizers that are told which nodes to leave out, error messages and this card speak of nodes
by name. Where names are shared or missing, nobody can tell which one is meant.

What to do: give every node one and save the file: for at, node in enumerate(model.graph.node):
node.name = f"{node.op_type}_{at}".

Missing names are told only where most nodes have none; constants need none of their own. Each graph has its own names:
a body may use those of the graph around it again.
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
    """A value is read that nothing makes.

Why it matters: no runtime loads the file. What hangs on the value has no shape, and its cost cannot be told.

What to do: look at the last step that changed the file. A node that was removed, a value that was renamed on one side
only and a model that was cut in two are the usual causes; onnx.utils.extract_model cuts without this.

A value is made by a node, an initializer or an input: of the graph itself, or of one around it. A function sees nothing
from around it, and a branch or a loop's body hands out only what it makes or holds itself.
""",
)
def undefined_value(context: LintContext) -> Iterator[Violation]:
    graphs = context.declared_graphs
    names = list(
        dict.fromkeys(name for scope in graphs if scope.parent is None for name in scope.graph.index.undefined)
    )
    undefined = set(names)
    if names:
        need = pluralize(len(names), "value is needed that nothing makes", "values are needed that nothing makes")
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
        singular, plural = "value is handed out by a graph that does not make it", "values are handed out so"
        listed = list_names([name for _, name in returned], _MAX_NAMES, _quote_value)
        message = f"{pluralize(len(returned), singular, plural)}: {listed}"
        yield Violation(message, [path for path, _ in returned], about="bodies")


def _quote_value(name: str) -> str:
    return repr_name(name, 40)


@rule(
    Severity.NOTE,
    """Nodes stand before those that they read from.

Why it matters: ONNX wants the nodes of a graph in an order in which they can run. onnxruntime sorts them; its own
checker, engines that read the list from top to bottom and scripts that walk over it do not.

What to do: sort them and save the file: onnx_graphsurgeon's graph.toposort(), or onnx_ir's
onnx_ir.passes.common.TopologicalSortPass.

Said only where an order exists: nodes that wait for each other are cycle's.
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
        stand = pluralize(len(paths), "node stands before what it reads", "nodes stand before what they read")
        yield Violation(stand, paths)
