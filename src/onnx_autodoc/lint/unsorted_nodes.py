"""Nodes stand before those that they read from.

Why it matters: ONNX wants the nodes of a graph in an order in which they can run. onnxruntime sorts them; its own
checker, engines that read the list from top to bottom and scripts that walk over it do not.

What to do: sort them and save the file: onnx_graphsurgeon's graph.toposort(), or onnx_ir's
onnx_ir.passes.common.TopologicalSortPass.

Said only where an order exists: nodes that wait for each other are cycle's.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import Graph, is_sorted, needed_names, turning
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.NOTE


def check(case: Case) -> Iterator[Found]:
    spots = [each.name(at) for each in case.written for at in _early(each.graph)]
    if spots:
        text = plural(len(spots), "node stands before what it reads", "nodes stand before what they read")
        yield Found(text, tuple(spots))


def _early(graph: Graph) -> list[int]:
    if is_sorted(graph.nodes):
        return []
    made = {name: at for at, node in enumerate(graph.nodes) for name in node.outputs if name}
    for name in (*(value.name for value in graph.inputs), *(tensor.name for tensor in graph.initializers)):
        made.pop(name, None)
    early = [at for at, node in enumerate(graph.nodes) if any(made.get(name, -1) >= at for name in needed_names(node))]
    return early if early and not turning(graph) else []
