"""The contract of runners: modules that run inside the environment of a tool and print one line of JSON.

`python -m benchmarks.peers.NAME MODEL SHAPES VALUES` → `{"macs": …, "params": …}`, with null for a figure that the tool
does not report. The docstring of a runner describes how it runs the tool; it is copied into the scoreboard.
"""

import contextlib
import json
import sys
from collections.abc import Callable
from typing import NamedTuple

Shapes = dict[str, list[int]]
Values = dict[str, int]

CONVOLUTIONS = ("Conv", "ConvInteger", "ConvTranspose", "DeformConv", "FusedConv", "QLinearConv")
MATRICES = ("Einsum", "FusedGemm", "FusedMatMul", "Gemm", "MatMul", "MatMulInteger", "MatMulIntegerToFloat")
PACKED_MATRICES = ("DynamicQuantizeMatMul", "MatMulNBits", "QGemm", "QLinearMatMul")
RECURRENT = ("DynamicQuantizeLSTM", "GRU", "LSTM", "RNN")
ATTENTION = ("Attention", "GroupQueryAttention", "MultiHeadAttention", "QAttention")

# The operators whose MACs the reference values count. A tool that also counts element-wise work is compared on these.
PRODUCTS = frozenset(CONVOLUTIONS + MATRICES + PACKED_MATRICES + RECURRENT + ATTENTION)


class Figures(NamedTuple):
    macs: int | None = None
    params: int | None = None


def print_figures(count: Callable[[str, Shapes, Values], Figures]) -> None:
    """Run the tool and print its figures. Its own output goes to stderr; a failure is one line."""
    model, shapes, values = sys.argv[1:]
    try:
        with contextlib.redirect_stdout(sys.stderr):
            figures = count(model, json.loads(shapes), json.loads(values))
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {' '.join(str(error).split())}")
    print(json.dumps(figures._asdict()))
