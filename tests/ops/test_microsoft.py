"""The operators of com.microsoft that onnxruntime runs on a processor: rule against run."""

import numpy as np
import pytest

from onnx_autodoc.ops import (
    microsoft,
    microsoft_attention,
    microsoft_decoding,
    microsoft_layout,
    microsoft_quantized,
    microsoft_state,
)
from tests.ops._calls import Case, assert_as_run, assert_survives_any_rank, case_id, floats, ints

DOMAIN = "com.microsoft"
TABLES = (microsoft, microsoft_attention, microsoft_decoding, microsoft_layout, microsoft_quantized, microsoft_state)
OPERATORS = {name: entry for table in TABLES for name, entry in table.OPERATORS.items()}


def numbers(*items: float, dtype: type = np.int32) -> np.ndarray:
    return np.array(items, dtype)


def bytes_(*shape: int, dtype: type = np.uint8) -> np.ndarray:
    return ints(*shape, below=100, dtype=dtype)


SCALE, ZERO = np.array(0.1, np.float32), np.array(3, np.uint8)
IN, OUT = (SCALE, ZERO), (SCALE, ZERO)
SIGNED = (SCALE, np.array(3, np.int8))
TWO = {"num_heads": 4, "kv_num_heads": 2}


def group_query_case(batch: int, new: int, past: int | None, total: int, packed: bool = False, **more: int) -> Case:
    query, key = floats(batch, new, 64 if packed else 32), None if packed else floats(batch, new, 16)
    caches = [None if past is None else floats(batch, 2, past, 8) for _ in range(2)]
    lengths = np.full(batch, total - 1, np.int32)
    outputs = 4 if more.get("qk_output") else 3
    return Case("GroupQueryAttention", [query, key, key, *caches, lengths, numbers(total)], {**TWO, **more}, outputs)


def attention(weights: int, past: int | None = None, **more: object) -> Case:
    cache = None if past is None else floats(2, 2, 4, past, 8)
    inputs = [floats(2, 3, 32), floats(32, weights), floats(weights), None, cache]
    return Case("Attention", inputs, {"num_heads": 4, **more}, 2)


def quantized_attention_case(*past: object) -> Case:
    inputs = [bytes_(2, 3, 16), bytes_(16, 48), floats(48), SCALE, SCALE, None, ZERO, ZERO, *past]
    return Case("QAttention", inputs, {"num_heads": 4}, 2)


def multi_head_case(*inputs: object, outputs: int = 4) -> Case:
    return Case("MultiHeadAttention", inputs, {"num_heads": 4}, outputs, free=[3])


def embed(*more: object) -> list[object]:
    table = [floats(20, 8), floats(10, 8), floats(2, 8), floats(8), floats(8)]
    return [ints(2, 3), ints(2, 3), *table, *more]


ATTENTION = [
    attention(96),
    attention(96, past=5),
    attention(48),
    attention(56, qkv_hidden_sizes=[16, 16, 24]),
    multi_head_case(floats(2, 3, 32), floats(2, 5, 32), floats(2, 5, 48)),
    multi_head_case(floats(2, 3, 32), floats(2, 4, 5, 8), floats(2, 4, 5, 8)),
    multi_head_case(*[floats(2, 3, 32)] * 3, None, None, None, *[floats(2, 4, 7, 8)] * 2),
    multi_head_case(*[floats(2, 1, 32)] * 3, None, None, None, *[floats(2, 4, 7, 8)] * 2, numbers(3)),
    multi_head_case(floats(2, 3, 32), *[floats(2, 0, 32)] * 2, None, None, None, *[floats(2, 4, 7, 8)] * 2, outputs=3),
    Case(
        "DecoderMaskedMultiHeadAttention",
        [*[floats(2, 1, 32)] * 3, None, None, *[floats(2, 4, 7, 8)] * 2, numbers(4)],
        {"num_heads": 4, "past_present_share_buffer": 1, "output_qk": 1},
        4,
        free=[3],
    ),
    Case("DecoderMaskedMultiHeadAttention", [floats(2, 1, 32), *[floats(2, 4, 9, 8)] * 2], {"num_heads": 4}),
    group_query_case(1, 3, None, 3),
    group_query_case(2, 3, 0, 3),
    group_query_case(2, 3, None, 3, packed=True),
    group_query_case(1, 1, 127, 128),
    group_query_case(1, 1, 10, 5),
    group_query_case(1, 1, 10, 10),
    group_query_case(1, 3, 7, 10, packed=True),
    group_query_case(2, 3, 16, 3, packed=True),
    group_query_case(1, 3, 5, 8, qk_output=1),
    group_query_case(1, 3, 10, 8, qk_output=2),
    group_query_case(1, 1, 4, 9, sliding_window_cache=1, local_window_size=4),
    quantized_attention_case(),
    quantized_attention_case(floats(2, 2, 4, 5, 4)),
    Case("RotaryEmbedding", [floats(2, 3, 32), ints(2, 3, dtype=np.int64), *[floats(10, 4)] * 2], {"num_heads": 4}),
    Case("RotaryEmbedding", [floats(2, 4, 3, 8), ints(2, 3, dtype=np.int64), *[floats(10, 4)] * 2]),
    Case(
        "MRotaryEmbedding",
        [floats(2, 4, 3, 8), ints(3, 2, 3, dtype=np.int64), *[floats(10, 4)] * 2],
        {"mrope_section": [2, 1, 1]},
    ),
]

NORMALISED = [
    Case("SkipLayerNormalization", [floats(2, 3, 8), floats(2, 3, 8), *[floats(8)] * 3], outputs=4),
    Case("SkipLayerNormalization", [floats(2, 3, 8), floats(3, 8), floats(8)], outputs=4),
    Case("SkipSimplifiedLayerNormalization", [floats(2, 3, 8), floats(2, 3, 8), floats(8)], outputs=4),
    Case("EmbedLayerNormalization", embed(), outputs=3),
    Case("EmbedLayerNormalization", embed(ints(2, 3)), outputs=2),
    Case(
        "QEmbedLayerNormalization",
        [ints(2, 3), ints(2, 3), bytes_(20, 8), bytes_(10, 8), bytes_(2, 8), bytes_(8), bytes_(8), ints(2, 3)]
        + [SCALE] * 5
        + [ZERO] * 5,
        outputs=2,
    ),
    *(Case(op, [floats(2, 3, 4)]) for op in ("FastGelu", "Gelu", "QuickGelu", "ScaledSiLU", "SampleOp", "Trilu")),
    Case("BiasGelu", [floats(2, 3, 4), floats(4)]),
    Case("GatedAdd", [floats(2, 3), floats(2, 3), floats(2, 1)]),
    Case("GatedRMSNorm", [floats(2, 8), floats(4), floats(2, 8)]),
    Case("BranchwiseRMSNorm", [floats(2, 4, 8)]),
    Case("MoE", [floats(2, 3, 8), floats(6, 2), floats(2, 16, 8), None, floats(2, 8, 16)], {"k": 1}),
]


def product(a: tuple[int, ...], b: tuple[int, ...], flags: str = "", op: str = "FusedMatMul") -> Case:
    return Case(op, [floats(*a), floats(*b)], dict.fromkeys(flags.split(), 1))


PRODUCTS = [
    product((2, 3, 4), (2, 4, 5)),
    product((2, 4, 3), (2, 4, 5), "transA"),
    product((2, 3, 4), (5, 4), "transB"),
    product((3, 2, 4), (2, 4, 5), "transBatchA"),
    product((2, 3, 4), (4, 2, 5), "transBatchB"),
    product((4, 2, 3), (2, 4, 5), "transA transBatchA"),
    product((3, 2, 4), (5, 2, 4), "transB transBatchA transBatchB"),
    product((3, 6, 2, 4), (6, 2, 4, 5), "transBatchA"),
    product((4,), (4, 5), "transA"),
    product((3, 4), (3,), "transA"),
    product((2, 4, 3), (2, 4, 5), "transA", "TransposeMatMul"),
    Case("FusedGemm", [floats(3, 4), floats(5, 4), floats(5)], {"transB": 1, "activation": "Relu"}),
    Case("CDist", [floats(3, 4), floats(5, 4)], {"metric": "euclidean"}),
    Case("MatMulNBits", [floats(2, 3, 64), bytes_(10, 2, 16), floats(20)], {"N": 10, "K": 64, "block_size": 32}),
    Case("MatMulNBits", [floats(64), bytes_(10, 2, 16), floats(20)], {"N": 10, "K": 64, "block_size": 32}),
    Case("MatMulBnb4", [floats(2, 64), bytes_(320), floats(20)], {"N": 10, "K": 64, "block_size": 32, "quant_type": 1}),
    Case(
        "MatMulBnb4",
        [floats(2, 10), bytes_(320), floats(20)],
        {"N": 10, "K": 64, "block_size": 32, "quant_type": 1, "transB": 0},
    ),
    Case("MatMulInteger16", [ints(2, 3, dtype=np.int16), ints(3, 4, dtype=np.int16)]),
    Case("MatMulIntegerToFloat", [bytes_(2, 3, 4), bytes_(4, 5), SCALE, SCALE]),
    Case("DynamicQuantizeMatMul", [floats(2, 3, 4), bytes_(4, 5), SCALE]),
    Case("QGemm", [bytes_(3, 4), *IN, bytes_(4, 5), *IN, None, *OUT]),
    Case("QGemm", [bytes_(3, 4), *IN, bytes_(5, 4), *IN], {"transB": 1}),
    Case("QGemm", [bytes_(3, 4), *IN, bytes_(4, 5), *IN, None, SCALE]),
    Case(
        "QMoE",
        [floats(6, 32), floats(6, 2), bytes_(2, 64, 16), floats(2, 64), None, bytes_(2, 32, 32), floats(2, 32)],
    ),
]

QUANTISED = [
    Case("QLinearAdd", [bytes_(2, 3), *IN, bytes_(3), *IN, *OUT]),
    Case("QLinearMul", [bytes_(3, dtype=np.int8), *SIGNED, bytes_(2, 1, dtype=np.int8), *SIGNED, *SIGNED]),
    *(Case(op, [bytes_(2, 3), *IN, *OUT]) for op in ("QLinearSigmoid", "QLinearLeakyRelu")),
    Case("QLinearSoftmax", [bytes_(2, 3), *IN, *OUT], {"opset": 13}),
    Case("QLinearConcat", [*OUT, bytes_(2, 3), *IN, bytes_(2, 4), *IN, bytes_(2, 1), *IN], {"axis": -1}),
    Case("QLinearWhere", [ints(2, 3).astype(bool), bytes_(3), *IN, bytes_(2, 1), *IN, *OUT], fixed=[2, 3, 5, 6, 7, 8]),
    Case("QuantizeLinear", [floats(2, 3), SCALE]),
    Case("QuantizeLinear", [floats(2, 3), SCALE, np.array(3, np.uint16)]),
    Case("DequantizeLinear", [bytes_(2, 3), *IN]),
    *(
        Case(
            "GatherBlockQuantized",
            [bytes_(9, 16), where, floats(9, scales)],
            {"quantize_axis": 1, "block_size": 32, **more},
        )
        for where, scales, more in (
            (ints(2, 3), 1, {}),
            (np.array(2), 1, {"gather_axis": 0}),
            (ints(2, 3), 2, {"bits": 2}),
            (ints(4), 1, {"bits": 8, "block_size": 16}),
        )
    ),
    Case(
        "DynamicQuantizeLSTM",
        [floats(5, 2, 4), bytes_(2, 4, 32), bytes_(2, 8, 32), *[None] * 5]
        + [numbers(0.1, 0.1, dtype=np.float32), numbers(0, 0, dtype=np.uint8)] * 2,
        {"hidden_size": 8, "direction": "bidirectional"},
        3,
        fixed=[1, 2, 8, 9, 10, 11],
    ),
]

LAID_OUT = [
    Case("FusedConv", [floats(1, 3, 8, 8), floats(4, 3, 3, 3)], {"activation": "Relu", "strides": [2, 1]}),
    Case("NhwcMaxPool", [bytes_(1, 8, 9, 3)], {"kernel_shape": [2, 2], "strides": [2, 2]}),
    Case("MaxpoolWithMask", [floats(1, 2, 8, 8), ints(1, 2, 8, 8)], {"kernel_shape": [3, 3], "strides": [2, 2]}),
    Case(
        "ConvTransposeWithDynamicPads",
        [floats(1, 3, 8, 8), floats(3, 4, 3, 3), numbers(1, 0, 1, 2, dtype=np.int64)],
        {"kernel_shape": [3, 3], "strides": [2, 2]},
    ),
    Case("QLinearConv", [bytes_(1, 3, 8, 9), *IN, bytes_(4, 3, 3, 3), *IN, *OUT]),
    Case("QLinearConv", [bytes_(1, 8, 9, 3), *IN, bytes_(4, 3, 3, 3), *IN, *OUT], {"channels_last": 1}),
    Case("QLinearAveragePool", [bytes_(1, 3, 8, 9), *IN, *OUT], {"kernel_shape": [2, 2]}),
    Case(
        "QLinearAveragePool",
        [bytes_(1, 8, 9, 3), *IN, *OUT],
        {"kernel_shape": [2, 3], "channels_last": 1, "strides": [2, 2], "ceil_mode": 1},
    ),
    Case("QLinearGlobalAveragePool", [bytes_(2, 3, 4, 5), *IN, *OUT]),
    Case("QLinearGlobalAveragePool", [bytes_(2, 3, 4, 5), *IN, *OUT], {"channels_last": 1}),
]

MOVED = [
    *(Case("ExpandDims", [floats(2, 3), np.array(axis, np.int32)]) for axis in (1, -1, 2, -3)),
    Case("Unique", [numbers(2, 1, 1, 3, dtype=np.float32)], outputs=3, unknown=2),
    Case("Pad", [floats(2, 3), numbers(0, 1, 0, 2, dtype=np.int64)]),
    Case("Pad", [floats(2, 3), np.array([[0, 1, 0, 2]])]),
    *(Case("Range", [np.array(x, np.int32) for x in bounds]) for bounds in ((1, 9, 2), (1, 9), (9, 1, -3), (9, 1))),
    Case("Range", [np.array(x, np.float32) for x in (1, 2, 0.3)]),
    Case("GatherND", [floats(2, 3, 4), np.array([[0, 1], [1, 0]])]),
    Case("CropAndResize", [floats(1, 2, 8, 8), floats(3, 4), numbers(0, 0, 0), numbers(4, 5)]),
    Case("GridSample", [floats(1, 2, 4, 4), floats(1, 3, 5, 2)]),
    Case("UnfoldTensor", [floats(2, 9, 3)], {"dim": 1, "size": 4, "step": 2}),
    Case("Inverse", [floats(2, 3, 3)]),
    Case("MurmurHash3", [ints(2, 3)]),
    Case("MurmurHash3", [ints(2, 3)], {"positive": 0}),
]


def convolution_case(*shape: int, past: tuple[int, ...] = (), **more: int) -> Case:
    state = floats(*past) if past else None
    return Case("CausalConvWithState", [floats(*shape), floats(4, 1, 3), None, state], more, 2)


def linear(heads: int, kv_heads: int, past: bool = False) -> Case:
    inputs = [floats(2, 3, 8 * heads), floats(2, 3, 8 * kv_heads), floats(2, 3, 12 * kv_heads)]
    state = floats(2, kv_heads, 8, 12) if past else None
    gates = [floats(2, 3, kv_heads), floats(2, 3, kv_heads)]
    return Case("LinearAttention", [*inputs, state, *gates], {"q_num_heads": heads, "kv_num_heads": kv_heads}, 2)


STATEFUL = [
    *(linear(*heads) for heads in ((2, 2), (2, 1), (1, 2))),
    linear(2, 2, past=True),
    Case("LinearAttentionGate", [floats(2, 3, 4), floats(4), floats(4), floats(2, 3, 4)], outputs=2),
    convolution_case(2, 4, 9),
    convolution_case(2, 4, 9, past=(2, 4, 2)),
    convolution_case(2, 4, 9, dilation=2),
    convolution_case(2, 9, 2, 2, channels_last=1),
    Case("EngramGate", [*[floats(2, 3, 2, 8)] * 2, floats(2, 3, 8), *[floats(2, 8)] * 3], outputs=2),
    Case("HyperConnectionPreMix", [floats(2, 3, 4, 8), floats(2, 3, 4)]),
    Case("HyperConnectionPreMix", [floats(2, 3, 32), floats(2, 3, 4)], {"num_branches": 4}),
    Case("HyperConnectionPostMix", [floats(2, 3, 4, 8), floats(2, 3, 8), floats(2, 3, 4)]),
]

NGRAMS = {"max_ngram_size": 3, "n_head_per_ngram": 4, "pad_id": 0}
TOKENS = {"mark": 0, "mincharnum": 1, "pad_value": "#", "separators": [" "]}
DECODED = [
    Case("NGramHashMapping", [ints(2, 5), ints(3), ints(8) + 1], NGRAMS, 2),
    Case("VarlenNGramHashMapping", [ints(9), ints(3), ints(8) + 1, numbers(0, 4, 9)], NGRAMS, 2),
    Case("NGramRepeatBlock", [ints(2, 5, dtype=np.int64), floats(2, 9)], {"ngram_size": 2}),
    Case("Tokenizer", [np.array(["a b", "c"], object)], TOKENS, unknown=1),
    Case("Tokenizer", [np.array([["a b", "c"]], object)], {**TOKENS, "mark": 1}, unknown=1),
    Case("Tokenizer", [np.zeros((2, 0), object)], TOKENS),
    Case("BifurcationDetector", [ints(5, dtype=np.int64), ints(3, dtype=np.int64), np.array(0)], outputs=2),
    Case(
        "BifurcationDetector",
        [ints(5, dtype=np.int64), ints(3, dtype=np.int64), np.array([0]), ints(6, dtype=np.int64)],
        outputs=2,
        unknown=1,
    ),
    Case("DynamicTimeWarping", [floats(4, 5)], unknown=1),
    Case("WordConvEmbedding", [ints(3, 6), floats(7, 1, 2, 4), floats(7), floats(10, 4)]),
    Case(
        "AttnLSTM",
        [
            *(floats(5, 2, 4), floats(1, 32, 10), floats(1, 32, 8), floats(1, 64), numbers(5, 5), None, None, None),
            *(floats(1, 8, 3), floats(1, 6, 3), floats(1, 3), floats(2, 4, 6), numbers(4, 4)),
        ],
        {"hidden_size": 8},
        3,
    ),
]

CASES = [*ATTENTION, *NORMALISED, *PRODUCTS, *QUANTISED, *LAID_OUT, *MOVED, *STATEFUL, *DECODED]


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_inferred_shape_equals_the_shape_of_a_run(case: Case) -> None:
    assert_as_run(OPERATORS[case.op].infer, case, DOMAIN)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_malformed_inputs_are_rejected_with_a_reason(case: Case) -> None:
    assert_survives_any_rank(OPERATORS[case.op].infer, case, DOMAIN)
