"""The values of a run take several times the memory of the weights.

Why it matters: what decides here whether the model fits is the size of the data, not of the file: smaller weights save
next to nothing, and twice the batch takes nearly twice the memory.

What to do: run smaller batches, smaller pictures or a large one in tiles, or convert the values to float16, which
halves them (onnxconverter_common.float16.convert_float_to_float16). If the sizes that were assumed are not yours, ask
again with your own.

Reported where the peak is 64 MiB at least and four times the weights, under the convention of the card: nodes run in
file order, and a value is freed after its last reader. A runtime may need more for its own scratch memory, or less by
fusing.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._words import at_sizes
from onnx_autodoc.text import memory, three

SEVERITY: Final = Severity.INFO
_LEAST: Final = 64 << 20  # bytes
_TIMES: Final = 4  # the weights


def check(case: Case) -> Iterator[Found]:
    peak, weights = case.facts.memory.peak, case.facts.parameters.nbytes
    if peak is not None and weights and peak.nbytes >= max(_LEAST, _TIMES * weights):
        least = "at least " if case.facts.memory.unknown else ""
        times = f"{three(peak.nbytes / weights)} times the {memory(weights)} of weights"
        yield Found(f"activations peak at {least}{memory(peak.nbytes)}, {times}{at_sizes(case)}", (peak.node,))
