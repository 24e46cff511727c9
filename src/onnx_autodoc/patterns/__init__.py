"""What a model is made of: blocks found in its graph, small ones before large ones.

One file for each family of blocks, its patterns as text; `FAMILIES` is the order in which they are sought. To add a
block, put a rule into its family (or a new family file, with a line here) and a few lines of text into its test.
"""

from collections.abc import Callable, Sequence
from typing import Final

from onnx_autodoc.ir import Model
from onnx_autodoc.patterns import _words as words
from onnx_autodoc.patterns import (
    activations,
    attention,
    convolutions,
    embeddings,
    experts,
    linears,
    mlps,
    norms,
    recurrent,
    skips,
    spectra,
)
from onnx_autodoc.patterns._flat import flatten
from onnx_autodoc.patterns._net import Net, Term
from onnx_autodoc.patterns._regions import regions
from onnx_autodoc.patterns._rule import apply
from onnx_autodoc.shapes import Shapes

__all__ = ["FAMILIES", "Net", "Term", "blocks", "words"]

FAMILIES: Final[tuple[Callable[[Net], None], ...]] = (
    lambda net: apply(net, linears.RULES),
    lambda net: apply(net, norms.RULES),
    lambda net: apply(net, activations.RULES),
    attention.find,
    recurrent.find,
    embeddings.find,
    spectra.find,
    mlps.find,
    convolutions.find,
    skips.find,
    experts.find,
)


def blocks(model: Model, shapes: Shapes, runs: Sequence[bool]) -> Net:
    """The net of a model with its blocks found. `runs` says of each row whether it is counted."""
    net = flatten(model, shapes, runs)
    for find in FAMILIES:
        find(net)
    net.skips = regions(net)
    return net
