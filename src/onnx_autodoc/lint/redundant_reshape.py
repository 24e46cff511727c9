"""A reshaping follows right after another one, whose shape nobody else reads.

Why it matters: the numbers stay in their order, so only the last shape counts. Most runtimes pay little for it, but
the pair hides patterns from optimizers and stands in the way of a reader.

What to do: let the second one read what the first one reads, with the final shape as its target; onnxsim joins such
pairs, and onnxscript.rewriter.rewrite those of two Reshape nodes.

Shape arithmetic, and masks and positions of up to 1,024 whole numbers, are left out. Reported where it surely works:
the second is a reshape to a target that copies no size from its input, or all sizes of the model are fixed.
"""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from onnx_autodoc.ir import is_float
from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._waste import is_static, outside_functions
from onnx_autodoc.ops import judged
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.INFO
_FEW: Final = 1024  # whole numbers: masks and positions


def check(case: Case) -> Iterator[Found]:
    static = is_static(case)
    found = [
        spot.path for spot in outside_functions(case, case.of(*sorted(judged.RESHAPERS))) if _is_followed(spot, static)
    ]
    if found:
        are = "is" if len(found) == 1 else "are"
        yield Found(f"{plural(len(found), 'reshaping')} {are} not needed before another one", tuple(found))


def _is_followed(spot: Spot, static: bool) -> bool:
    after = spot.only_reader()
    if after is None or after.node.domain or after.node.op not in judged.RESHAPERS:
        return False
    if spot.node.outputs[:1] != after.node.inputs[:1] or not spot.node.inputs:
        return False
    if spot.scope.is_fixed(spot.node.inputs[0]):
        return False
    known = after.output()
    if known is None or known.value is not None or known.concrete is None:
        return False
    if not is_float(known.dtype) and math.prod(known.concrete) <= _FEW:
        return False
    return static or _says_all(after)


def _says_all(spot: Spot) -> bool:
    """A target without zeros: each of them would be a size of the value that the first one made."""
    target = spot.input(1) if spot.node.op == judged.RESHAPE else None
    if target is None or target.value is None or target.value.dtype == object:
        return False
    return bool(np.all(target.value != 0))
