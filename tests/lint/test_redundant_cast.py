import pytest

from tests.lint._check import check_rule

_NUMBERS = {
    "float": 1,
    "uint8": 2,
    "int8": 3,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "double": 11,
    "bfloat16": 16,
}


def casts(start: str, between: str, end: str, more: str = "", outputs: str = "") -> list[tuple[str, tuple[str, ...]]]:
    nodes = f"[a] a = Cast<to = {_NUMBERS[between]}>(x) [b] y = Cast<to = {_NUMBERS[end]}>(a) {more}"
    text = f"g ({start}[2] x) => ({end} y{outputs}) {{ {nodes} }}"
    return [(finding.message, finding.evidence) for finding in check_rule("redundant-cast", text)]


@pytest.mark.parametrize(
    ("start", "between"),
    [
        ("float16", "float"),
        ("bfloat16", "float"),
        ("int32", "int64"),
        ("int8", "float16"),
        ("uint8", "bfloat16"),
        ("bool", "float"),
        ("int32", "double"),
        ("uint8", "int32"),
    ],
)
def test_cast_back_is_reported(start: str, between: str) -> None:
    assert casts(start, between, start) == [("1 cast only reverses an earlier one", ("b",))]


@pytest.mark.parametrize(
    ("start", "between"),
    [
        ("float", "float16"),
        ("int64", "int32"),
        ("int64", "float"),
        ("int32", "float"),
        ("int8", "uint8"),
        ("float16", "bfloat16"),
        ("float", "int32"),
        ("int32", "bool"),
    ],
)
def test_cast_back_from_a_type_that_rounds_is_not_reported(start: str, between: str) -> None:
    assert casts(start, between, start) == []


@pytest.mark.parametrize(
    ("start", "between", "end"),
    [
        ("bool", "int32", "float"),
        ("float16", "float", "double"),
        ("int32", "int64", "float"),
        ("uint8", "int64", "int32"),
    ],
)
def test_onward_cast_after_a_lossless_one_is_reported(start: str, between: str, end: str) -> None:
    assert casts(start, between, end) == [("1 cast could read the input of the previous cast", ("b",))]


@pytest.mark.parametrize(
    ("start", "between", "end"),
    [
        ("float", "int32", "float16"),
        ("int64", "int32", "float"),
        ("int32", "double", "int8"),
        ("float", "bool", "int64"),
    ],
)
def test_onward_cast_after_a_lossy_one_is_not_reported(start: str, between: str, end: str) -> None:
    assert casts(start, between, end) == []


def test_cast_with_other_readers_is_not_reported() -> None:
    assert casts("bool", "int32", "float", "z = Neg(a)", ", int32 z") == []
