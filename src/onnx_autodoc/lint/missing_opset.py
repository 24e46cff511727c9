"""Nodes are of a domain whose version the file does not say.

Why it matters: the version of an operator set is what tells one Softmax from another. The ONNX checker refuses such a
file; onnxruntime takes the newest version that it knows for the domains it has itself, which may compute something
else, and refuses the file for others, and for functions that do not say what they are written in.

What to do: export again, or add the version that the nodes were written for:
model.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1)), in a function function.opset_import.append(…).

An error only where no runtime takes it: inside a function, and for the domain of the file's own functions. A note of
com.microsoft alone: there is one version of it, so onnxruntime cannot take a wrong one. Files older than operator sets
(IR version 1 and 2) need to say nothing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from onnx_autodoc.ir import Model, Node, inner_graphs
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.ops import judged
from onnx_autodoc.text import named, plural

SEVERITY: Final = Severity.WARNING
_MOST: Final = 4  # domains that are listed in the sentence


def check(case: Case) -> Iterator[Found]:
    if not case.model.functions and {domain for domain, _, _ in case.facts.operators} <= case.model.opsets.keys():
        return
    within = sum((_without(entry.nodes, entry.opsets) for entry in case.model.functions), Counter[str]())
    around = _without(case.model.graph.nodes, case.model.opsets) if case.model.opsets else Counter[str]()
    found = around + within
    if found:
        listed = ", ".join(named(domain or "ai.onnx", 40) for domain in sorted(found)[:_MOST])
        many = " …" if len(found) > _MOST else ""
        nodes = plural(found.total(), "node is", "nodes are")
        text = f"{nodes} of {listed}{many}, of which the file says no version"
        yield Found(text, _evidence(case, found), severity=_severity(case.model, around, within))


def _without(nodes: tuple[Node, ...], opsets: Mapping[str, int]) -> Counter[str]:
    """How many nodes there are of each domain that has no version here; those in subgraphs count too."""
    counted = Counter(node.domain for node in nodes)
    counted.update(node.domain for graph in inner_graphs(nodes) for node in graph.nodes)
    return Counter({domain: count for domain, count in counted.items() if domain not in opsets})


def _severity(model: Model, around: Counter[str], within: Counter[str]) -> Severity:
    own = {entry.domain for entry in model.functions}
    if within or own & around.keys():
        return Severity.ERROR
    return Severity.NOTE if around.keys() == {judged.MICROSOFT} else Severity.WARNING


def _evidence(case: Case, found: Counter[str]) -> tuple[str, ...]:
    spots = (spot for spot in case.spots() if spot.node.domain in found and spot.step.version is None)
    return tuple(spot.path for spot in spots)
