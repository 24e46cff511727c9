"""The operators of onnxruntime's domains that need a graphics card or a compiler: rule against documentation.

onnxruntime reads a model that declares the results; what its own inference knows better, it complains about.
"""

import numpy as np
import pytest

from tests.ops._arrays import count, half, halves, single, small
from tests.ops._calls import Case, Expected, assert_as_inferred, case_id
from tests.ops.test_microsoft import DOMAIN, OPERATORS

FOUR, TWO = {"num_heads": 4}, {"num_heads": 4, "kv_num_heads": 2}
CACHE, BLOCKS = half(2, 2, 12, 8), half(5, 16, 2, 8)
NBITS = {"K": 64, "bits": 4, "block_size": 32}
PACKED = [count(2, 6), count(3)]
DELTA = [count(3), single(9, 4), single(9, 4), single(2, 4, 16, 8)]
Q, K, V = half(9, 2, 8), half(9, 2, 8), half(9, 4, 16)
QSA = {"policy_mode": "qsa", "compress_ratio": 4, "token_budget": 8}
CSA = {"policy_mode": "csa", "compress_ratio": 4, "index_topk": 5}
INDEXED = [half(8), half(8), half(64, 4), half(64, 4)]

# a use of an operator, and its results
SCHEMA_CASES: list[tuple[Case, Expected]] = [
    (Case("MultiHeadAttention", [half(2, 6, 4, 3, 8)], FOUR), halves((2, 6, 32))),
    (Case("MultiHeadAttention", [half(2, 6, 32), half(2, 5, 4, 2, 8)], FOUR), halves((2, 6, 32))),
    (
        Case(
            "DecoderMaskedSelfAttention",
            [half(2, 1, 32), half(32, 96), half(96), None, half(2, 2, 4, 16, 8), None, count(1)],
            FOUR,
            2,
        ),
        halves((2, 1, 32), (2, 2, 4, 17, 8)),
    ),
    (Case("PackedAttention", [half(9, 32), half(32, 96), half(96), *PACKED], FOUR), halves((9, 32))),
    (
        Case(
            "PackedAttention",
            [half(9, 32), half(32, 80), half(80), *PACKED],
            {**FOUR, "qkv_hidden_sizes": [32, 32, 16]},
        ),
        halves((9, 16)),
    ),
    (Case("PackedMultiHeadAttention", [half(9, 32), half(9, 32), half(9, 48), None, *PACKED], FOUR), halves((9, 48))),
    (Case("PackedMultiHeadAttention", [half(9, 4, 3, 8), None, None, None, *PACKED], FOUR), halves((9, 32))),
    (
        Case(
            "PagedAttention", [half(9, 32), *[half(9, 16)] * 2, BLOCKS, BLOCKS, count(3), count(2), count(2, 4)], TWO, 3
        ),
        halves((9, 32), (5, 16, 2, 8), (5, 16, 2, 8)),
    ),
    (
        Case("PagedAttention", [half(9, 64), None, None, BLOCKS, BLOCKS, count(3), count(2), count(2, 4)], TWO, 3),
        halves((9, 32), (5, 16, 2, 8), (5, 16, 2, 8)),
    ),
    (
        Case(
            "SparsePagedAttention",
            [half(9, 64), None, None, BLOCKS, BLOCKS, count(3), count(2), count(2, 4), None, count(9, 4), count(9)],
            TWO,
            3,
        ),
        halves((9, 32), (5, 16, 2, 8), (5, 16, 2, 8)),
    ),
    (
        Case(
            "SparseAttention",
            [half(2, 3, 64), None, None, CACHE, CACHE, count(1, 3), count(1, 3), count(1), count(2)],
            {**TWO, "sparse_block_size": 16},
            3,
        ),
        halves((2, 3, 32), (2, 2, 12, 8), (2, 2, 12, 8)),
    ),
    (
        Case(
            "DynamicSparseAttention",
            [half(2, 1, 64), None, None, CACHE, CACHE, None, None, count(2, 4), count(2), count(2), count(1)],
            TWO,
            3,
        ),
        halves((2, 1, 32), (2, 2, 12, 8), (2, 2, 12, 8)),
    ),
    (
        Case(
            "DynamicSparseAttention",
            [half(2, 3, 64), *[None] * 6, count(6, 4), count(6), count(2), count(1)],
            TWO,
            3,
        ),
        halves((2, 3, 32), (2, 2, 3, 8), (2, 2, 3, 8)),
    ),
    (
        Case(
            "LongformerAttention",
            [half(2, 8, 32), half(32, 96), half(96), half(2, 8), half(32, 96), half(96), count(2, 8)],
            {**FOUR, "window": 2},
        ),
        halves((2, 8, 32)),
    ),
    (
        Case(
            "QOrderedAttention",
            [
                small(2, 6, 32, dtype=np.int8),
                *[single()] * 4,
                *[small(32, 32, dtype=np.int8)] * 3,
                *[single()] * 3,
                *[single(32)] * 3,
                *[single()] * 3,
            ],
            {**FOUR, "order_input": 1, "order_output": 1, "order_weight": 1},
        ),
        [("int8", (2, 6, 32))],
    ),
    (
        Case(
            "GatedRelativePositionBias",
            [half(2, 6, 32), half(32), half(1, 4, 6, 6), half(8, 8), half(8), half(1, 4, 1, 1)],
            FOUR,
        ),
        halves((2, 4, 6, 6)),
    ),
    (
        Case(
            "GatedRelativePositionBias",
            [half(9, 32), half(32), half(1, 4, 6, 6), half(8, 8), half(8), half(1, 4, 1, 1), count(2, 6)],
            FOUR,
        ),
        halves((2, 4, 6, 6)),
    ),
    (Case("RestorePadding", [half(9, 32), count(2, 6)]), halves((2, 6, 32))),
    (
        Case("GemmaRotaryEmbedding", [single(2, 3, 8), *[half(2, 4, 3, 8)] * 4], outputs=2),
        halves((2, 4, 3, 8), (2, 4, 3, 8)),
    ),
    # fused products, normalisations, activations
    (Case("GemmFloat8", [half(3, 4), half(5, 4)], {"transB": 1}), [("float32", (3, 5))]),
    (Case("GemmFloat8", [half(3, 4), half(5, 4)], {"transB": 1, "dtype": 10}), halves((3, 5))),
    (Case("GemmFastGelu", [half(2, 3, 4), half(4, 5)]), halves((2, 3, 5))),
    (
        Case("FusedMatMulActivation", [half(2, 4, 3), half(4, 5)], {"transA": 1, "activation": "Relu"}),
        halves((2, 3, 5)),
    ),
    (Case("BiasAdd", [half(2, 3, 4), half(4), half(2, 3, 4)]), halves((2, 3, 4))),
    (Case("BiasSplitGelu", [half(2, 8, 32), half(32)]), halves((2, 8, 16))),
    (Case("BiasDropout", [half(2, 3, 4), half(4)], outputs=2), [*halves((2, 3, 4)), ("bool", (2, 3, 4))]),
    (Case("BiasSoftmax", [half(2, 3, 4), half(2, 3, 4)], {"is_inner_broadcast": 1}), halves((2, 3, 4))),
    (Case("GroupNorm", [half(2, 3, 4, 8), half(8), half(8)], {"activation": 0, "groups": 2}), halves((2, 3, 4, 8))),
    (
        Case(
            "SkipGroupNorm", [half(2, 3, 4, 8), half(8), half(8), half(2, 3, 4, 8)], {"activation": 0, "groups": 2}, 2
        ),
        halves((2, 3, 4, 8), (2, 3, 4, 8)),
    ),
    (Case("TorchEmbedding", [half(9, 4), np.zeros((2, 3), np.int64)]), halves((2, 3, 4))),
    # quantised
    (
        Case(
            "MatMulNBitsMlp",
            [half(2, 3, 64), half(2, 3, 64), half(64), *[small(10, 2, 16), half(10, 2), None] * 2][:8],
            {**NBITS, "N": 10, "activation": "silu"},
            2,
        ),
        halves((2, 3, 10), (2, 3, 64)),
    ),
    (
        Case(
            "MatMulNBitsQkv",
            [
                *(half(2, 3, 64), half(2, 3, 64), half(64), small(10, 2, 16), half(10, 2), None),
                *(small(6, 2, 16), half(6, 2), None, small(6, 2, 16), half(6, 2)),
            ],
            {**NBITS, "Nq": 10, "Nkv": 6},
            4,
        ),
        halves((2, 3, 10), (2, 3, 6), (2, 3, 6), (2, 3, 64)),
    ),
    (
        Case("MatMulBlockQuantizedFp4Weight", [half(2, 3, 64), small(10, 32), small(10, 4), single()]),
        halves((2, 3, 10)),
    ),
    (
        Case("QLinearReduceMean", [small(2, 3, 4), single(), small(), single(), small()], {"axes": [1], "keepdims": 0}),
        [("uint8", (2, 4))],
    ),
    (
        Case(
            "QLinearReduceMean", [small(2, 3, 4), single(), small(), single(), small()], {"axes": [-1], "keepdims": 1}
        ),
        [("uint8", (2, 3, 1))],
    ),
    (
        Case("QuantizeWithOrder", [half(2, 3, 4), single()], {"order_input": 1, "order_output": 1}),
        [("int8", (2, 3, 4))],
    ),
    (
        Case(
            "DequantizeWithOrder",
            [small(2, 3, dtype=np.int8), single()],
            {"order_input": 1, "order_output": 1, "to": 10},
        ),
        halves((2, 3)),
    ),
    (Case("QOrderedGelu", [small(2, 3, dtype=np.int8), single(), single()]), [("int8", (2, 3))]),
    (
        Case(
            "QOrderedMatMul",
            [small(2, 6, 32, dtype=np.int8), single(), small(32, 48, dtype=np.int8), single(), single()],
            {"order_A": 1, "order_B": 0, "order_Y": 1},
        ),
        [("int8", (2, 6, 48))],
    ),
    # layouts
    (Case("NhwcConv", [half(1, 8, 9, 3), half(4, 3, 3, 3)]), halves((1, 6, 7, 4))),
    (
        Case("NhwcConv", [half(1, 8, 9, 6), half(4, 3, 2, 3)], {"kernel_shape": [3, 2], "group": 2}),
        halves((1, 6, 8, 4)),
    ),
    (Case("NhwcConv", [half(1, 8, 9, 6), half(4, 3, 2, 2)], {"group": 2}), halves((1, 7, 8, 4))),
    (Case("NhwcFusedConv", [half(1, 8, 9, 3), half(4, 3, 3, 3)], {"strides": [2, 1]}), halves((1, 3, 7, 4))),
    # states
    (Case("GatedDeltaNet", [Q, K, V, *DELTA], outputs=2), [*halves((9, 4, 16)), ("float32", (2, 4, 16, 8))]),
    (Case("GatedDeltaNet", [Q, K, V, *DELTA[:3]]), halves((9, 4, 16))),
    (
        Case("GatedDeltaNet", [Q, K, V, *DELTA, None, None, count(2)], {"state_update_capacity": 3}, 3),
        [*halves((9, 4, 16)), ("float32", (2, 4, 16, 8)), ("float32", (2, 252))],
    ),
    (
        Case(
            "GatedDeltaNet", [half(2, 4, 96), None, None, None, single(2, 4, 4), single(2, 4, 4), DELTA[3]], outputs=2
        ),
        [*halves((2, 4, 4, 16)), ("float32", (2, 4, 16, 8))],
    ),
    (
        Case(
            "LinearAttention",
            [half(2, 3, 16), half(2, 3, 16), half(2, 3, 24), None, half(2, 3, 2), half(2, 3, 2)],
            {"q_num_heads": 2, "kv_num_heads": 2, "state_window": 5},
            2,
        ),
        halves((2, 3, 24), (5, 2, 2, 8, 12)),
    ),
    (
        Case("CausalConvWithState", [half(2, 4, 9), half(4, 1, 3)], {"state_window": 3}, 2),
        halves((2, 4, 9), (3, 2, 4, 2)),
    ),
    (
        Case("CausalConvWithState", [half(2, 4, 5, 9), half(4, 1, 3, 3)], {"ndim": 2}, 2),
        halves((2, 4, 5, 9), (2, 4, 5, 2)),
    ),
    (
        Case(
            "VarlenCausalConvWithState",
            [half(9, 8), half(8, 1, 4), count(3), None, half(2, 8, 3), count(2)],
            {"state_update_capacity": 2},
            3,
        ),
        halves((9, 8), (2, 8, 3), (2, 2, 8)),
    ),
    (
        Case("SparseAttentionIndexer", [half(2, 6, 32), half(2, 6, 8), *INDEXED, None, half(2, 10, 8)], QSA, 2),
        [("int32", (2, 6, 11)), *halves((2, 16, 8))],
    ),
    (
        Case(
            "SparseAttentionIndexer",
            [half(2, 6, 32), half(2, 6, 8), *INDEXED, None, half(2, 10, 8), *[None] * 4, count(1)],
            QSA,
            2,
        ),
        [("int32", (2, 6, 11)), *halves((2, 10, 8))],
    ),
    *(
        (
            Case(
                "SparseAttentionIndexer",
                [
                    *(
                        half(2, new, 32),
                        half(2, new, 16),
                        *INDEXED,
                        None,
                        half(2, 10, 8),
                        half(2, new, 16),
                        half(4, 16),
                    ),
                    *(half(2, new, 4), np.zeros((2, new), np.int64), None, half(2, 2, waiting, 16)),
                ],
                CSA,
                3,
            ),
            [("int32", (2, new, 5)), *halves((2, 10 + closed, 8), (2, 2, left, 16))],
        )
        for new, waiting, closed, left in ((6, 5, 1, 7), (6, 0, 1, 6), (1, 2, 0, 3), (1, 3, 1, 4), (9, 7, 3, 4))
    ),
    (
        Case(
            "PackedSparseAttentionIndexer",
            [
                *(half(9, 32), half(9, 16), *INDEXED, count(3), count(2), half(9, 16), half(4, 16), half(9, 4)),
                *(np.zeros(9, np.int64), half(2, 20, 8), half(2, 7, 16), half(2, 7, 16), count(2, 2)),
            ],
            {**CSA, "state_capacity": 20},
            6,
        ),
        [
            ("int32", (9, 5)),
            ("int32", (9,)),
            *halves((2, 20, 8), (2, 7, 16), (2, 7, 16)),
            ("int32", (2, 2)),
        ],
    ),
]


@pytest.mark.parametrize(("case", "expected"), SCHEMA_CASES, ids=[case_id(case) for case, _ in SCHEMA_CASES])
def test_inferred_shape_equals_onnxruntime_inference(case: Case, expected: Expected) -> None:
    assert_as_inferred(OPERATORS[case.op].infer, case, DOMAIN, expected)
