"""An operator does not exist at the opset that the file says it is written in.

Why it matters: the file contradicts itself. Checkers and strict runtimes refuse it, and a runtime that knows an
operator of the same name from elsewhere may run something else than what was meant.

What to do: export again at an opset that has the operator; if it stands in the wrong domain (fused operators of
onnxruntime belong to com.microsoft), set the node's domain right with onnx.helper or onnx-graphsurgeon.

SimplifiedLayerNormalization in ai.onnx is onnxruntime's own: its optimizer writes it there, and it loads it, but
nobody else has to know it.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._runtimes import runtimes
from onnx_autodoc.lint._uses import Used
from onnx_autodoc.lint.experimental_operator import is_experimental
from onnx_autodoc.ops import specified
from onnx_autodoc.text import clean, named, plural

SEVERITY: Final = Severity.NOTE
_JUDGE: Final = "onnxruntime-cpu"
_REFUSED: Final = "does not load it"


def check(case: Case) -> Iterator[Found]:
    for use in case.uses:
        if use.opset is not None and _is_unknown(use):
            spots = (*use.spots, *use.aside)
            loads = _loads(use)
            yield Found(
                f"{named(use.key[1], 40)} ({plural(len(spots), 'node')}) {_why(use)}; onnxruntime {loads}",
                tuple(spot.path for spot in spots),
                severity=Severity.WARNING if loads == _REFUSED else None,
                about=clean(use.key[1], 40),
            )


def _is_unknown(use: Used) -> bool:
    domain, op = use.key
    if use.local or domain not in specified.SPECIFIED_DOMAINS or is_experimental(domain, op):
        return False
    first = specified.first_opsets().get(use.key)
    if use.opset is None:  # whether it is there yet cannot be told
        return first is None
    return use.opset <= specified.newest(domain) if first is None else use.opset < first


def _why(use: Used) -> str:
    first = specified.first_opsets().get(use.key)
    domain = use.key[0] or "ai.onnx"
    if first is None:
        return f"is no operator of {domain}"
    return f"came into {domain} with opset {first}, and the file is of opset {use.opset}"


def _loads(use: Used) -> str:
    if runtimes()[_JUDGE].takes(*use.key, use.opset):
        return "loads it nevertheless"
    return "loads it with its TensorRT provider alone" if use.key[1].endswith(specified.PLUGIN) else _REFUSED
