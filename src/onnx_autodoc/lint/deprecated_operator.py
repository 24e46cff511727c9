"""An operator is deprecated at the opset of this model.

Why it matters: the specification took the operator back at that opset. Checkers and strict runtimes refuse the file:
onnxruntime does not load an Upsample from opset 10 on, nor a Scatter from opset 11 on.

What to do: export again with a current exporter, which writes the operator that replaced it (at this opset, of
GroupNormalization at 21 or newer); or set the
file's opset back to the last that has it, if no other node needs a newer one, and let
onnx.version_converter.convert_version bring it up.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._runtimes import runtimes
from onnx_autodoc.ops import specified
from onnx_autodoc.text import clean, named, plural

SEVERITY: Final = Severity.NOTE
_JUDGE: Final = "onnxruntime-cpu"


def check(case: Case) -> Iterator[Found]:
    for use in case.uses:
        span, instead = specified.DEPRECATED.get(use.key, (range(0), ""))
        if use.local or use.opset not in span:
            continue
        spots = (*use.spots, *use.aside)
        refused = runtimes()[_JUDGE].takes(*use.key, use.opset) is False
        what = f"{named(use.key[1])} ({plural(len(spots), 'node')}) is deprecated at opset {use.opset}"
        there = ", and onnxruntime refuses it there" if refused else ""
        yield Found(
            f"{what}{there}: {instead}{',' if ',' in instead else ''} takes its place",
            tuple(spot.path for spot in spots),
            severity=Severity.WARNING if refused else None,
            about=clean(use.key[1]),
        )
