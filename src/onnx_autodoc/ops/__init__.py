"""What the tool knows of each operator: one table of small pure functions per family.

To add an operator, put a line into its family's `OPERATORS` (or a new family file, with a line in `_TABLES`) and a case
into its test. The walk knows no operator, and an operator knows no walk. Control flow (If, Loop, Scan, SequenceMap) is
the walk's own business, in `resolve`.
"""

from typing import Final

from onnx_autodoc.ops import (
    _judged as judged,
)
from onnx_autodoc.ops import (
    _kinds as kinds,
)
from onnx_autodoc.ops import (
    _ort_kernels as paces,
)
from onnx_autodoc.ops import (
    _specified as specified,
)
from onnx_autodoc.ops import (
    attention,
    constant,
    convolution,
    elementwise,
    image,
    indexing,
    loss,
    matmul,
    microsoft,
    microsoft_attention,
    microsoft_decoding,
    microsoft_extras,
    microsoft_layout,
    microsoft_quantized,
    microsoft_state,
    ml,
    normalization,
    pooling,
    quantization,
    random,
    recurrent,
    reduction,
    reshaping,
    sequence,
    signal,
    slicing,
    text,
    training,
)
from onnx_autodoc.ops._call import Call, axis_of
from onnx_autodoc.ops._classes import LIGHT, WorkClass, work_class
from onnx_autodoc.ops._cost import Cost, Price, nbytes
from onnx_autodoc.ops._elements import MAX_ELEMENTS, fits, numpy_dtype
from onnx_autodoc.ops._formats import DEQUANTIZE, DYNAMIC, QOPERATOR, QUANTIZE
from onnx_autodoc.ops._impossible import impossible, miscarried, misplaced
from onnx_autodoc.ops._known import (
    MOST_DIMS,
    Array,
    Contradiction,
    Dim,
    Known,
    NotKnown,
    Shape,
    Unknown,
    dims_text,
    merge_dims,
    nothing,
)
from onnx_autodoc.ops._op_schema import misfits
from onnx_autodoc.ops._operator import Cached, Operator, Packed, Part
from onnx_autodoc.ops.constant import known_tensor

__all__ = [
    "DEQUANTIZE",
    "DYNAMIC",
    "LIGHT",
    "MAX_ELEMENTS",
    "MOST_DIMS",
    "QOPERATOR",
    "QUANTIZE",
    "TABLES",
    "Array",
    "Cached",
    "Call",
    "Contradiction",
    "Cost",
    "Dim",
    "Known",
    "NotKnown",
    "Operator",
    "Packed",
    "Part",
    "Price",
    "Shape",
    "Unknown",
    "WorkClass",
    "axis_of",
    "dims_text",
    "find",
    "fits",
    "impossible",
    "judged",
    "kinds",
    "known_tensor",
    "merge_dims",
    "miscarried",
    "misfits",
    "misplaced",
    "nbytes",
    "nothing",
    "numpy_dtype",
    "paces",
    "specified",
    "work_class",
]

# domain -> the tables of its families
TABLES: Final[dict[str, tuple[dict[str, Operator], ...]]] = {
    "": (
        attention.OPERATORS,
        constant.OPERATORS,
        convolution.OPERATORS,
        elementwise.OPERATORS,
        image.OPERATORS,
        indexing.OPERATORS,
        loss.OPERATORS,
        matmul.OPERATORS,
        normalization.OPERATORS,
        pooling.OPERATORS,
        quantization.OPERATORS,
        random.OPERATORS,
        recurrent.OPERATORS,
        reduction.OPERATORS,
        reshaping.OPERATORS,
        sequence.OPERATORS,
        signal.OPERATORS,
        slicing.OPERATORS,
        text.OPERATORS,
        microsoft_extras.ONNX_EXTRAS,
    ),
    "ai.onnx.ml": (ml.OPERATORS,),
    "ai.onnx.preview": (training.PREVIEW,),
    "ai.onnx.preview.training": (training.OPERATORS,),
    "com.microsoft": (
        microsoft.OPERATORS,
        microsoft_attention.OPERATORS,
        microsoft_decoding.OPERATORS,
        microsoft_layout.OPERATORS,
        microsoft_quantized.OPERATORS,
        microsoft_state.OPERATORS,
    ),
    "com.microsoft.nchwc": (microsoft_layout.NCHWC,),
    "com.ms.internal.nhwc": (microsoft_layout.NHWC,),
}
_BY_NAME: Final = {
    (domain, op): entry for domain, tables in TABLES.items() for table in tables for op, entry in table.items()
}


def find(domain: str, op: str) -> Operator | None:
    """The entry of an operator, or None for one that the tool does not know."""
    return _BY_NAME.get((domain, op))
