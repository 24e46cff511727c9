"""Untrusted metadata text is parsed in bounded time; text that is not data is None."""

import time

import pytest

from onnx_autodoc.architecture.metadata_fields import MAX_ITEMS, parse_data

_COUNT = 1 << 20
_HOSTILE = {
    "open brackets": "(" * _COUNT,
    "open lists": "[" * _COUNT,
    "open mappings": "{'a':" * (_COUNT // 5),
    "open JSON": '{"a":' * (_COUNT // 5),
    "digits": "9" * _COUNT,
    "digits in a list": "[" + "9" * _COUNT,
    "a large power": "1" + "0" * _COUNT + "e5",
    "quotation marks": "'" * _COUNT,
    "an open string": "'" + "a" * _COUNT,
    "backslashes": "'" + "\\" * _COUNT,
    "invalid characters": "'" + "\\U99999999" * 10 + "'",
    "blanks": " " * _COUNT + "x",
    "blanks after a number": "1" + " " * _COUNT + "x",
    "commas": "[" + "," * _COUNT,
    "pairs of brackets": "[]" * (_COUNT // 2),
    "prefixes of a string": "u" * _COUNT,
    "numbers": "[" + "1," * (_COUNT // 2) + "]",
    "strings": "[" + "'a'," * (_COUNT // 4) + "]",
    "empty lists": "[" + "()," * (_COUNT // 3) + "]",
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
    def full(*_: object) -> object:
        raise MemoryError

    monkeypatch.setattr("onnx_autodoc.architecture.metadata_fields.decode_json", full)
    with pytest.raises(MemoryError):
        parse_data("[1]")
