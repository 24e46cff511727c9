"""Pattern matching: the canonical net of a model, and the blocks found in it, small ones before large ones.

One file per family of blocks; `FAMILIES` is the order in which they are searched. To add a block, add a rule to its
family (or a file for a new family, with a line here) and a test with a few lines of graph text.
"""

from collections.abc import Callable, Sequence
from typing import Final

from onnx_autodoc.ir import Model
from onnx_autodoc.patterns import activations, block_kinds, norms
from onnx_autodoc.patterns.attention import find_attention
from onnx_autodoc.patterns.convolutions import BIAS_RULES, find_conv_blocks, find_spectra
from onnx_autodoc.patterns.embeddings import find_embeddings
from onnx_autodoc.patterns.feed_forward import find_experts, find_mlps
from onnx_autodoc.patterns.flatten import flatten
from onnx_autodoc.patterns.head import COMMON_CLASS_COUNTS, Head
from onnx_autodoc.patterns.net import Net, Op
from onnx_autodoc.patterns.output_heads import find_heads
from onnx_autodoc.patterns.recurrent import find_recurrent_cells
from onnx_autodoc.patterns.residuals import find_bypassed_ops, find_residuals
from onnx_autodoc.patterns.roles import find_roles
from onnx_autodoc.patterns.rules import apply_rules
from onnx_autodoc.shapes import Shapes

__all__ = [
    "COMMON_CLASS_COUNTS",
    "FAMILIES",
    "Head",
    "Net",
    "Op",
    "block_kinds",
    "find_blocks",
    "find_heads",
    "find_roles",
]

FAMILIES: Final[tuple[Callable[[Net], None], ...]] = (
    lambda net: apply_rules(net, (*BIAS_RULES, *norms.RULES, *activations.RULES)),
    find_attention,
    find_recurrent_cells,
    find_embeddings,
    find_spectra,
    find_mlps,
    find_conv_blocks,
    find_residuals,
    find_experts,
)


def find_blocks(model: Model, shapes: Shapes, is_counted: Sequence[bool]) -> Net:
    """Return the net of a model with its blocks. `is_counted`: by row, whether its cost is counted."""
    net = flatten(model, shapes, is_counted)
    for find in FAMILIES:
        find(net)
    net.residuals = find_bypassed_ops(net)
    return net
