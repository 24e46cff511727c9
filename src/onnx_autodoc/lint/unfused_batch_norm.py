"""A batch normalization stands right after the convolution that could hold it.

Why it matters: with its statistics fixed, a batch normalization is a factor and an offset per channel, which fit into
the weights of the convolution or linear map before it. Left apart, every activation is read and written once more, and
quantizers that look at weights see the wrong ranges.

What to do: run onnxscript.rewriter.rewrite over the loaded model, or save what onnxruntime's basic optimization makes
of the file (SessionOptions.optimized_model_filepath; it leaves those behind a Gemm). An export in evaluation mode with
dynamo=True of torch.onnx.export folds them all, the older exporter those behind a Conv.

Not reported: normalizations in training mode or with numbers for each position (spatial=0), weights that a caller may
replace, and weights that are stored quantized, whose scales would have to follow.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint.training_mode import norm_trains
from onnx_autodoc.ops import judged
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.NOTE


def check(case: Case) -> Iterator[Found]:
    found = tuple(spot.path for spot in case.of(judged.BATCH_NORM) if _foldable(spot))
    if found:
        norms = plural(len(found), "batch normalization")
        yield Found(f"{norms} could be folded into the convolution or linear map before {_each(found)}", found)


def _each(found: tuple[str, ...]) -> str:
    return "it" if len(found) == 1 else "each"


def _foldable(spot: Spot) -> bool:
    """Only this node reads the convolution, and the numbers of both are constants."""
    before = next(spot.makers(), None)
    if before is None or before.node.domain or before.node.op not in judged.FOLDS_NORMS:
        return False
    numbers = [name for name in (*spot.node.inputs[1:], *before.node.inputs[1:]) if name]
    if norm_trains(spot) or not spot.node.attributes.get("spatial", 1):
        return False
    makers = (spot.scope.maker(name) for name in numbers)
    if any(maker is not None and maker.node.op in judged.QUANTIZERS for maker in makers):
        return False
    return all(map(spot.scope.is_fixed, numbers)) and before.only_reader() is spot
