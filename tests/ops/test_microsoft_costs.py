"""What onnxruntime's operators cost: numbers by hand, and what every price must keep to."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ir import Node, Tensor
from onnx_autodoc.ops import find, microsoft_decoding, microsoft_layout, microsoft_quantized
from onnx_autodoc.ops import microsoft as fused
from onnx_autodoc.ops.call import Call
from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.operator import ConstantRole, Operator
from onnx_autodoc.ops.values import InferenceError, Unknown, ValueInfo, unknown_value
from tests._corpus import MODELS, graph, infer_recorded
from tests.ops import test_microsoft as run_here
from tests.ops._arrays import half, single, small
from tests.ops._calls import Case, call_of, case_id, cost_of, hide_input_info, unknown_reason
from tests.ops.test_microsoft_layout import BLOCKED, EXTRAS, LAST, NCHWC, NHWC
from tests.ops.test_microsoft_schemas import SCHEMA_CASES

DOMAIN = "com.microsoft"
OURS = {**fused.OPERATORS, **microsoft_quantized.OPERATORS, **microsoft_layout.OPERATORS}
REAL = [
    "all-minilm-l6-v2-dynquant-int8",
    "all-minilm-l6-v2-int4-matmulnbits",
    "all-minilm-l6-v2-ortfused",
    "bert-base-qa-ortfused",
    "ddddocr-common-old",
    "mobilenetv2-qoperator-int8",
    "smollm2-135m-genai-int4",
]
SCALE, ZERO = single(), small()
SMALL = [SCALE, ZERO]
X = half(2, 3, 8)
LAST_PIXELS, KERNELS = half(1, 8, 9, 3), half(4, 3, 3, 3)


def cost(op: str, *inputs: Any, table: Mapping[str, Operator] = OURS, outputs: int = 1, **attributes: Any) -> Cost:
    return cost_of(table[op], Case(op, inputs, attributes, outputs), DOMAIN)


# numbers by hand
def test_moe_cost_covers_the_experts_of_each_row() -> None:
    case = [half(2, 3, 8), half(6, 4), half(4, 16, 8), half(4, 16), half(4, 8, 16)]
    visited = cost("MoE", *case, k=2)
    assert visited.macs == 6 * 2 * (16 * 8 + 8 * 16)
    routing, activations, biases, summed = 6 * 4 * (5 + 2), 12 * 16, 12 * 16, 12 * 2 * 8
    assert visited.other == routing + activations + biases + summed
    assert visited.read == sum(array.nbytes for array in case)  # twelve visits may reach all four experts


def test_single_row_reads_only_its_experts() -> None:
    case = [half(1, 8), half(1, 4), half(4, 32, 8), None, half(4, 8, 16)]
    visited = cost("MoE", *case, k=2, activation_type="swiglu", swiglu_fusion=1)
    assert visited.macs == 2 * (32 * 8 + 8 * 16)
    assert visited.read == 2 * (8 + 4 + 2 * (32 * 8 + 8 * 16))
    assert visited.other == 4 * (5 + 2) + 2 * 3 * 16 + 2 * 2 * 8


@pytest.mark.parametrize(("bits", "width"), [(4, 16), (2, 8), (8, 32)])
def test_packed_experts_multiply_their_unpacked_weights(bits: int, width: int) -> None:
    inputs = [half(6, 32), half(6, 2), small(2, 64, width), half(2, 64), None, small(2, 32, width * 2), half(2, 32)]
    assert cost("QMoE", *inputs, k=1, expert_weight_bits=bits).macs == 6 * (64 * 32 + 32 * 64)


def test_packed_table_reads_only_picked_rows() -> None:
    counted = cost("GatherBlockQuantized", small(9, 16), np.zeros((2, 3), np.int64), single(9, 1), block_size=32)
    assert (counted.macs, counted.other) == (0, 2 * 6 * 32)
    assert counted.read == 6 * 16 + 6 * 4 + 6 * 8


def test_embedding_tables_read_only_picked_rows() -> None:
    assert cost("EmbedLayerNormalization", *run_here.embed(), outputs=2).read == 4 * (2 * 6 + (6 + 6 + 2) * 8 + 2 * 8)
    assert cost("TorchEmbedding", half(9, 4), np.zeros((2, 3), np.int64)).read == 2 * 24 + 8 * 6


def test_blocked_convolution_cost_includes_padded_channels() -> None:
    blocked = microsoft_layout.NCHWC
    assert cost("Conv", single(1, 3, 8, 8), single(32, 3, 3, 3), table=blocked).macs == 32 * 36 * 27
    summed = [single(1, 16, 8, 8), single(16, 16, 1, 1), None, single(1, 16, 8, 8)]
    assert cost("Conv", *summed, table=blocked, activation="Relu").other == 2 * 16 * 64


def test_channels_last_cost_equals_channels_first_cost() -> None:
    last = microsoft_layout.NHWC
    assert cost("Conv", LAST_PIXELS, KERNELS, table=last, activation="Relu").other == 4 * 6 * 7
    assert cost("InstanceNormalization", LAST_PIXELS, half(3), half(3), table=last).other == 7 * 216 + 4 * 3
    assert cost("MaxPool", LAST_PIXELS, table=last, kernel_shape=[2, 2]).other == 4 * 3 * 7 * 8
    small_pool = cost("QLinearGlobalAveragePool", small(1, 8, 9, 3), *SMALL, *SMALL, table=last)
    assert small_pool.other == 3 * 72 + 3 + 3 * 3
    grown = [small(1, 8, 9, 3), *SMALL, small(3, 4, 3, 3), *SMALL, *SMALL, np.zeros(4, np.int32)]
    assert cost("QLinearConvTranspose", *grown, table=last) == Cost(216 * 36, (1 + 3) * 4 * 10 * 11)


def test_other_operators_cost_their_formula() -> None:
    assert cost("Inverse", single(5, 3, 3)).other == 5 * (2 * 27 - 2 * 9 + 3)
    assert cost("CDist", single(3, 4), single(5, 4), metric="euclidean").other == 15 * (3 * 4 + 1)
    assert cost("ComplexMul", half(2, 3, 2), half(3, 2)).other == 6 * 6
    assert cost("Rfft", half(2, 3, 8)).other == cost("Irfft", half(2, 3, 5, 2)).other == 6 * 5 * 8 * 3 // 2
    assert cost("IsAllFinite", half(2), half(3)).other == 5
    assert cost("CropAndResize", half(1, 2, 8, 8), half(3, 4), small(3), np.array([4, 5])).other == 3 * 2 * 20 * 7
    assert cost("QLinearConcat", *SMALL, small(2, 3), *SMALL, small(2, 4), *SMALL, axis=1).other == 5 * 14
    assert cost("QLinearReduceMean", small(2, 3, 4), *SMALL, *SMALL, axes=[1], keepdims=0).other == 24 + 8 + 3 * 8
    assert cost("MulInteger", small(2, 3), ZERO, small(3)).other == 12
    assert cost("MaxpoolWithMask", single(1, 2, 8, 8), small(1, 2, 8, 8), kernel_shape=[3, 3]).other == 2 * 9 * 72


def test_operators_without_cpu_kernel_cost_their_formula() -> None:
    tokens, ordered = half(2, 3, 64), small(2, 3, 8, dtype=np.int8)
    fp8 = cost("MatMulBlockQuantizedFp8Weight", tokens, small(10, 64), single(10, 1), single(), half(10))
    assert fp8 == Cost(6 * 64 * 10, 6 * 10 + 3 * 6 * 64)
    matrix = [small(8, 16, dtype=np.int8), single(), single(), single(16), small(2, 3, 16, dtype=np.int8), single()]
    assert cost("QOrderedMatMul", ordered, single(), *matrix) == Cost(6 * 8 * 16, 6 * 16 * (2 + 1 + 2))
    assert cost("QOrderedGelu", ordered, single(), single()).other == 48 * (1 + 5 + 2)
    norm = cost("QOrderedLayerNormalization", ordered, single(), half(8), half(8), single())
    assert norm.other == 48 * (1 + 7 + 2) + 6 * 4
    assert cost("ReduceSumInteger", small(2, 3), axes=[1]).other == 6
    assert cost("BitmaskDropout", X, outputs=2) == Cost()
    trained = [X, half(8), None, single(), np.array(True)]
    assert cost("BitmaskBiasDropout", *trained, outputs=2).other == 48 * (1 + 3)


def test_unspecified_operators_cost_their_formula() -> None:
    extras = microsoft_decoding.UNSPECIFIED
    assert cost("GRUUnit", single(2, 4), single(2, 12), table=extras).other == 6 * 8
    assert cost("DisentangledAttention_TRT", *[single(2, 3, 3)] * 3, table=extras).other == 3 * 18
    regions = [single(1, 5, 4), *[single(1, 8, 9, 9)] * 4]
    assert cost("MultilevelCropAndResize_TRT", *regions, table=extras, pooled_size=7).other == 7 * 5 * 8 * 49
    assert cost("MemcpyToHost", X, table=extras) == Cost()
    assert "the number of samples per region" in unknown_reason(
        cost("PyramidROIAlign_TRT", *regions, table=extras, pooled_size=7)
    )


def test_data_movement_has_no_arithmetic() -> None:
    assert cost("ExpandDims", half(2, 3), np.array(1, np.int32)) == Cost(read=0, written=0)
    assert cost("Trilu", X) == cost("UnfoldTensor", X, size=2) == Cost()


def test_cost_that_shapes_do_not_determine_is_not_counted() -> None:
    with pytest.raises(InferenceError, match="SparseToDenseMatMul"):
        cost("SparseToDenseMatMul", *[half(4, 4)] * 2)
    assert all(op in unknown_reason(cost(op, half(4, 4))) for op in ("MurmurHash3", "Unique"))


def test_unknown_activation_is_not_counted() -> None:
    with pytest.raises(InferenceError, match="Magic"):
        cost("FusedConv", half(1, 3, 8, 9), KERNELS, activation="Magic")


# packed weights
@pytest.mark.parametrize(
    ("op", "at", "weight", "attributes", "packed"),
    [
        ("MatMulNBits", 1, ("uint8", 10, 2, 16), {"K": 60, "N": 10}, ("int4", 600)),
        ("MatMulNBits", 1, ("uint8", 10, 2, 32), {"K": 64, "N": 10, "bits": 8}, ("int8", 640)),
        ("MatMulNBits", 1, ("uint8", 10, 2, 16), {"K": 10**9, "N": 10}, ("int4", 640)),
        ("MatMulNBitsQkv", 6, ("uint8", 6, 2, 16), {"K": 64, "Nq": 10, "Nkv": 6}, ("int4", 384)),
        ("MatMulBnb4", 1, ("uint8", 320), {"K": 64, "N": 10}, ("fp4", 640)),
        ("MatMulBnb4", 1, ("uint8", 320), {"K": 64, "N": 10, "quant_type": 1}, ("nf4", 640)),
        ("MatMulFpQ4", 1, ("uint8", 400), {}, ("int4", 640)),
        ("MatMulFpQ4", 1, ("uint8", 360), {"blk_quant_type": 2}, ("int4", 640)),
        ("MatMulBlockQuantizedFp4Weight", 1, ("uint8", 10, 32), {}, ("float4e2m1", 640)),
        ("GatherBlockQuantized", 0, ("uint8", 9, 16), {}, ("int4", 288)),
        ("GatherBlockQuantized", 0, ("uint8", 9, 16), {"bits": 2}, ("int2", 576)),
        ("GatherBlockQuantized", 0, ("uint4", 9, 32), {"bits": 4}, ("uint4", 288)),
        ("QMoE", 2, ("uint8", 2, 64, 16), {}, ("int4", 4096)),
        ("QMoE", 5, ("uint8", 2, 64, 16), {"fc2_expert_weight_bits": 2}, ("int2", 8192)),
        ("QMoE", 8, ("float8e4m3fn", 2, 64, 32), {"quant_type": "fp8"}, ("float8e4m3fn", 4096)),
        ("MatMulNBits", 1, ("uint8", 10, 2, 16), {"bits": 0, "K": "many"}, ("int4", 640)),
    ],
)
def test_packed_weight_has_more_elements_than_bytes(
    op: str, at: int, weight: tuple[Any, ...], attributes: dict[str, Any], packed: tuple[str, int]
) -> None:
    dtype, *dims = weight
    unpacked = OURS[op].packed[at](Node(op, attributes=attributes), Tensor("w", dtype, tuple(dims)))
    assert (unpacked.dtype, unpacked.elements) == packed


def test_scales_and_weights_have_their_roles() -> None:
    assert OURS["QLinearConcat"].roles.keys() & set(range(11)) == {0, 1, 3, 4, 6, 7, 9, 10}
    assert OURS["QGemm"].roles[6] is ConstantRole.WEIGHT and OURS["QGemm"].roles[4] is ConstantRole.QUANTIZATION
    assert OURS["MatMulNBits"].roles == dict.fromkeys((2, 3), ConstantRole.QUANTIZATION)


@pytest.mark.parametrize("name", REAL)
def test_real_model_macs_equal_the_recorded_macs(name: str) -> None:
    steps = [step for _, step in infer_recorded(graph(name), name).rows()]
    counted = [
        _cost(find(step.node.domain, step.node.op), Call(step.node, step.inputs, 17), step.outputs) for step in steps
    ]
    assert 2 * sum(each.macs for each in counted) == MODELS[name]["flops_2mac"]


# every entry, and every use of it
FAMILIES = {
    **{f"{DOMAIN}.{name}": entry for name, entry in OURS.items()},
    **{f"{BLOCKED}.{name}": entry for name, entry in microsoft_layout.NCHWC.items()},
    **{f"{LAST}.{name}": entry for name, entry in microsoft_layout.NHWC.items()},
    **{f"ai.onnx.{name}": entry for name, entry in microsoft_decoding.UNSPECIFIED.items()},
}
USES = [
    *((OURS[case.op], case, DOMAIN) for case in run_here.CASES if case.op in OURS),
    *((OURS[case.op], case, DOMAIN) for case, _ in SCHEMA_CASES if case.op in OURS),
    *((microsoft_layout.NCHWC[case.op], case, BLOCKED) for case in NCHWC),
    *((microsoft_layout.NHWC[case.op], case, LAST) for case, _ in NHWC),
    *((microsoft_decoding.UNSPECIFIED[case.op], case, "") for case in EXTRAS),
]


@pytest.mark.parametrize(("entry", "case", "domain"), USES, ids=[case_id(case) for _, case, _ in USES])
def test_cost_with_unknown_inputs_is_equal_or_unknown(entry: Operator, case: Case, domain: str) -> None:
    whole, inferred = _cost(entry, call_of(case, domain), None), entry.infer(call_of(case, domain))
    for inputs in hide_input_info(case):
        call = call_of(case, domain, inputs)
        for outputs in (inferred, None, [unknown_value("hidden")] * len(inferred)):
            partial = _cost(entry, call, outputs)
            assert _agree(partial.macs, whole.macs) and _agree(partial.other, whole.other), inputs


def _cost(entry: Operator | None, call: Call, outputs: Any) -> Cost:
    """Return the cost of a node with these outputs, or with inferred ones; unknown if that is a gap."""
    assert entry is not None and entry.cost is not None
    try:
        known: list[ValueInfo] = list(entry.infer(call) if outputs is None else outputs)
        return entry.cost(Call(call.node, call.inputs, call.version, known))
    except InferenceError as gap:
        return Cost(Unknown(str(gap)), Unknown(str(gap)))


def _agree(partial: object, truth: object) -> bool:
    return isinstance(partial, Unknown) or partial == truth
