"""What a runner of this shelf is: a file that runs inside its tool's own environment and prints one line of JSON.

`python -m benchmarks.peers.NAME MODEL SHAPES VALUES` → `{"macs": …, "params": …}`, with null for what the tool does not
say. The first lines of a runner's file say how the tool was asked; they are copied into the scoreboard.
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

# The operators whose multiply-adds the recorded truth counts. A tool that prices element-wise work too is compared on
# its rows of these.
PRODUCTS = frozenset(CONVOLUTIONS + MATRICES + PACKED_MATRICES + RECURRENT + ATTENTION)


class Answer(NamedTuple):
    macs: int | None = None
    params: int | None = None


def answer(count: Callable[[str, Shapes, Values], Answer]) -> None:
    """Asks the tool; whatever it prints goes to stderr, and its failure is said in one line."""
    model, shapes, values = sys.argv[1:]
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found = count(model, json.loads(shapes), json.loads(values))
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {' '.join(str(error).split())}")
    print(json.dumps(found._asdict()))
