"""Text from a file is read as data in bounded time, whatever it is; what is no data is None."""

import time

import msgspec
import pytest

from onnx_autodoc.architecture.metadata._literal import MAX_ITEMS, parsed

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
def test_text_that_is_made_to_take_long_is_no_data_and_takes_little(text: str) -> None:
    start = time.process_time()
    assert parsed(text) is None
    assert time.process_time() - start < 1


def test_a_text_may_hold_so_many_things_and_not_one_more() -> None:
    assert parsed("[" + "1," * MAX_ITEMS + "]") == [1] * MAX_ITEMS
    assert parsed("[" + "1," * (MAX_ITEMS + 1) + "]") is None
    within = "(" + "1," * (MAX_ITEMS // 2) + "),"
    assert parsed(f"[{within}{within}]") is None


def test_memory_that_runs_out_is_not_taken_for_odd_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: str) -> object:
        raise MemoryError

    monkeypatch.setattr(msgspec.json, "decode", full)
    with pytest.raises(MemoryError):
        parsed("[1]")
