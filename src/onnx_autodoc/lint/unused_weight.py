"""The file holds weights that no node reads.

Why it matters: they are shipped, loaded and held in memory for nothing. Often they are left over from a part that was
cut off, or from a conversion that wrote a second copy; then the file is larger than the model.

What to do: remove them: onnxruntime's offline optimization (SessionOptions.optimized_model_filepath) and onnxsim
write the model without them, and onnxscript.optimizer.remove_unused_nodes takes them out of a loaded one.

Reported are initializers, in the main graph and in inner ones, that are read by no node at any depth and are no
output. It is a note from 1 KiB and one percent of all bytes in initializers on. A file with a training part is not
judged, since that may read them.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import Graph, Tensor, all_graphs, needed_names
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.text import memory, percent, plural

SEVERITY: Final = Severity.NOTE
_WORTH: Final = 0.01  # of all initializers' bytes
_SMALL: Final = 1 << 10  # bytes: of them, no share is worth a change


def check(case: Case) -> Iterator[Found]:
    if case.model.training:
        return
    graphs = list(all_graphs(case.model))
    found = [tensor for graph in graphs for tensor in _unread(graph)]
    if found:
        held, whole = _nbytes(found), _nbytes([tensor for graph in graphs for tensor in graph.initializers])
        share = held / whole if whole else 0.0
        size = "" if any(tensor.nbytes is None for tensor in found) else f" with {memory(held)}"  # texts have none
        message = f"{plural(len(found), 'initializer')}{size} {_are(found)} read by no node"
        told = f" ({percent(share)} of all)" if held and size else ""
        severity = Severity.NOTE if share >= _WORTH and held >= _SMALL else Severity.INFO
        yield Found(message + told, tuple(tensor.name for tensor in found), severity=severity)


def _unread(graph: Graph) -> list[Tensor]:
    left = {tensor.name for tensor in graph.initializers} - {value.name for value in graph.outputs}
    for node in graph.nodes:
        left.difference_update(needed_names(node))
        if not left:
            return []
    return [tensor for tensor in graph.initializers if tensor.name in left]


def _nbytes(tensors: list[Tensor]) -> int:
    return sum(tensor.nbytes or 0 for tensor in tensors)


def _are(found: list[Tensor]) -> str:
    return "is" if len(found) == 1 else "are"
