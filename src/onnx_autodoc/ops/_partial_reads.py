"""The bytes of a node that touches only a part of some values: rows of a table, the used part of a cache."""

from collections.abc import Mapping, Sequence

from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._cost import nbytes
from onnx_autodoc.ops._known import Dim, Known, Unknown, like

Cuts = Mapping[int, tuple[int, Dim]]  # of an input or output: the axis, and how many at most are touched along it


def read_of(call: Call, cuts: Cuts) -> Dim:
    return _bytes(call.node.inputs, call.inputs, cuts)


def written_of(call: Call, cuts: Cuts) -> Dim:
    return _bytes(call.node.outputs, call.outputs, cuts)


def _bytes(names: Sequence[str], values: Sequence[Known | None], cuts: Cuts) -> Dim:
    """Each value once, however often the node names it."""
    found = {
        name: _cut(known, *cuts[at]) if at in cuts else known
        for at, (name, known) in enumerate(zip(names, values))
        if name and known is not None
    }
    return sum(map(nbytes, found.values()), start=0)


def _cut(known: Known, axis: int, most: Dim) -> Known:
    if known.shape is None or axis >= len(known.shape):
        return known
    whole = known.shape[axis]
    kept = most if isinstance(whole, Unknown) or isinstance(most, Unknown) else max(0, min(whole, most))
    return like(known, (*known.shape[:axis], kept, *known.shape[axis + 1 :]))
