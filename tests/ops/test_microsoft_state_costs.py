"""What layers of com.microsoft with a state cost, and what surrounds decoding, by hand."""

from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ops import attention, convolution
from onnx_autodoc.ops.cost import Cost
from tests.ops._arrays import half
from tests.ops._calls import Case, cost_of, floats, ints
from tests.ops.test_microsoft import DECODED, STATEFUL, convolution_case, linear
from tests.ops.test_microsoft_attention_costs import CASES, cost, count_operations
from tests.ops.test_microsoft_schemas import CSA, INDEXED, QSA


def find_case(op: str, **attributes: Any) -> Case:
    return next(case for case in CASES if case.op == op and attributes.items() <= dict(case.attributes).items())


@pytest.mark.parametrize("case", [linear(2, 2), linear(2, 1)], ids=["equal", "grouped"])
def test_linear_attention_cost_equals_that_of_onnx(case: Case) -> None:
    assert cost(case) == cost_of(attention.OPERATORS["LinearAttention"], case, "")


def test_linear_attention_cost_counts_read_update_and_gate_per_head() -> None:
    steps, state = 2 * 3, 8 * 12
    assert count_operations(linear(2, 2)) == (steps * state * (2 + 2 * 2), steps * state * 2)
    assert count_operations(linear(1, 2)) == count_operations(linear(2, 2))
    plain = linear(2, 2)
    assert count_operations(plain._replace(attributes={**plain.attributes, "update_rule": "linear"})) == (
        steps * state * 4,
        0,
    )


def test_gated_delta_net_cost_includes_its_gates() -> None:
    case = find_case("GatedDeltaNet")
    assert count_operations(case) == (9 * 128 * (4 + 2 * 4), 9 * 128 * 4)
    fused = {"gate_activation": "qwen", "beta_activation": "sigmoid", "qk_l2_norm": 1}
    assert count_operations(case._replace(attributes=fused))[1] == 9 * 128 * 4 + 5 * 36 + 36 + 3 * 288 + 36


def test_causal_convolution_cost_equals_that_of_onnx() -> None:
    case = convolution_case(2, 4, 9)
    assert cost(case) == Cost(72 * 3, 0)
    biased = Case("CausalConvWithState", [*case.inputs[:2], floats(4)], {"activation": "silu"}, 2)
    assert cost(biased) == Cost(72 * 3, 72 * 3)
    assert cost(biased) == cost_of(convolution.OPERATORS["CausalConvWithState"], biased, "")
    assert count_operations(find_case("VarlenCausalConvWithState")) == (72 * 4, 0)


def test_gates_and_mixed_streams_are_counted_per_element() -> None:
    assert count_operations(find_case("LinearAttentionGate")) == (0, 5 * 24 + 24)
    assert count_operations(find_case("EngramGate")) == (0, 96 * 15 + 12 * 16)
    assert [count_operations(case) for case in STATEFUL if case.op == "HyperConnectionPreMix"] == [(0, 2 * 192)] * 2
    post = find_case("HyperConnectionPostMix")
    assert count_operations(post) == (0, 2 * 192)
    assert count_operations(post._replace(inputs=[*post.inputs, floats(2, 3, 4, 4)])) == (192 * 4, 2 * 192)


def test_indexer_cost_covers_every_entry() -> None:
    indexer = Case("SparseAttentionIndexer", [half(2, 6, 32), half(2, 6, 8), *INDEXED, None, half(2, 10, 8)], QSA, 2)
    queries, scores, entries = 2 * 6 * 4, 2 * 6 * 4 * 4, 2 * 4
    prepared = (queries + entries) * (4 * 8 + 3 + 3 * 4)
    assert count_operations(indexer) == (scores * 8, 3 * scores + prepared + entries * 8 * 5 + 2 * 48)
    compressed = find_case("SparseAttentionIndexer", **CSA)
    assert count_operations(compressed)[0] == 2 * 6 * 4 * (10 + 1) * 8


def test_decoding_operators_cost_their_formula() -> None:
    assert [count_operations(case) for case in DECODED if case.op == "NGramHashMapping"] == [(0, 80 + 10 * 5)]
    assert count_operations(Case("NGramRepeatBlock", [ints(2, 5), floats(2, 9)], {"ngram_size": 2})) == (0, 2 * 4)
    assert count_operations(Case("DynamicTimeWarping", [floats(4, 5)])) == (0, 60)
    assert count_operations(find_case("WordConvEmbedding")) == (3 * 5 * 56, 3 * 15 * 7)


def test_attention_lstm_cost_covers_its_memory_at_every_step() -> None:
    macs, other = count_operations(find_case("AttnLSTM"))
    assert macs == 10 * 4 * 8 * (10 + 8) + 10 * (8 * 3 + 4 * (3 + 6)) + 2 * 4 * 6 * 3
    assert other == 10 * 8 * (13 + 8) + 10 * 4 * (2 * 3 + 5)
    layered = find_case("AttnLSTM")
    grown = [*layered.inputs, np.zeros((1, 14, 6), np.float32)]
    assert count_operations(layered._replace(inputs=grown))[0] == macs + 10 * 14 * 6
