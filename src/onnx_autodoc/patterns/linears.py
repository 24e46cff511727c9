"""Linear maps and convolutions with the bias that exporters put beside them, and learned scales after them.

A bias is a constant that spans one axis; a table that spans two is added positions.
"""

import math
from typing import Final

from onnx_autodoc.patterns._net import Fact, Net
from onnx_autodoc.patterns._pattern import Match
from onnx_autodoc.patterns._rule import Rule


def _is_bias(net: Net, found: Match) -> dict[str, Fact] | None:
    dims = net.shape(found["B"])
    wide = next((term.facts["to"] for term in found.terms if "to" in term.facts), None)
    return {"biased": True} if dims is not None and max(dims, default=1) == math.prod(dims) == wide else None


RULES: Final = (
    Rule("linear", ("l = linear(x, W)\ny = Add(l, B)",), _is_bias, whole=True),
    Rule("conv", ("c = conv(x, W)\ny = Add(c, B)",), _is_bias, whole=True),
)
