"""Branches or loops stay in the graph.

Why it matters: engines that compile ahead of time (TensorRT, OpenVINO, CoreML, QNN) take none of it, or only some;
the rest runs on the host, and each pass or decision waits for data to come back from the device.

What to do: decide in the exporting code what need not be decided at run time (a plain Python branch or a loop of
fixed length is written out by torch.onnx.export when it traces), use an operator that holds the recurrence (LSTM,
GRU), or split the model and keep the loop in the program that calls it.

A branch whose condition hangs on sizes and constants alone is listed apart, where these sizes decide it: it goes away
as soon as the sizes are fixed. What stands inside branches that are not taken is not listed.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._words import by_operator
from onnx_autodoc.ops import judged, kinds
from onnx_autodoc.shapes import open_axes
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.NOTE
_FIX: Final = "Fix the open sizes (python -m onnxruntime.tools.make_dynamic_shape_fixed), then fold"
_FOLD: Final = (
    " the conditions with onnxsim or save what onnxruntime's basic optimization makes of the file "
    "(SessionOptions.optimized_model_filepath)."
)


def check(case: Case) -> Iterator[Found]:
    found = [spot for spot in case.of(*judged.CONTROL) if spot.scope.runs]
    decided = [spot for spot in found if _is_decided(spot) and case.settled.holds(spot.scope, spot.node.inputs[0])]
    apart = {id(spot) for spot in decided}
    real = [spot for spot in found if id(spot) not in apart]
    if real:
        stay = "stays" if len(real) == 1 else "stay"
        message = f"{plural(len(real), 'node')} of control flow {stay} in the graph: {by_operator(real)}"
        yield Found(message, tuple(spot.path for spot in real))
    if decided:
        does = "has a condition" if len(decided) == 1 else "have conditions"
        message = f"{plural(len(decided), 'branching')} {does} that sizes and constants alone decide"
        do = (_FIX if open_axes(case.model) else "Fold") + _FOLD
        yield Found(message, tuple(spot.path for spot in decided), do=do, about="conditions of sizes")


def _is_decided(spot: Spot) -> bool:
    known = spot.input(0)
    return (
        spot.node.op == kinds.BRANCH and known is not None and known.value is not None and known.value.dtype != object
    )
