"""Nodes are made of constants alone, and are computed again at every load.

Why it matters: a runtime works them out whenever a session starts, and an engine that does not fold runs them with
every inference. They also hide what they are: weights that are turned before use, sizes that are known.

What to do: fold them into the file once: export with constant folding (torch.onnx.export does so by default), run
onnxsim, or save what onnxruntime's basic optimization makes of the file (SessionOptions.optimized_model_filepath).

It is a note where more than 64 KiB are worked out; less is good to know. Not reported: constants, second names of
them, and those that are written as a size and one number; what is made of quantized weights, which are stored small
on purpose; what folding would make larger than it is now (a mask from its size, a table that is also read as it is);
and what hangs on initializers that a caller may override.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import BITS, execution_order
from onnx_autodoc.lint._case import Case, Scope, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._words import by_operator
from onnx_autodoc.ops import Known, find, judged, kinds, nbytes
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.NOTE
_WORTH: Final = 64 << 10  # bytes that are made at every load
_SMALL: Final = 1 << 10  # bytes that a file may grow by for one node
_FEW_BITS: Final = 8  # element types of so many hold quantized weights


def check(case: Case) -> Iterator[Found]:
    changed = case.overridable
    found = [spot for scope in case.scopes for spot in _foldable(scope, changed)]
    if found:
        message = f"{plural(len(found), 'node')} of constants alone could be folded: {by_operator(found)}"
        severity = Severity.NOTE if sum(map(_made, found)) > _WORTH else Severity.INFO
        yield Found(message, tuple(spot.path for spot in found), severity=severity)


def _foldable(scope: Scope, changed: frozenset[str]) -> Iterator[Spot]:
    """In an order in which what a node reads is judged before it."""
    apart = set(changed)  # values that stay as they are, and what is made of them
    held: dict[str, int] = {}  # bytes of the constants that a value is made of and that go when it is folded
    fixed = [spot for spot in scope.spots if spot.node.op != kinds.CONSTANT and _is_fixed(spot)]
    for at in execution_order([spot.node for spot in fixed]):
        spot, names = fixed[at], [name for name in fixed[at].node.inputs if name]
        if not apart.isdisjoint(names) or not _can_be_folded(spot):
            apart.update(spot.node.outputs)
            continue
        size = sum(held.get(name, _given(scope, name)) for name in names)
        held.update(dict.fromkeys(spot.node.outputs, size))
        if spot.node.op not in judged.COUNT_FOR_NOTHING and _made(spot) <= max(size, _SMALL):
            yield spot


def _is_fixed(spot: Spot) -> bool:
    names = spot.node.inputs
    if names and names[0] and not spot.scope.is_fixed(names[0]):
        return False  # most nodes: their data come first
    return all(spot.scope.is_fixed(name) for name in names if name)


def _can_be_folded(spot: Spot) -> bool:
    node = spot.node
    if node.nested or not node.inputs or node.op in kinds.DRAWN or find(node.domain, node.op) is None:
        return False
    return node.op not in judged.QUANTIZERS and not any(map(_is_packed, spot.step.inputs)) and not spot.step.gap


def _is_packed(known: Known | None) -> bool:
    """Numbers of few bits and many: a quantized weight. Single ones are zero points or flags."""
    few = known is not None and known.dtype != "bool" and 0 < BITS.get(known.dtype or "", 0) <= _FEW_BITS
    return few and (known is None or known.shape != ())


def _given(scope: Scope, name: str) -> int:
    """Bytes of a constant that go if its reader is folded: none if others read it too."""
    tensor = scope.constant(name)
    alone = len(scope.readers(name)) == 1 and name not in scope.leaving
    return (tensor.nbytes or 0) if tensor is not None and alone else 0


def _made(spot: Spot) -> int:
    """Bytes of what a node makes; more than any file has where that is not known."""
    sizes = [nbytes(known) for known in spot.step.outputs]
    return sum(size if isinstance(size, int) else 1 << 62 for size in sizes)
