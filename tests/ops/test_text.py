from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ir import Node, TruncatedList
from onnx_autodoc.ops.call import Call
from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.ml import TEXT as OPERATORS
from onnx_autodoc.ops.values import Unknown, tensor
from tests.ops._calls import unknown_reason
from tests.ops._one_node import assert_as_it_runs, cost, infer

WORDS = np.array(["a b", "c"], object)
COUNTING: dict[str, Any] = {
    "mode": "TF",
    "min_gram_length": 1,
    "max_gram_length": 1,
    "max_skip_count": 0,
    "ngram_counts": [0],
    "ngram_indexes": [0, 5],
    "pool_int64s": [1, 2],
}


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("StringConcat", [WORDS, np.array([["x"], ["y"]], object)], {}),
        ("RegexFullMatch", [WORDS], {"pattern": "a.*"}),
        ("StringNormalizer", [WORDS], {"case_change_action": "NONE"}),
        ("TfIdfVectorizer", [np.array([1, 2])], COUNTING),
        ("TfIdfVectorizer", [np.array([[1, 2], [3, 4]])], COUNTING),
    ],
)
def test_text_outputs_equal_those_of_a_run(op: str, inputs: list[Any], attributes: dict[str, Any]) -> None:
    assert_as_it_runs(OPERATORS, op, inputs, 20, **attributes)


def test_split_of_empty_tensor_has_no_parts() -> None:
    assert_as_it_runs(OPERATORS, "StringSplit", [np.zeros((2, 0), object)], 20, outputs=2)


def test_size_that_depends_on_words_is_unknown() -> None:
    parts, counts = infer(OPERATORS, "StringSplit", [WORDS], 20, outputs=2)
    assert parts.shape is not None
    assert isinstance(parts.shape[1], Unknown)
    assert (counts.dtype, counts.shape) == ("int64", (2,))
    (left,) = infer(OPERATORS, "StringNormalizer", [WORDS], 20, stopwords=["c"])
    assert left.concrete is None


def test_truncated_vocabulary_has_unknown_size() -> None:
    node = Node("TfIdfVectorizer", attributes={"ngram_indexes": TruncatedList(10**6, (0, 1))})
    (out,) = OPERATORS["TfIdfVectorizer"].infer(Call(node, [tensor("int64", (9,))], 9))
    assert out.concrete is None


def test_string_concatenation_has_no_arithmetic() -> None:
    assert cost(OPERATORS, "StringConcat", [WORDS, WORDS], 20) == Cost()


@pytest.mark.parametrize("op", ["StringSplit", "StringNormalizer", "RegexFullMatch"])
def test_work_per_character_is_not_counted(op: str) -> None:
    assert unknown_reason(cost(OPERATORS, op, [WORDS], 20)) == f"{op}: the number of characters read is data-dependent"


def test_vocabulary_weights_are_learned() -> None:
    assert "n-grams" in unknown_reason(cost(OPERATORS, "TfIdfVectorizer", [np.array([1, 2])], 20, **COUNTING))
    assert OPERATORS["TfIdfVectorizer"].learned_attributes == ("weights",)
