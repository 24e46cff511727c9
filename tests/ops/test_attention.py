from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ops.attention import OPERATORS
from onnx_autodoc.ops.values import Contradiction, Unknown
from tests.ops._one_node import assert_as_it_runs, infer, numbers, shape_of, zeros

PACKED = [zeros(2, 3, 4 * 8), zeros(2, 5, 2 * 8), zeros(2, 5, 2 * 6)]  # 4 query heads, 2 of keys and values
UNPACKED = [zeros(2, 4, 3, 8), zeros(2, 2, 5, 8), zeros(2, 2, 5, 6)]
PAST = [None, zeros(2, 2, 7, 8), zeros(2, 2, 7, 6)]
HEADS = {"q_num_heads": 4, "kv_num_heads": 2}
CACHED = [(2, 2, 12, 8), (2, 2, 12, 6), (2, 4, 3, 12)]


@pytest.mark.parametrize(
    ("inputs", "attributes", "shapes"),
    [
        (PACKED, HEADS, [(2, 3, 24), (2, 2, 5, 8), (2, 2, 5, 6), (2, 4, 3, 5)]),
        (UNPACKED, {}, [(2, 4, 3, 6), (2, 2, 5, 8), (2, 2, 5, 6), (2, 4, 3, 5)]),
        ([*PACKED, *PAST], HEADS, [(2, 3, 24), *CACHED]),
        ([*UNPACKED, *PAST], {}, [(2, 4, 3, 6), *CACHED]),
    ],
)
def test_attention_outputs_equal_those_of_a_run(inputs: Any, attributes: Any, shapes: Any) -> None:
    out = infer(OPERATORS, "Attention", inputs, 23, outputs=4, **attributes)
    assert [known.shape for known in out] == shapes
    assert {known.dtype for known in out} == {"float32"}


def test_attention_variants_have_their_specified_shapes() -> None:
    q, k, v = zeros(2, 3, 4 * 8), zeros(2, 3, 2 * 8), zeros(2, 3, 2 * 6)
    out = infer(OPERATORS, "LinearAttention", [q, k, v], 27, outputs=2, **HEADS)
    assert [known.shape for known in out] == [(2, 3, 4 * 6), (2, 2, 8, 6)]
    state = zeros(2, 2, 8, 6, dtype=np.float16)
    assert infer(OPERATORS, "LinearAttention", [q, k, v, state], 27, outputs=2, **HEADS)[1].dtype == "float16"
    assert shape_of(OPERATORS, "RotaryEmbedding", (2, 3, 4, 8), (9, 4), (9, 4)) == (2, 3, 4, 8)
    assert infer(OPERATORS, "TensorScatter", [zeros(1, 9, 4), zeros(1, 2, 4), numbers(3)], 24)[0].shape == (1, 9, 4)


def test_past_of_unknown_length_leaves_other_dims_known() -> None:
    free = Unknown("the past is free")
    shapes = [(2, 4, 1, 8), (2, 2, 1, 8), (2, 2, 1, 6), (1,), (2, 2, free, 8), (2, 2, free, 6)]
    assert shape_of(OPERATORS, "Attention", *shapes) == (2, 4, 1, 6)


@pytest.mark.parametrize("attributes", [{}, {"q_num_heads": 3, "kv_num_heads": 2}, {"q_num_heads": 0}])
def test_indivisible_heads_are_a_contradiction(attributes: dict[str, int]) -> None:
    with pytest.raises(Contradiction):
        infer(OPERATORS, "Attention", PACKED, 23, **attributes)


def test_attention_reference_runs_in_onnxruntime() -> None:
    assert_as_it_runs(OPERATORS, "Attention", PACKED, 23, **HEADS)
    assert_as_it_runs(OPERATORS, "Attention", [*UNPACKED, *PAST], 23, outputs=3)
