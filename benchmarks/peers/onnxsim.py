"""`onnxsim.simplify` with the recorded input sizes, then `ModelInfo` of the simplified model, as its command line
prints it: on this corpus that is right more often than `ModelInfo` of the original model. It counts MACs of products
only, as the reference does. For a dynamic dimension it returns a formula, which counts as no result. It counts no
parameters. It is installed with the extras that let it fold and infer more: onnxruntime, shape-inference, symbolic.
"""

import onnx
import onnxsim
from onnxsim.model_info import ModelInfo

from benchmarks.peers._contract import Figures, Shapes, Values, print_figures


def count(model: str, shapes: Shapes, values: Values) -> Figures:
    simplified, _ = onnxsim.simplify(onnx.load(model), overwrite_input_shapes=shapes)
    return Figures(macs=number(ModelInfo(simplified).macs))


def number(macs: object) -> int | None:
    """Return a number, plain or symbolic; None for a formula."""
    return int(str(macs)) if str(macs).isdigit() else None


if __name__ == "__main__":
    print_figures(count)
