"""What attention of com.microsoft costs, by hand and by the prices of its parts."""

from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ir import Node
from onnx_autodoc.ops import find, microsoft_attention, microsoft_decoding, microsoft_state
from onnx_autodoc.ops.call import Call
from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.values import InferenceError, Unknown, ValueInfo, tensor
from tests.ops._arrays import half
from tests.ops._calls import Case, call_of, case_id, cost_of, floats, hide_input_info, vary_input_ranks
from tests.ops.test_microsoft import (
    ATTENTION,
    DECODED,
    DOMAIN,
    STATEFUL,
    TWO,
    attention,
    group_query_case,
    multi_head_case,
    numbers,
    quantized_attention_case,
)
from tests.ops.test_microsoft_schemas import BLOCKS, CACHE, FOUR, SCHEMA_CASES

TABLE = {**microsoft_attention.OPERATORS, **microsoft_decoding.OPERATORS, **microsoft_state.OPERATORS}
CASES = [case for case in [*ATTENTION, *STATEFUL, *DECODED, *(case for case, _ in SCHEMA_CASES)] if case.op in TABLE]


def cost(case: Case) -> Cost:
    return cost_of(TABLE[case.op], case, DOMAIN)


def count_operations(case: Case) -> tuple[Any, Any]:
    counted = cost(case)
    return counted.macs, counted.other


def cost_of_inputs(case: Case, inputs: list[ValueInfo | None]) -> Cost:
    call = call_of(case, DOMAIN, inputs)
    price = TABLE[case.op].cost
    assert price is not None
    return price(Call(call.node, inputs, case.opset, tuple(TABLE[case.op].infer(call))[: case.outputs]))


@pytest.mark.parametrize("op", TABLE)
def test_every_operator_has_a_documented_cost_rule(op: str) -> None:
    price = TABLE[op].cost
    assert price is not None
    assert price.__doc__
    assert "{" not in price.__doc__


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_cost_with_fewer_known_inputs_is_equal_or_unknown(case: Case) -> None:
    try:
        whole = cost(case)
    except InferenceError:
        whole = Cost(Unknown("data"), Unknown("data"))
    for inputs in hide_input_info(case):
        try:
            partial = cost_of_inputs(case, inputs)
        except InferenceError as gap:
            assert str(gap)
        else:
            for ours, true in ((partial.macs, whole.macs), (partial.other, whole.other)):
                assert isinstance(ours, Unknown) or ours == true, inputs


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_malformed_inputs_have_a_cost_or_a_reason(case: Case) -> None:
    for inputs in vary_input_ranks(case):
        try:
            cost_of_inputs(case, inputs)
        except InferenceError as gap:
            assert str(gap)


# the projections are inside
def test_attention_cost_is_projections_scores_and_context() -> None:
    assert count_operations(attention(96)) == (2 * 3 * 32 * 96 + 2 * 4 * 3 * 3 * (8 + 8), 6 * 96 + 72 * 6)
    assert count_operations(attention(56, qkv_hidden_sizes=[16, 16, 24])) == (
        6 * 32 * 56 + 72 * (4 + 6),
        6 * 56 + 72 * 6,
    )
    assert count_operations(quantized_attention_case()) == (6 * 16 * 48 + 72 * (4 + 4), 6 * 48 * 2 + 72 * 6)


def test_attention_cost_includes_past_keys() -> None:
    assert count_operations(attention(96, past=5)) == (18432 + 2 * 4 * 3 * 8 * 16, 576 + 192 * 6)


def test_shared_buffer_counts_only_its_used_part() -> None:
    plain = attention(96)
    inputs = [*plain.inputs[:4], floats(2, 2, 4, 100, 8), None, numbers(5)]
    shared = cost(plain._replace(inputs=inputs, attributes={**FOUR, "past_present_share_buffer": 1}))
    assert shared.macs == 18432 + 2 * 4 * 3 * 8 * 16
    assert shared.read == 4 * (2 * 3 * 32 + 32 * 96 + 96 + 2 * 2 * 4 * 5 * 8 + 1)
    assert shared.written == 4 * (2 * 3 * 32 + 2 * 2 * 4 * 3 * 8)


def test_mask_bias_and_rotation_are_counted() -> None:
    plain = attention(96)
    inputs = [*plain.inputs[:3], numbers(3, 3), None, floats(1, 4, 3, 3)]
    assert count_operations(plain._replace(inputs=inputs))[1] == 576 + 72 * 8
    assert count_operations(plain._replace(attributes={**FOUR, "do_rotary": 1}))[1] == 576 + 72 * 6 + 3 * 2 * 2 * 3 * 32


def test_fused_attention_costs_the_sum_of_its_parts() -> None:
    x, w, projected, q = (2, 3, 32), (32, 96), (2, 3, 96), (2, 4, 3, 8)
    transposed, scores = (2, 4, 8, 3), (2, 4, 3, 3)
    parts = [
        plain_cost("MatMul", projected, x, w),
        plain_cost("Add", projected, projected, (96,)),
        plain_cost("MatMul", scores, q, transposed),
        plain_cost("Div", scores, scores, ()),
        plain_cost("Softmax", scores, scores),
        plain_cost("MatMul", q, scores, q),
    ]
    assert count_operations(attention(96)) == (sum(part.macs for part in parts), sum(part.other for part in parts))


def plain_cost(op: str, output_dims: tuple[int, ...], *inputs: tuple[int, ...]) -> Any:
    entry = find("", op)
    assert entry is not None
    assert entry.cost is not None
    knowns = [tensor("float32", shape) for shape in inputs]
    return entry.cost(Call(Node(op), knowns, 21, [tensor("float32", output_dims)]))


def test_ordered_attention_cost_has_three_weights() -> None:
    macs, other = count_operations(next(case for case in CASES if case.op == "QOrderedAttention"))
    assert macs == 12 * 3 * 32 * 32 + 2 * 4 * 6 * 6 * 16
    assert other == 12 * 3 * 32 * 3 + 288 * 10 + 2 * 12 * 32


# the projections are before
def test_multi_head_cost_accepts_every_layout_of_keys() -> None:
    q = floats(2, 3, 32)
    assert count_operations(multi_head_case(q, floats(2, 5, 32), floats(2, 5, 48))) == (120 * (8 + 12), 120 * 6)
    assert count_operations(multi_head_case(q, floats(2, 4, 5, 8), floats(2, 4, 5, 8))) == (120 * 16, 120 * 6)
    assert count_operations(multi_head_case(floats(2, 6, 4, 3, 8), outputs=1)) == (288 * 16, 288 * 6)
    assert count_operations(multi_head_case(floats(2, 6, 32), floats(2, 5, 4, 2, 8), outputs=1)) == (240 * 16, 240 * 6)


def test_multi_head_cost_includes_past_keys_or_the_used_part_of_a_buffer() -> None:
    past = [floats(2, 4, 7, 8)] * 2
    grown = multi_head_case(*[floats(2, 3, 32)] * 3, None, None, None, *past)
    assert count_operations(grown) == (2 * 4 * 3 * 10 * 16, 240 * 6)
    shared = cost(multi_head_case(*[floats(2, 1, 32)] * 3, None, None, None, *past, numbers(3), outputs=3))
    assert (shared.macs, shared.other) == (2 * 4 * 4 * 16, 32 * 6)
    assert (shared.read, shared.written) == (4 * (3 * 64 + 2 * 2 * 4 * 3 * 8 + 1), 4 * (64 + 2 * 64))


def test_bias_cost_covers_queries_and_new_keys_and_values() -> None:
    bias = floats(96)
    assert count_operations(multi_head_case(*[floats(2, 3, 32)] * 3, bias))[1] == 72 * 6 + 3 * 192
    crossed = multi_head_case(floats(2, 3, 32), *[floats(2, 4, 5, 8)] * 2, bias)
    assert count_operations(crossed)[1] == 120 * 6 + 192


def test_decode_step_cost_includes_its_cache() -> None:
    own, crossed = (case for case in ATTENTION if case.op == "DecoderMaskedMultiHeadAttention")
    assert count_operations(own) == (2 * 4 * 5 * 16, 40 * 6)
    assert count_operations(crossed) == (2 * 4 * 9 * 16, 72 * 6)


# groups of queries
@pytest.mark.parametrize(
    ("case", "scores"),
    [
        (group_query_case(1, 3, None, 3), 4 * 3 * 3),
        (group_query_case(2, 3, 0, 3), 2 * 4 * 3 * 3),
        (group_query_case(1, 1, 127, 128), 4 * 128),
        (group_query_case(1, 3, 7, 10, packed=True), 4 * 3 * 10),
        (group_query_case(1, 1, 10, 5), 4 * 5),
        (group_query_case(2, 3, 16, 3, packed=True), 2 * 4 * 3 * 3),
        (group_query_case(1, 1, 4, 9, sliding_window_cache=1, local_window_size=4), 4 * 4),
    ],
    ids=["no-past", "empty-past", "grown", "packed", "longer-buffer", "prompt-in-a-buffer", "window"],
)
def test_group_query_scores_cover_all_keys(case: Case, scores: int) -> None:
    assert count_operations(case) == (scores * 16, scores * 6)


def test_longer_buffer_is_read_and_written_in_part() -> None:
    moved = cost(group_query_case(1, 1, 10, 5))
    assert moved.read == 4 * (32 + 16 + 16 + 2 * 2 * 4 * 8 + 1 + 1)
    assert moved.written == 4 * (32 + 2 * 2 * 1 * 8)
    assert cost(group_query_case(1, 1, 127, 128)).written is None


def test_sequence_lengths_replace_an_unknown_total() -> None:
    case = group_query_case(1, 1, 10, 5)
    inputs = list(call_of(case, DOMAIN).inputs)
    inputs[6] = ValueInfo("int32", (1,), why="hidden")
    assert cost_of_inputs(case, inputs).macs == 4 * 5 * 16
    inputs[5] = ValueInfo("int32", (1,), why="hidden")
    assert isinstance(cost_of_inputs(case, inputs).macs, Unknown)


def test_rotation_normalization_and_quantized_cache_are_counted() -> None:
    plain = group_query_case(1, 1, 7, 8)
    inputs = [*plain.inputs, floats(100, 3), floats(100, 3), None, None, floats(4), None, None, floats(8), floats(8)]
    counted = cost(plain._replace(inputs=inputs, attributes={**TWO, "do_rotary": 1, "softcap": 5.0}))
    assert counted.other == 32 * 9 + 6 * (3 * 6) + 6 * (4 * 8 + 3) + 2 * 4
    assert counted.read == 4 * (64 + 2 * 2 * 7 * 8 + 2 + 2 * 3 + 4 + 16)
    eight = {**TWO, "k_quant_type": "PER_TENSOR", "v_quant_type": "PER_TENSOR", "kv_cache_bit_width": 8}
    assert count_operations(plain._replace(attributes=eight))[1] == 32 * 6 + 2 * 2 * 8 * (2 * 1 + 8)


# sequences without padding, and not all keys
def test_packed_attention_scores_each_sequence_if_lengths_are_known() -> None:
    ends, weights = numbers(0, 4, 9), [half(32, 96), half(96)]
    offsets = np.zeros((2, 5), np.int32)
    assert count_operations(Case("PackedAttention", [half(9, 32), *weights, offsets, ends], FOUR)) == (
        9 * 32 * 96 + 4 * (16 + 25) * 16,
        9 * 96 + 164 * 6,
    )
    packed = Case("PackedMultiHeadAttention", [half(9, 4, 3, 8), None, None, half(96), offsets, ends], FOUR)
    assert count_operations(packed) == (164 * 16, 164 * 6 + 9 * 96)
    untold = call_of(packed, DOMAIN).inputs[:5]
    assert isinstance(cost_of_inputs(packed, [*untold, tensor("int32", (3,))]).macs, Unknown)


def test_paged_attention_is_counted_if_lengths_are_known() -> None:
    lengths = [numbers(0, 4, 9), numbers(2, 0), np.zeros((2, 4), np.int32)]
    paged = Case("PagedAttention", [half(9, 64), None, None, BLOCKS, BLOCKS, *lengths], TWO)
    assert count_operations(paged) == (4 * (4 * 6 + 5 * 5) * 16, 196 * 6)


def test_selected_keys_and_local_window_are_counted() -> None:
    selected = [np.zeros((2, 4), np.int32), numbers(4, 4), numbers(11, 11), numbers(12)]
    case = Case("DynamicSparseAttention", [half(2, 1, 64), None, None, CACHE, CACHE, None, None, *selected], TWO)
    assert count_operations(case) == (2 * 4 * 4 * 16, 32 * 6)
    near = {**TWO, "attention_mode": "local_plus_selected", "local_window_size": 3}
    assert count_operations(case._replace(attributes=near)) == (2 * 4 * 7 * 16, 56 * 6)


def test_block_sparse_attention_counts_only_listed_blocks() -> None:
    cache, rows = half(2, 2, 64, 8), np.array([[0, 1, 3, 4]], np.int32)
    inputs = [half(2, 3, 64), None, None, cache, cache, rows, numbers(0, 0, 1, 2)[None], numbers(20), numbers(20, 20)]
    case = Case("SparseAttention", inputs, {**TWO, "sparse_block_size": 16})
    assert count_operations(case) == (2 * 4 * 3 * 2 * 16 * 16, 768 * 6)


@pytest.mark.parametrize("op", ["LongformerAttention", "DecoderAttention", "BeamSearch", "WhisperBeamSearch"])
def test_data_dependent_attention_is_not_counted(op: str) -> None:
    price = TABLE[op].cost
    assert price is not None
    with pytest.raises(InferenceError, match=r"is data-dependent|depend on run-time flags"):
        price(Call(Node(op), [tensor("float32", (2, 8, 32))], 1, [tensor("float32", (2, 8, 32))]))


# positions
def test_rotary_cost_covers_only_rotated_elements() -> None:
    tables = [floats(10, 4), floats(10, 4)]
    whole = Case("RotaryEmbedding", [floats(2, 3, 32), np.zeros((2, 3), np.int64), *tables], {"num_heads": 4})
    assert cost(whole) == Cost(0, 3 * 192, 4 * 192 + 8 * 6 + 2 * 4 * 6 * 4)
    part = whole._replace(attributes={"num_heads": 4, "rotary_embedding_dim": 4})
    assert cost(part).other == 3 * 6 * 4 * 4


def test_relative_position_cost_covers_each_pair() -> None:
    bias = Case("RelativePositionBias", [half(32, 4), numbers(6), numbers(7)], {"max_distance": 128})
    assert count_operations(bias) == (0, 11 * 42)
    gated = next(case for case in CASES if case.op == "GatedRelativePositionBias")
    assert count_operations(gated) == (12 * 4 * 8 * 8, 12 * 32 + 12 * 4 * (16 + 6) + 2 * 4 * 36)
