"""Text from a file is read as data in bounded time, whatever it is; what is no data is None."""

import time

import msgspec
import pytest

from onnx_autodoc.architecture.metadata_fields import MAX_ITEMS, parse_data

_MANY = 1 << 20
_HOSTILE = {
    "open brackets": "(" * _MANY,
    "open lists": "[" * _MANY,
    "open mappings": "{'a':" * (_MANY // 5),
    "open JSON": '{"a":' * (_MANY // 5),
    "digits": "9" * _MANY,
    "digits in a list": "[" + "9" * _MANY,
    "a large power": "1" + "0" * _MANY + "e5",
    "quotation marks": "'" * _MANY,
    "an open text": "'" + "a" * _MANY,
    "backslashes": "'" + "\\" * _MANY,
    "no characters": "'" + "\\U99999999" * 10 + "'",
    "blanks": " " * _MANY + "x",
    "blanks after a number": "1" + " " * _MANY + "x",
    "commas": "[" + "," * _MANY,
    "pairs of brackets": "[]" * (_MANY // 2),
    "letters that may begin a text": "u" * _MANY,
    "numbers": "[" + "1," * (_MANY // 2) + "]",
    "texts": "[" + "'a'," * (_MANY // 4) + "]",
    "lists of nothing": "[" + "()," * (_MANY // 3) + "]",
}


@pytest.mark.parametrize("text", _HOSTILE.values(), ids=_HOSTILE)
def test_hostile_text_is_rejected_quickly(text: str) -> None:
    start = time.process_time()
    assert parse_data(text) is None
    assert time.process_time() - start < 1


def test_item_limit_is_exact() -> None:
    assert parse_data("[" + "1," * MAX_ITEMS + "]") == [1] * MAX_ITEMS
    assert parse_data("[" + "1," * (MAX_ITEMS + 1) + "]") is None
    within = "(" + "1," * (MAX_ITEMS // 2) + "),"
    assert parse_data(f"[{within}{within}]") is None


def test_memory_error_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: str) -> object:
        raise MemoryError

    monkeypatch.setattr(msgspec.json, "decode", full)
    with pytest.raises(MemoryError):
        parse_data("[1]")
