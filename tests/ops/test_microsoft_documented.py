"""The operators of com.microsoft of which onnxruntime here neither runs nor infers the results: rule against words."""

from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ir import Node
from onnx_autodoc.ops import microsoft_decoding
from onnx_autodoc.ops.call import Call
from onnx_autodoc.ops.values import InferenceError, Unknown, ValueInfo
from tests.ops._arrays import halves
from tests.ops._calls import list_ort_operators
from tests.ops.test_microsoft import DOMAIN, OPERATORS, TWO


def infer_literal(
    op: str, *inputs: ValueInfo | None, outputs: int = 1, **attributes: Any
) -> list[tuple[str | None, tuple[Any, ...]]]:
    """Return the inferred types and dims of a node, an unknown size as None."""
    node = Node(op, outputs=("y",) * outputs, attributes=attributes)
    inferred_outputs = TABLE[op].infer(Call(node, inputs, 1))[:outputs]
    return [
        (each.dtype, tuple(None if isinstance(dim, Unknown) else dim for dim in each.shape or ()))
        for each in inferred_outputs
    ]


TABLE = {**microsoft_decoding.UNSPECIFIED, **OPERATORS}


def int_list(*items: int) -> ValueInfo:
    return ValueInfo("int32", (len(items),), np.array(items, np.int32))


def shaped(*dims: int, dtype: str = "float16") -> ValueInfo:
    return ValueInfo(dtype, dims)


def test_shared_cache_length_is_unchanged() -> None:
    past = shaped(2, 2, 4, 16, 8)
    inferred = infer_literal(
        "Attention",
        *(shaped(2, 1, 32), shaped(32, 96), shaped(96), None, past, None, int_list(3)),
        outputs=2,
        num_heads=4,
        past_present_share_buffer=1,
    )
    assert inferred == halves((2, 1, 32), (2, 2, 4, 16, 8))


def test_packed_keys_are_cached_per_head() -> None:
    assert infer_literal("MultiHeadAttention", shaped(2, 6, 4, 3, 8), outputs=3, num_heads=4)[1:] == halves(
        *[(2, 4, 6, 8)] * 2
    )
    inferred = infer_literal("MultiHeadAttention", shaped(2, 6, 32), shaped(2, 5, 4, 2, 8), outputs=3, num_heads=4)
    assert inferred[1:] == halves(*[(2, 4, 5, 8)] * 2)


def test_four_bit_cache_has_its_packed_width() -> None:
    past = shaped(1, 2, 7, 4, dtype="uint8")
    lengths = (int_list(7), int_list(8))
    inferred = infer_literal(
        "GroupQueryAttention",
        *(shaped(1, 1, 64), None, None, past, past, *lengths),
        outputs=3,
        **TWO,
        k_quant_type="PER_TENSOR",
        v_quant_type="PER_TENSOR",
        kv_cache_bit_width=4,
    )
    assert inferred == [("float16", (1, 1, 32)), ("uint8", (1, 2, 8, 4)), ("uint8", (1, 2, 8, 4))]


def test_cache_of_unknown_total_has_unknown_length() -> None:
    total = ValueInfo("int32", (1,), why="hidden")
    inputs = (shaped(1, 1, 64), None, None, shaped(1, 2, 7, 8), shaped(1, 2, 7, 8), int_list(7), total)
    assert infer_literal("GroupQueryAttention", *inputs, outputs=2, **TWO) == halves((1, 1, 32), (1, 2, None, 8))  # type: ignore[arg-type]


def test_decoder_attention_cache_length_is_unknown() -> None:
    inputs = (shaped(6, 2, 32), shaped(5, 2, 32), shaped(32, 32), shaped(32, 64), shaped(96))
    assert infer_literal("DecoderAttention", *inputs, outputs=2, num_heads=4) == [
        ("float16", (6, 2, 32)),
        ("float16", (2, 4, None, 8)),
    ]


def test_known_token_counts_give_the_number_of_tokens() -> None:
    source = shaped(2, 6, 32)
    assert infer_literal("RemovePadding", source, shaped(2, dtype="int32")) == [("float16", (None, 32))]
    assert infer_literal("RemovePadding", source, int_list(4, 5), outputs=4) == [
        ("float16", (9, 32)),
        ("int32", (2, 6)),
        ("int32", (3,)),
        ("int32", (1,)),
    ]


def test_lengths_come_from_input_values() -> None:
    assert infer_literal("RelativePositionBias", shaped(32, 4), int_list(6), int_list(7)) == halves((1, 4, 6, 7))
    assert infer_literal("MatMulFpQ4", shaped(2, 64), shaped(640, dtype="uint8"), int_list(64, 10)) == halves((2, 10))
    assert infer_literal("DequantizeBFP", shaped(7, dtype="uint8"), int_list(2, 3), int_list(3, 1)) == [
        ("float32", (2, 3))
    ]


def test_generated_sequences_have_their_maximum_length() -> None:
    prompt, penalty = shaped(2, 5, dtype="int32"), shaped(1, dtype="float32")
    beams = infer_literal(
        "BeamSearch", prompt, int_list(20), None, int_list(4), int_list(3), penalty, outputs=3, vocab_size=99
    )
    assert beams == [("int32", (2, 3, 20)), ("float32", (2, 3)), ("float32", (15, 2, 4, 99))]
    assert infer_literal("GreedySearch", prompt, int_list(20)) == [("int32", (2, 20))]
    assert infer_literal("Sampling", prompt, int_list(20), None, penalty, outputs=2) == [
        ("int32", (2, 20)),
        ("float32", (2, None)),
    ]
    features = shaped(2, 80, 3000, dtype="float32")
    whisper = infer_literal(
        "WhisperBeamSearch", features, int_list(20), None, int_list(4), int_list(3), penalty, outputs=5, model_type=2
    )
    assert [shape for _, shape in whisper] == [(2, 3, 20), (2, 3), (None, 2, 4, None), (2, 3, None, None, None), (2,)]


def test_other_operators_have_their_documented_shapes() -> None:
    assert infer_literal("Rfft", shaped(2, 3, 8)) == halves((2, 3, 5, 2))
    assert infer_literal("Irfft", shaped(2, 3, 5, 2)) == halves((2, 3, 8))
    assert infer_literal("ComplexMul", shaped(2, 3, 2), shaped(3, 2)) == halves((2, 3, 2))
    assert infer_literal("IsAllFinite", shaped(2), shaped(3)) == [("bool", ())]
    assert infer_literal("BitmaskDropout", shaped(3, 40), outputs=2)[1] == ("uint32", (4,))
    assert infer_literal("MulInteger", shaped(2, 3, dtype="uint8"), None, shaped(3, dtype="uint8")) == [
        ("int32", (2, 3))
    ]
    assert infer_literal("ReduceSumInteger", shaped(2, 3), axes=(1,), keepdims=0) == [(None, (2,))]
    assert infer_literal("QuantizeBFP", shaped(2, 3, 4), outputs=2) == [("uint8", (None,)), ("int64", (3,))]
    assert infer_literal("EfficientNMS_TRT", shaped(2, 50, 4), outputs=2, max_output_boxes=7) == [
        ("int32", (2, 1)),
        ("float16", (2, 7, 4)),
    ]


def test_compiled_subgraph_has_unknown_shapes() -> None:
    with pytest.raises(InferenceError, match="contains a precompiled part of the model"):
        infer_literal("EPContext", shaped(2, 3))


def test_every_onnxruntime_operator_has_a_rule() -> None:
    assert not list_ort_operators(DOMAIN) - OPERATORS.keys()
