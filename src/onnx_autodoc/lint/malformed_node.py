"""A node is not as its operator is specified.

Why it matters: an operator takes so many inputs of such types, and attributes of such names and kinds. ONNX's checker
and onnxruntime refuse a node that does not keep to it; a tool that does not look closely takes a default where the file
says something else, or reads an attribute that means nothing.

What to do: look at the node's page in ONNX's list of operators at the opset that the file says; if the node was written
for another opset, convert the file: onnx.version_converter.convert_version(model, target). Else export again.

Held against ONNX's own operators and ai.onnx.ml, at versions that are known here; attributes that begin with two
underscores are for tools, and are passed over.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import Reference
from onnx_autodoc.lint._case import Case, Scope, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._written import told
from onnx_autodoc.ops import impossible, miscarried, misfits, misplaced
from onnx_autodoc.text import named

SEVERITY: Final = Severity.ERROR
_ATTRIBUTES_HAVE_TYPES: Final = 2  # from this IR version on
_UNTYPED: Final = "does not say of which type it is"  # how the reader puts it


def check(case: Case) -> Iterator[Found]:
    local = {(function.domain, function.name) for function in case.model.functions}
    wrong: dict[str, str] = {}
    for scope in case.scopes:
        main, old = _is_main(scope), (case.model.ir_version or 0) < _ATTRIBUTES_HAVE_TYPES
        for spot in scope.spots:
            own = not local or (spot.node.domain, spot.node.op) not in local
            for text in _texts(spot, own, main, old):
                wrong.setdefault(spot.path, f"{named(spot.path, 80)} ({_operator(spot.node.op)}): {text}")
    if wrong:
        yield Found(told(tuple(wrong.values()), "a node is malformed", "nodes are malformed"), tuple(wrong))


def _operator(op: str) -> str:
    return named(op) if op else "without an operator"


def _texts(spot: Spot, own: bool, main: bool, old: bool) -> list[str]:
    node, version = spot.node, spot.step.version
    found = [flaw for flaw in node.flaws if not (old and flaw.endswith(_UNTYPED))] if node.flaws else []
    if not node.op:
        found.insert(0, "it names no operator")
    if main and node.attributes and any(isinstance(item, Reference) for item in node.attributes.values()):
        found.append("it takes an attribute from a function, and stands in none")
    if own:
        found += misfits(node, version, spot.step.inputs)
        if node.attributes or not node.inputs:  # else there is nothing to look at
            found += impossible(node, version)
            found += miscarried(node, version)
            found += misplaced(node, version, spot.step.inputs)
    return found


def _is_main(scope: Scope) -> bool:
    """Whether a graph stands in no function."""
    while scope.outer is not None:
        scope = scope.outer
    return not scope.path
