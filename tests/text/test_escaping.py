"""Strings from a file are displayed on one line, without hidden characters, and cannot pass for the tool's words."""

import json

import pytest

from onnx_autodoc.text import display_name, escape_ci_commands, sanitize, sanitize_json, sanitize_text

HIDDEN = (
    "\x00",
    "\x1b",
    "\x7f",
    "\x85",
    "\x9b",
    "\n",
    "\r",
    "\u00ad",
    "\u200b",
    "\u200d",
    "\u202e",
    "\u2066",
    "\u2028",
)
IGNORABLE = ("\u034f", "\u115f", "\u180b", "\u2800", "\u3164", "\ufe0f", "\ufeff", "\U000e0001", "\U000e0100", "\udcff")


@pytest.mark.parametrize("char", [*HIDDEN, *IGNORABLE])
def test_hidden_character_is_escaped(char: str) -> None:
    assert sanitize(f"a{char}b") == f"a{char.encode('unicode_escape').decode()}b"


@pytest.mark.parametrize("text", ["Größe", "名前", "a b", "x → y", "é́", "🚀"])
def test_visible_text_is_unchanged(text: str) -> None:
    assert sanitize(text) == text


@pytest.mark.parametrize("text", ["##[error]x", "###[x]", "a ##vso[task.x]y", "##teamcity[x 'y']", "##a.b-c[x]"])
def test_ci_command_in_a_name_is_escaped(text: str) -> None:
    shown = sanitize(text)
    assert "\\x23" in shown
    assert shown.replace("\\x23", "#") == text
    assert sanitize(shown) == shown


def test_hashes_without_a_command_are_unchanged() -> None:
    assert sanitize("## [x] ##ing #[y]") == "## [x] ##ing #[y]"


def test_long_text_is_shortened_before_it_is_escaped() -> None:
    assert sanitize("\u202e" * 1_000_000, 10) == "\\u202e" * 9 + "…"


@pytest.mark.parametrize(
    "name", ["input_ids", "/model/layers.0/MatMul", "onnx::Add_3", "images:0", "Größe", "x[0]", "_a"]
)
def test_plain_word_is_not_quoted(name: str) -> None:
    assert display_name(name, 60) == name


@pytest.mark.parametrize(
    "name",
    ["", "12", "no problems found", "x and 3 more", "(verified)", "safe.", "none", "Nothing", "a,b", "<b>", "a\nb"],
)
def test_name_that_reads_like_a_sentence_is_quoted(name: str) -> None:
    assert display_name(name) == f"“{sanitize(name)}”"


def test_name_cannot_close_its_quotation_marks() -> None:
    assert display_name("x”. All is well. “y") == "“x\\u201d. All is well. \\u201cy”"


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
def test_ci_command_in_a_document_is_escaped_once(text: str, shown: str) -> None:
    assert escape_ci_commands(text) == shown
    assert escape_ci_commands(shown) == shown


def test_document_keeps_line_ends_and_no_other_hidden_character() -> None:
    assert sanitize_text("a\tb\r\nc\u2028::x\n") == "a\\tb\\r\nc\\u2028::x\n"


@pytest.mark.parametrize(
    "text", ["##[x]", "###vso[y]", "\u202e\x7f\x9b", "\U000e0001\ufeff", "é → ü", "a\n::b", '"##"[']
)
def test_sanitized_json_decodes_to_the_same_value(text: str) -> None:
    for ascii_only in (True, False):
        shown = sanitize_json(json.dumps({text: [text]}, ensure_ascii=ascii_only))
        assert json.loads(shown) == {text: [text]}
        assert "##[" not in shown
        assert "\u202e" not in shown
