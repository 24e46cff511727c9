"""A value is read that nothing makes.

Why it matters: no runtime loads the file. What hangs on the value has no shape, and its cost cannot be told.

What to do: look at the last step that changed the file. A node that was removed, a value that was renamed on one side
only and a model that was cut in two are the usual causes; onnx.utils.extract_model cuts without this.

A value is made by a node, an initializer or an input: of the graph itself, or of one around it. A function sees nothing
from around it, and a branch or a loop's body hands out only what it makes or holds itself.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from onnx_autodoc.ir import Graph
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._written import Written, open_names, own_names
from onnx_autodoc.text import plural, quoted

SEVERITY: Final = Severity.ERROR
_MOST: Final = 4  # values that are named in the sentence


def check(case: Case) -> Iterator[Found]:
    names = list(dict.fromkeys(name for each in case.written if not each.inner for name in open_names(each.graph)))
    if names:
        are = plural(len(names), "value is needed that nothing makes", "values are needed that nothing makes")
        yield Found(
            f"{are}: {_named(names)}", tuple(_readers(case.written, set(names))) or tuple(names), about="values"
        )
    yield from _outputs(case, set(names))


def _outputs(case: Case, told: set[str]) -> Iterator[Found]:
    for what, values in (("output", case.model.graph.outputs), ("input", case.model.graph.inputs)):
        bare = sum(not value.name for value in values)
        if bare:
            severity = None if what == "output" else Severity.WARNING  # runtimes pass over an input that nobody reads
            have = plural(bare, f"{what} of the model has", f"{what}s of the model have")
            yield Found(f"{have} no name", severity=severity, about=f"{what}s")
    lent = [(each.path, name) for each in case.written if each.inner for name in _lent(each.graph) if name not in told]
    if lent:
        ways = plural(len(lent), "value is handed out by a graph that does not make it", "values are handed out so")
        names = [name for _, name in lent]
        yield Found(f"{ways}: {_named(names)}", tuple(path for path, _ in lent), about="bodies")


def _lent(graph: Graph) -> list[str]:
    own = own_names(graph)
    return [value.name for value in graph.outputs if value.name not in own]


def _named(names: list[str]) -> str:
    return ", ".join(quoted(name, 40) for name in names[:_MOST]) + (" …" if len(names) > _MOST else "")


def _readers(graphs: Sequence[Written], names: set[str]) -> Iterator[str]:
    for each in graphs:
        for at, node in enumerate(each.graph.nodes):
            if not names.isdisjoint(node.inputs):
                yield each.name(at)
