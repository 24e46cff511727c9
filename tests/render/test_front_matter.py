"""What people wrote in a README and its front matter is the same after a merge_readme, whatever it was."""

import re
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from onnx_autodoc.render import readme
from onnx_autodoc.render.huggingface import merge_readme
from onnx_autodoc.render.readme import parse_front_matter, split_readme, write_scalar
from tests.render._readmes import HUMAN, NEW, read_as_hub, remove_generated

KEYS = (
    "license",
    "tags",
    "language",
    "library_name",
    "pipeline_tag",
    "model-index",
    "widget",
    "a b",
    "x: y",
    "no",
    "#",
)
LINES = (
    "text",
    "# Title",
    "---",
    "***",
    "| a | b |",
    "> quote",
    "- item",
    "    code",
    "<b>",
    "```",
    "~~~py",
    "<!-- c -->",
)
WORDS = st.sampled_from(
    ("mit", "onnx", "yes", "1.5", "a: b", "#x", "it's", '"', "two\nlines\n", " x ", "- a", "é\U0001f680", "")
)
PLAIN = st.one_of(
    WORDS, st.integers(-9, 9), st.booleans(), st.none(), st.text("ab :#-'\"[]{},&*!|>%@`?\\\n", max_size=9)
)
NESTED = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3), max_leaves=8
)
DATA = st.dictionaries(st.sampled_from(KEYS), NESTED, min_size=1, max_size=5)
STYLES = st.fixed_dictionaries(
    {"indent": st.sampled_from((2, 4)), "width": st.sampled_from((20, 80)), "allow_unicode": st.booleans()}
)
TEXTS = st.one_of(st.lists(st.sampled_from(LINES), max_size=12).map("\n".join), st.text(max_size=60))


def dump_yaml(data: dict[str, Any], style: dict[str, Any]) -> str:
    """One key to a line, whatever is behind it."""
    parts = [yaml.safe_dump({key: value}, default_flow_style=None, **style) for key, value in data.items()]
    plain = [yaml.safe_dump({key: value}, default_flow_style=False, **style) for key, value in data.items()]
    text = "".join(other if part.startswith("{") else part for part, other in zip(parts, plain))
    assume(not re.search(r"(^|[-{,\s])\? ", text))  # a key of several lines
    return text


@given(DATA, STYLES)
def test_keys_of_any_front_matter_are_found(data: dict[str, Any], style: dict[str, Any]) -> None:
    text = dump_yaml(data, style)
    assert [key for key, _ in parse_front_matter(text).entries] == list(data)


@given(DATA, STYLES, st.sampled_from(("\n", "\r\n")))
def test_merged_front_matter_keeps_all_values(data: dict[str, Any], style: dict[str, Any], ending: str) -> None:
    old = f"---\n{dump_yaml(data, style)}---\nText\n".replace("\n", ending)
    merged = merge_readme(old, NEW)
    before, after = read_as_hub(old), read_as_hub(merged)
    ours = {"pipeline_tag", "license", "tags"}
    assert {key: value for key, value in after.items() if key not in ours - before.keys() | {"tags"}} == {
        key: value for key, value in before.items() if key != "tags"
    }
    if "tags" in before:
        there = before["tags"] if isinstance(before["tags"], list) else []
        assert after["tags"] == before["tags"] or after["tags"][: len(there)] == there
    assert merge_readme(merged, NEW) == merged
    assert after.keys() >= {"license", "tags"}


@given(TEXTS, TEXTS, st.sampled_from(("", "\ufeff")), st.sampled_from(("\n", "\r\n", "\r")))
@example("", "", "\ufeff", "\n")
@example("# A\n\n", "\n\n", "", "\r\n")
def test_text_around_generated_part_is_unchanged(one: str, two: str, mark: str, ending: str) -> None:
    one, two = one.replace("\n", ending), two.replace("\n", ending)
    try:
        first = merge_readme(mark + one + ending, NEW)
        old = first + two
        merged = merge_readme(old, NEW)
    except ValueError:
        assume(False)
    assert first.count(readme.BEGIN) == 1
    if not one.lstrip().startswith("---"):
        head, text = first.split(readme.BEGIN)[0], mark + one + ending
        assert head.startswith(mark)
        assert text.removeprefix(mark) in head
        assert head.rstrip("\r\n").endswith(text.removeprefix(mark).rstrip("\r\n"))
    assert merged == old
    newer = NEW.replace("A detector.", "Something else.\n\n- of more\n- lines")
    assert remove_generated(merge_readme(old, newer)) == remove_generated(old)
    assert merge_readme(merge_readme(old, newer), NEW) == old


@given(st.lists(st.sampled_from(range(len(HUMAN.split("\n")))), max_size=6, unique=True))
def test_damaged_readme_is_merged_or_refused(lost: list[int]) -> None:
    old = "\n".join(line for at, line in enumerate(HUMAN.split("\n")) if at not in lost)
    try:
        merged = merge_readme(old, NEW)
    except ValueError as error:
        assert "\n" not in str(error)
        return
    kept = iter(merged.split("\n"))
    assert all(line in kept for line in old.rstrip("\n").split("\n")), "lines are there, in their order"
    assert merge_readme(merged, NEW) == merged


@given(st.text(max_size=12))
@example("no")
@example("null")
@example("1.0")
@example("a: b")
@example("a #b")
@example("\u2028\x85\ufeff\ud800")
@example("\U0001f680\\\"'\t")
def test_scalar_is_parsed_as_the_same_text(text: str) -> None:
    read = yaml.safe_load(f"a: {write_scalar(text)}\nb: [{write_scalar(text)}]\n")
    assert read["a"] == read["b"][0]
    assert isinstance(read["a"], str)
    assert not text.isascii() or not text.isprintable() or read["a"] == text


@pytest.mark.parametrize(
    "text", [HUMAN, NEW, "", "# A", "---\n---\nA", "\ufeff\n---\na: b\n---", "---\r\na: b\r\n---\r\n\r\nA"]
)
def test_parts_of_readme_concatenate_to_it(text: str) -> None:
    parts = split_readme(text)
    assert parts.before + (parts.block or "") + parts.closing + parts.after == text
