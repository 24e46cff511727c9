"""The file holds the same weights more than once.

Why it matters: every copy takes its bytes on disk, in the download and, once loaded, in memory. Tied embeddings and
layers that share their weights come out of some exporters as copies, and so do the branches of a merged decoder.
Layers that should differ and do not were made as copies of one, and never trained.

What to do: run onnx_ir.passes.common.DeduplicateHashedInitializersPass over the model (pip install onnx-ir;
LiftConstantsToInitializersPass before it if they are in Constant nodes, LiftSubgraphInitializersToMainGraphPass if they
are in branches), or share the parameters before the export.

Only with --weights. Tensors are the same if type, dimensions and all their bytes are. Looked at are those of 16 KiB
or more; reported is what makes a tenth of the weights, or a hundredth and 1 MiB. Two names for one place in an external
file are no copies, and tensors that are all one value are not looked at.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.analysis.weights import Surveyed
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._weight_stats import named
from onnx_autodoc.text import memory, plural

SEVERITY: Final = Severity.NOTE
NEEDS_WEIGHTS: Final = True
_EACH: Final = 1 << 14
_TOGETHER: Final = 1 << 20


def check(case: Case) -> Iterator[Found]:
    groups = [group for group in _alike(case) if len(group) > 1]
    saved = sum((len(group) - 1) * (group[0].numbers.bytes or 0) for group in groups)
    if not _is_much(saved, case.facts.parameters.nbytes):
        return
    copies = tuple(each.numbers.name for group in groups for each in group[1:])
    firsts = tuple(group[0].numbers.name for group in groups)
    evidence = tuple(each.numbers.name for group in groups for each in group)
    tensors = plural(len(copies), "tensor is a copy", "tensors are copies")
    yield Found(f"{tensors} of {named(firsts)}, which costs {memory(saved)}", evidence)


def _is_much(saved: int, total: int) -> bool:
    return saved > 0 and (saved * 10 >= total or (saved >= _TOGETHER and saved * 100 >= total))


def _alike(case: Case) -> list[list[Surveyed]]:
    """Large tensors by content, of those at one place only the first."""
    groups: dict[tuple[object, ...], dict[object, Surveyed]] = {}
    for at, each in enumerate(case.weights.tensors if case.weights is not None else ()):
        numbers, place = each.numbers, each.place
        in_function = bool(each.owner) and isinstance(each.owner[0], tuple)  # sees no tensors of the graph around it
        if (numbers.bytes or 0) >= _EACH and numbers.sha256 and not numbers.constant and not in_function:
            where: object = (place.path, place.offset) if place is not None else at
            groups.setdefault((numbers.sha256, numbers.dtype, numbers.dims), {}).setdefault(where, each)
    return [list(group.values()) for group in groups.values()]
