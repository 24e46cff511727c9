"""Strings of a file as people see them: on one line, with nothing hidden, and told from our own words."""

import pytest

from onnx_autodoc.text import clean, named

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
IGNORED = ("\u034f", "\u115f", "\u180b", "\u2800", "\u3164", "\ufe0f", "\ufeff", "\U000e0001", "\U000e0100", "\udcff")


@pytest.mark.parametrize("char", [*HIDDEN, *IGNORED])
def test_what_cannot_be_seen_is_written_as_an_escape(char: str) -> None:
    assert clean(f"a{char}b") == f"a{char.encode('unicode_escape').decode()}b"


@pytest.mark.parametrize("text", ["Größe", "名前", "a b", "x → y", "é́", "🚀"])
def test_what_can_be_seen_stays(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize("text", ["##[error]x", "###[x]", "a ##vso[task.x]y", "##teamcity[x 'y']", "##a.b-c[x]"])
def test_no_text_begins_a_command_of_a_runner(text: str) -> None:
    shown = clean(text)
    assert "\\x23" in shown
    assert shown.replace("\\x23", "#") == text
    assert clean(shown) == shown


def test_hashes_that_begin_nothing_stay() -> None:
    assert clean("## [x] ##ing #[y]") == "## [x] ##ing #[y]"


def test_a_megabyte_is_shortened_before_anything_else_is_done() -> None:
    assert clean("\u202e" * 1_000_000, 10) == "\\u202e" * 9 + "…"


@pytest.mark.parametrize(
    "name", ["input_ids", "/model/layers.0/MatMul", "onnx::Add_3", "images:0", "Größe", "x[0]", "_a"]
)
def test_a_name_of_one_word_needs_no_marks(name: str) -> None:
    assert named(name, 60) == name


@pytest.mark.parametrize(
    "name",
    ["", "12", "no problems found", "x and 3 more", "(verified)", "safe.", "none", "Nothing", "a,b", "<b>", "a\nb"],
)
def test_a_name_that_could_be_words_of_ours_is_in_quotation_marks(name: str) -> None:
    assert named(name) == f"“{clean(name)}”"


def test_no_name_ends_its_quotation() -> None:
    assert named("x”. All is well. “y") == "“x\\u201d. All is well. \\u201cy”"
