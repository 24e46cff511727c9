"""Fused attention operators: heads, widths and masks from attributes and inputs."""

from typing import Any

import numpy as np
import pytest
from msgspec import structs

from tests.patterns._attention import attention_sizes
from tests.patterns._nets import Value, build_net, count_blocks, find_only, list_kinds

X: dict[str, Value] = {"x": (2, 6, 32), "P": (32, 96), "C": (96,), "Q": (32, 32), "K": (32, 16), "O": (32, 32)}
BYTES = np.ones((32, 96), np.int8)
FEW = "com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2, do_rotary = 1{0}>"
FEW += "({1}, pk, pv, lengths, total, R, I)"
CACHE: dict[str, Value] = {
    "pk": (2, 2, 9, 8),
    "pv": (2, 2, 9, 8),
    "lengths": "int32[2]",
    "total": "int32",
    "R": (64, 4),
    "I": (64, 4),
}
CASES: dict[str, tuple[str, dict[str, Value], dict[str, Any]]] = {
    "Attention": (
        "y = MatMul(com.microsoft.Attention<num_heads = 4>(x, P, C), O)",
        {},
        {"sizes": (4, 4, 8), "causal": False, "cross": False},
    ),
    "Attention, causal": (
        "y = MatMul(com.microsoft.Attention<num_heads = 4, unidirectional = 1>(x, P, C), O)",
        {},
        {"sizes": (4, 4, 8), "causal": True},
    ),
    "Attention of unequal widths": (
        "y = com.microsoft.Attention<num_heads = 4, qkv_hidden_sizes = [64, 64, 32]>(x, P, C)",
        {"P": (32, 160), "C": (160,)},
        {"sizes": (4, 4, 16)},
    ),
    "QAttention": (
        "y = com.microsoft.QAttention<num_heads = 4>(x, Z, C, 0.1, 0.1)",
        {"x": "uint8[2,6,32]", "Z": BYTES},
        {"sizes": (4, 4, 8), "form": "QAttention"},
    ),
    "MultiHeadAttention": (
        "y = MatMul(com.microsoft.MultiHeadAttention<num_heads = 4>(MatMul(x, Q), MatMul(x, Q), MatMul(x, O)), O)",
        {},
        {"sizes": (4, 4, 8), "cross": False, "out_features": 32},
    ),
    "MultiHeadAttention, cross-attention": (
        "y = com.microsoft.MultiHeadAttention<num_heads = 4>(MatMul(x, Q), MatMul(z, Q), MatMul(z, O))",
        {"z": (2, 9, 32)},
        {"sizes": (4, 4, 8), "cross": True},
    ),
    "MultiHeadAttention, packed": (
        "y = com.microsoft.MultiHeadAttention<num_heads = 4>(Reshape(MatMul(x, P), [2, 6, 4, 3, 8]))",
        {},
        {"sizes": (4, 4, 8)},
    ),
    "GroupQueryAttention": (
        f"y, k2, v2 = {FEW.format('', 'MatMul(x, Q), MatMul(x, K), MatMul(x, K)')}",
        CACHE,
        {"sizes": (4, 2, 8), "causal": True, "rotary": True, "windowed": False},
    ),
    "GroupQueryAttention, packed": (
        f"y, k2, v2 = {FEW.format(', local_window_size = 5', 'MatMul(x, P), , ')}",
        {**CACHE, "P": (32, 64)},
        {"sizes": (4, 2, 8), "causal": True, "windowed": True},
    ),
    "ONNX": (
        "y = Attention<q_num_heads = 4, kv_num_heads = 2>(MatMul(x, Q), MatMul(x, K), MatMul(x, K))",
        {},
        {"sizes": (4, 2, 8), "causal": None, "cross": False},
    ),
    "ONNX, causal": (
        "y = Attention<q_num_heads = 4, kv_num_heads = 4, is_causal = 1>(MatMul(x, Q), MatMul(x, Q), MatMul(x, Q))",
        {},
        {"sizes": (4, 4, 8), "causal": True},
    ),
    "ONNX, four axes": (
        "y = Attention(q, k, k)",
        {"q": (2, 4, 6, 8), "k": (2, 2, 9, 8)},
        {"sizes": (4, 2, 8)},
    ),
    "ONNX, triangular mask": (
        "y = Attention(q, k, k, M)",
        {"q": (2, 4, 6, 8), "k": (2, 4, 6, 8), "M": np.tri(6, dtype=bool)},
        {"sizes": (4, 4, 8), "causal": True},
    ),
}


@pytest.mark.parametrize(("body", "values", "expected"), CASES.values(), ids=CASES)
def test_fused_attention_attributes_are_read(body: str, values: dict[str, Value], expected: dict[str, Any]) -> None:
    net = build_net(body, opset=23, **{**X, **values})
    attention = find_only(net, "attention")
    found_attributes = {"sizes": attention_sizes(attention), **structs.asdict(attention.attention)}
    assert {key: found_attributes[key] for key in expected} == expected


def test_outer_projections_belong_to_fused_attention() -> None:
    net = build_net(CASES["MultiHeadAttention"][0], **X)
    assert list_kinds(net) == ["attention"] and count_blocks(net, "linear") == 4


def test_inner_projection_is_a_linear_part() -> None:
    net = build_net(CASES["Attention"][0], **X)
    assert list_kinds(net) == ["attention"] and count_blocks(net, "linear") == 2
    inner = next(op for op in net.walk() if op.kind == "linear")
    assert (inner.in_features, inner.out_features, inner.linear.biased) == (32, 96, True)


def test_fused_attention_of_unknown_size_is_matched() -> None:
    net = build_net(
        "y = com.microsoft.MultiHeadAttention<num_heads = 4>(q, k, k)",
        q="float[N,S,H]",
        k="float[N,T,H]",
        invalid=True,
    )
    assert find_only(net, "attention").attention.heads == 4
