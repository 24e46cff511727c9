"""The layouts of onnxruntime's own domains, and the operators that it adds to the domain of ONNX."""

import numpy as np
import pytest

from onnx_autodoc.ops import microsoft_decoding, microsoft_layout
from onnx_autodoc.ops.values import Unknown
from tests.ops._arrays import half, halves, single, small
from tests.ops._calls import (
    Case,
    Expected,
    assert_as_inferred,
    assert_as_run,
    assert_survives_any_rank,
    call_of,
    case_id,
    floats,
    list_ort_operators,
    run,
)

BLOCKED = "com.microsoft.nchwc"
LAST = "com.ms.internal.nhwc"

NCHWC = [
    *(Case("ReorderInput", [floats(1, channels, 4, 5)]) for channels in (16, 32, 12)),
    Case("ReorderInput", [floats(1, 4, 5, 32)], {"channels_last": 1}),
    # blocks are of 8 or 16 channels, as the processor has it: both fill these
    Case("ReorderOutput", [floats(1, 32, 4, 5)], {"channels": 28}),
    Case("ReorderOutput", [floats(1, 32, 4, 5)], {"channels": 28, "channels_last": 1}),
    Case("Conv", [floats(1, 32, 8, 8), floats(48, 32, 3, 3)]),
    Case("Conv", [floats(1, 3, 8, 8), floats(32, 3, 3, 3)], {"pads": [1, 1, 1, 1]}),
    Case("Conv", [floats(1, 32, 8, 8), floats(32, 1, 3, 3)], {"group": 32}),
    Case("MaxPool", [floats(1, 32, 8, 8)], {"kernel_shape": [2, 2], "strides": [2, 2]}),
    Case("AveragePool", [floats(1, 32, 8, 8)], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    Case("GlobalAveragePool", [floats(1, 32, 8, 8)]),
    Case("GlobalMaxPool", [floats(1, 32, 8, 8)]),
    Case("Upsample", [floats(1, 32, 4, 4)], {"scales": [1, 1, 2, 3]}),
]

EXTRAS = [
    Case("SimplifiedLayerNormalization", [floats(2, 3, 8), floats(8)], outputs=2, opset=21),
    Case("SimplifiedLayerNormalization", [floats(2, 3, 8), floats(3, 8)], {"axis": 1}, 2, opset=21),
    Case("SimplifiedLayerNormalization", [floats(2, 3, 8), floats(8, dtype=np.float16)], outputs=2, opset=21),
    Case("DynamicSlice", [floats(9, 8), np.array([1]), np.array([5])]),
]

NHWC: list[tuple[Case, Expected]] = [
    (Case(op, [half(*shape) for shape in inputs], attributes, opset=19), halves(result))
    for op, inputs, attributes, result in (
        ("Conv", [(1, 8, 9, 3), (4, 3, 3, 3)], {}, (1, 6, 7, 4)),
        ("ConvTranspose", [(1, 8, 9, 3), (3, 4, 3, 3)], {}, (1, 10, 11, 4)),
        ("MaxPool", [(1, 8, 9, 3)], {"kernel_shape": [2, 2]}, (1, 7, 8, 3)),
        ("AveragePool", [(1, 8, 9, 3)], {"kernel_shape": [2, 3]}, (1, 7, 7, 3)),
        ("LpPool", [(1, 8, 9, 3)], {"kernel_shape": [2, 2]}, (1, 7, 8, 3)),
        ("GlobalAveragePool", [(1, 8, 9, 3)], {}, (1, 1, 1, 3)),
        ("GlobalMaxPool", [(1, 8, 9, 3)], {}, (1, 1, 1, 3)),
        ("GlobalLpPool", [(1, 8, 9, 3)], {}, (1, 1, 1, 3)),
        ("DepthToSpace", [(1, 8, 9, 8)], {"blocksize": 2}, (1, 16, 18, 2)),
        ("SpaceToDepth", [(1, 8, 10, 3)], {"blocksize": 2}, (1, 4, 5, 12)),
        ("BatchNormalization", [(1, 8, 9, 3), (3,), (3,), (3,), (3,)], {}, (1, 8, 9, 3)),
        ("InstanceNormalization", [(1, 8, 9, 3), (3,), (3,)], {}, (1, 8, 9, 3)),
        ("LRN", [(1, 8, 9, 3)], {"size": 3}, (1, 8, 9, 3)),
        ("GridSample", [(1, 8, 9, 3), (1, 4, 5, 2)], {}, (1, 4, 5, 3)),
    )
]
NHWC.append(
    (
        Case("Resize", [half(1, 8, 9, 3), None, np.array([1, 2, 3, 1], np.float32)], opset=19, fixed=[2]),
        halves((1, 16, 27, 3)),
    )
)
QUANTISED_NHWC = [small(1, 8, 9, 3), single(), small(), small(4, 3, 3, 3), single(), small(), single(), small()]
NHWC.append((Case("QLinearConv", QUANTISED_NHWC, opset=19), [("uint8", (1, 6, 7, 4))]))
POOLED_NHWC = [small(1, 8, 9, 3), single(), small(), single(), small()]
NHWC.append((Case("QLinearAveragePool", POOLED_NHWC, {"kernel_shape": [2, 2]}, opset=19), [("uint8", (1, 7, 8, 3))]))


@pytest.mark.parametrize("case", NCHWC, ids=case_id)
def test_blocked_layout_shape_equals_the_shape_of_a_run(case: Case) -> None:
    assert_as_run(microsoft_layout.NCHWC[case.op].infer, case, BLOCKED)
    assert_survives_any_rank(microsoft_layout.NCHWC[case.op].infer, case, BLOCKED)


@pytest.mark.parametrize("channels", [4, 20, 24])
def test_padded_channel_count_is_unknown(channels: int) -> None:
    case = Case("ReorderInput", [floats(1, channels, 4, 5)])
    (inferred,) = microsoft_layout.NCHWC["ReorderInput"].infer(call_of(case, BLOCKED))
    assert inferred.shape is not None and isinstance(inferred.shape[1], Unknown)
    (real,) = run(case, BLOCKED)
    assert real.shape[1] in {-(-channels // block) * block for block in (8, 16)}


@pytest.mark.parametrize(("case", "expected"), NHWC, ids=[case_id(case) for case, _ in NHWC])
def test_channels_last_shape_equals_onnxruntime_inference(case: Case, expected: Expected) -> None:
    assert_as_inferred(microsoft_layout.NHWC[case.op].infer, case, LAST, expected)


@pytest.mark.parametrize("case", EXTRAS, ids=case_id)
def test_unspecified_operator_shape_equals_the_shape_of_a_run(case: Case) -> None:
    assert_as_run(microsoft_decoding.UNSPECIFIED[case.op].infer, case, "")
    assert_survives_any_rank(microsoft_decoding.UNSPECIFIED[case.op].infer, case, "")


def test_every_layout_operator_has_a_rule() -> None:
    assert not list_ort_operators(BLOCKED) - microsoft_layout.NCHWC.keys()
    assert list_ort_operators(LAST) - microsoft_layout.NHWC.keys() <= {
        "MaxUnpool"
    }  # its indices have no documented layout
