"""Operators on strings."""

from onnx_autodoc.ir import Long
from onnx_autodoc.ops._call import Call, broadcast
from onnx_autodoc.ops._cost import free, untold
from onnx_autodoc.ops._known import Contradiction, Dim, Known, Unknown, tensor
from onnx_autodoc.ops._operator import Operator

_PARTS = "into how many parts a string splits is only known when the model runs"
_STOPWORDS = "how many words are left without the stop words is only known when the model runs"
_VOCABULARY = "TfIdfVectorizer's vocabulary is too long to be read whole"


def _string_concat(call: Call) -> list[Known]:
    return [tensor("string", broadcast(call.shape(0), call.shape(1)))]


def _string_split(call: Call) -> list[Known]:
    # The longest split decides the last dimension; shorter ones are filled up with empty strings.
    x = call.shape(0)
    return [tensor("string", (*x, 0 if 0 in x else Unknown(_PARTS))), tensor("int64", x)]


def _string_normalizer(call: Call) -> list[Known]:
    """[C] or [1, C] without the stop words."""
    x = call.shape(0)
    if len(x) not in (1, 2):
        raise Contradiction(f"StringNormalizer of {len(x)} dimensions, not 1 or 2")
    return [tensor("string", (*x[:-1], Unknown(_STOPWORDS) if call.attr_count("stopwords") else x[-1]))]


def _regex_full_match(call: Call) -> list[Known]:
    return [tensor("bool", call.shape(0))]


def _tf_idf_vectorizer(call: Call) -> list[Known]:
    # One place per n-gram of the vocabulary, for each row.
    x = call.shape(0)
    if len(x) not in (1, 2):
        raise Contradiction(f"TfIdfVectorizer of {len(x)} dimensions, not 1 or 2")
    return [tensor("float32", (*x[:-1], _places(call)))]


def _places(call: Call) -> Dim:
    if isinstance(call.attribute("ngram_indexes"), Long):
        return Unknown(_VOCABULARY)
    indexes = call.attr_ints("ngram_indexes")
    if not indexes:
        raise Contradiction("TfIdfVectorizer lacks its ngram_indexes")
    return max(indexes) + 1


_read = untold("how many characters are read, the data decide")

OPERATORS: dict[str, Operator] = {
    "StringConcat": Operator(_string_concat, cost=free),
    "StringSplit": Operator(_string_split, cost=_read),
    "StringNormalizer": Operator(_string_normalizer, cost=_read),
    "RegexFullMatch": Operator(_regex_full_match, cost=_read),
    "TfIdfVectorizer": Operator(
        _tf_idf_vectorizer, cost=untold("how many n-grams are found, the data decide"), held=("weights",)
    ),
}
