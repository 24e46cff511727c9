"""The last look at a document: no line of it is a command, and data are the same data."""

import json

import pytest

from onnx_autodoc.text import quiet, quiet_json, tame


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", "\\::error::x"),
        ("a\n  ::error::x", "a\n \\::error::x"),
        ("a\n\t::x", "a\n\t\\::x"),
        ("\u3000::x", "\u3000\\::x"),
        ("\x1b[1m ::x", "\x1b[1m\\::x"),
        ("a ::x b::c", "a ::x b::c"),
        ("a ##[x]\n##vso[y]", "a #\\x23[x]\n#\\x23vso[y]"),
        ("## Title\n\n### [x]", "## Title\n\n### [x]"),
    ],
)
def test_no_line_is_a_command(text: str, shown: str) -> None:
    assert tame(text) == shown
    assert tame(shown) == shown


def test_only_ends_of_lines_are_left_of_what_cannot_be_seen() -> None:
    assert quiet("a\tb\r\nc\u2028::x\n") == "a\\tb\\r\nc\\u2028::x\n"


@pytest.mark.parametrize(
    "text", ["##[x]", "###vso[y]", "\u202e\x7f\x9b", "\U000e0001\ufeff", "é → ü", "a\n::b", '"##"[']
)
def test_json_in_other_letters_is_the_same_value(text: str) -> None:
    for ascii_only in (True, False):
        shown = quiet_json(json.dumps({text: [text]}, ensure_ascii=ascii_only))
        assert json.loads(shown) == {text: [text]}
        assert "##[" not in shown
        assert "\u202e" not in shown
