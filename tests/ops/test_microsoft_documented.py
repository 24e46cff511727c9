"""The operators of com.microsoft of which onnxruntime here neither runs nor infers the results: rule against words."""

from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ir import Node
from onnx_autodoc.ops import microsoft_decoding
from onnx_autodoc.ops.call import Call
from onnx_autodoc.ops.values import InferenceError, Unknown, ValueInfo
from tests.ops._arrays import halves
from tests.ops._calls import schemas
from tests.ops.test_microsoft import DOMAIN, OPERATORS, TWO


def literal(
    op: str, *inputs: ValueInfo | None, outputs: int = 1, **attributes: Any
) -> list[tuple[str | None, tuple[Any, ...]]]:
    """What a rule says of a node, an unknown size as None."""
    node = Node(op, outputs=("y",) * outputs, attributes=attributes)
    found = TABLE[op].infer(Call(node, inputs, 1))[:outputs]
    return [
        (each.dtype, tuple(None if isinstance(dim, Unknown) else dim for dim in each.shape or ())) for each in found
    ]


TABLE = {**microsoft_decoding.UNSPECIFIED, **OPERATORS}


def given(*items: int) -> ValueInfo:
    return ValueInfo("int32", (len(items),), np.array(items, np.int32))


def shaped(*dims: int, dtype: str = "float16") -> ValueInfo:
    return ValueInfo(dtype, dims)


def test_a_shared_cache_keeps_its_length() -> None:
    past = shaped(2, 2, 4, 16, 8)
    said = literal(
        "Attention",
        *(shaped(2, 1, 32), shaped(32, 96), shaped(96), None, past, None, given(3)),
        outputs=2,
        num_heads=4,
        past_present_share_buffer=1,
    )
    assert said == halves((2, 1, 32), (2, 2, 4, 16, 8))


def test_packed_keys_are_cached_head_by_head() -> None:
    assert literal("MultiHeadAttention", shaped(2, 6, 4, 3, 8), outputs=3, num_heads=4)[1:] == halves(
        *[(2, 4, 6, 8)] * 2
    )
    said = literal("MultiHeadAttention", shaped(2, 6, 32), shaped(2, 5, 4, 2, 8), outputs=3, num_heads=4)
    assert said[1:] == halves(*[(2, 4, 5, 8)] * 2)


def test_a_cache_of_half_bytes_keeps_its_packed_width() -> None:
    past = shaped(1, 2, 7, 4, dtype="uint8")
    lengths = (given(7), given(8))
    said = literal(
        "GroupQueryAttention",
        *(shaped(1, 1, 64), None, None, past, past, *lengths),
        outputs=3,
        **TWO,
        k_quant_type="PER_TENSOR",
        v_quant_type="PER_TENSOR",
        kv_cache_bit_width=4,
    )
    assert said == [("float16", (1, 1, 32)), ("uint8", (1, 2, 8, 4)), ("uint8", (1, 2, 8, 4))]


def test_a_cache_whose_total_is_not_known_has_an_unknown_length() -> None:
    total = ValueInfo("int32", (1,), why="hidden")
    inputs = (shaped(1, 1, 64), None, None, shaped(1, 2, 7, 8), shaped(1, 2, 7, 8), given(7), total)
    assert literal("GroupQueryAttention", *inputs, outputs=2, **TWO) == halves((1, 1, 32), (1, 2, None, 8))  # type: ignore[arg-type]


def test_the_flags_of_decoder_attention_leave_its_cache_unknown() -> None:
    inputs = (shaped(6, 2, 32), shaped(5, 2, 32), shaped(32, 32), shaped(32, 64), shaped(96))
    assert literal("DecoderAttention", *inputs, outputs=2, num_heads=4) == [
        ("float16", (6, 2, 32)),
        ("float16", (2, 4, None, 8)),
    ]


def test_padding_that_is_counted_is_known() -> None:
    source = shaped(2, 6, 32)
    assert literal("RemovePadding", source, shaped(2, dtype="int32")) == [("float16", (None, 32))]
    assert literal("RemovePadding", source, given(4, 5), outputs=4) == [
        ("float16", (9, 32)),
        ("int32", (2, 6)),
        ("int32", (3,)),
        ("int32", (1,)),
    ]


def test_lengths_are_the_values_of_inputs() -> None:
    assert literal("RelativePositionBias", shaped(32, 4), given(6), given(7)) == halves((1, 4, 6, 7))
    assert literal("MatMulFpQ4", shaped(2, 64), shaped(640, dtype="uint8"), given(64, 10)) == halves((2, 10))
    assert literal("DequantizeBFP", shaped(7, dtype="uint8"), given(2, 3), given(3, 1)) == [("float32", (2, 3))]


def test_generation_gives_as_many_tokens_as_it_may() -> None:
    prompt, penalty = shaped(2, 5, dtype="int32"), shaped(1, dtype="float32")
    beams = literal("BeamSearch", prompt, given(20), None, given(4), given(3), penalty, outputs=3, vocab_size=99)
    assert beams == [("int32", (2, 3, 20)), ("float32", (2, 3)), ("float32", (15, 2, 4, 99))]
    assert literal("GreedySearch", prompt, given(20)) == [("int32", (2, 20))]
    assert literal("Sampling", prompt, given(20), None, penalty, outputs=2) == [
        ("int32", (2, 20)),
        ("float32", (2, None)),
    ]
    features = shaped(2, 80, 3000, dtype="float32")
    whisper = literal(
        "WhisperBeamSearch", features, given(20), None, given(4), given(3), penalty, outputs=5, model_type=2
    )
    assert [shape for _, shape in whisper] == [(2, 3, 20), (2, 3), (None, 2, 4, None), (2, 3, None, None, None), (2,)]


def test_the_rest_follows_from_the_documentation() -> None:
    assert literal("Rfft", shaped(2, 3, 8)) == halves((2, 3, 5, 2))
    assert literal("Irfft", shaped(2, 3, 5, 2)) == halves((2, 3, 8))
    assert literal("ComplexMul", shaped(2, 3, 2), shaped(3, 2)) == halves((2, 3, 2))
    assert literal("IsAllFinite", shaped(2), shaped(3)) == [("bool", ())]
    assert literal("BitmaskDropout", shaped(3, 40), outputs=2)[1] == ("uint32", (4,))
    assert literal("MulInteger", shaped(2, 3, dtype="uint8"), None, shaped(3, dtype="uint8")) == [("int32", (2, 3))]
    assert literal("ReduceSumInteger", shaped(2, 3), axes=(1,), keepdims=0) == [(None, (2,))]
    assert literal("QuantizeBFP", shaped(2, 3, 4), outputs=2) == [("uint8", (None,)), ("int64", (3,))]
    assert literal("EfficientNMS_TRT", shaped(2, 50, 4), outputs=2, max_output_boxes=7) == [
        ("int32", (2, 1)),
        ("float16", (2, 7, 4)),
    ]


def test_what_another_compiler_made_is_not_known() -> None:
    with pytest.raises(InferenceError, match="another compiler"):
        literal("EPContext", shaped(2, 3))


def test_every_operator_that_onnxruntime_defines_has_a_rule() -> None:
    assert not schemas(DOMAIN) - OPERATORS.keys()
