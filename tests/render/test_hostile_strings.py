"""Every format x every string: parsed by what reads it, no string is more than a string, and no line is a command."""

import csv
import io
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lxml import etree
from msgspec.structs import replace

from onnx_autodoc.api import make_card
from onnx_autodoc.card import Generated, load
from onnx_autodoc.compare import Comparison, compare
from onnx_autodoc.errors import BadInput
from onnx_autodoc.policy import Policy, check_cards
from onnx_autodoc.render import (
    COMPARISON_FORMATS,
    FORMATS,
    Report,
    render_comparison_terminal,
    render_outcome,
    render_terminal,
)
from onnx_autodoc.render.html.page import render_fragment, render_print
from onnx_autodoc.shapes import Request
from onnx_autodoc.text import escape_hidden, sanitize_text
from tests._corpus import load_report
from tests.render._poison import ATTACKS, MARK, Poison, model
from tests.render._readmes import read_as_hub
from tests.render.html._parsed import Parsed
from tests.render.test_markdown import OURS, parse_page

NAME = "all-minilm-l6-v2-ts-op14"
FIRST = range(0, len(ATTACKS), 5)
LINES = ("terminal", "markdown", "architecture", "csv", "mermaid", "huggingface")
OBJECTS = ("json", "cyclonedx", "sarif")
VERDICTS = ("text", "json", "sarif", "junit", "github", "summary")
AT = Generated("onnx-autodoc", "0", "2001-01-01T00:00:00Z")
POISONED = "1.999"
SPOKEN = ("data-", "aria-")  # attributes that only hold words
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@cache
def make_hostile_report(first: int) -> Report:
    """A real card and the rows of its nodes, each string of them replaced: a stranger wrote that JSON card."""
    hostile, poison = load_report(NAME), Poison(first)
    card = replace(poison.all(hostile.card), schema_version=POISONED)
    rows = [poison.all(row) for row in list(hostile.nodes())[:200]]
    return Report(card, lambda: iter(rows))


@pytest.fixture(scope="module", params=[*(("card", first) for first in FIRST), *(("file", first) for first in FIRST)])
def hostile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Report:
    kind, first = request.param
    return (
        make_hostile_report(first)
        if kind == "card"
        else make_card(model(tmp_path_factory.mktemp("m"), first), Request())
    )


@pytest.fixture(scope="module")
def plain(hostile: Report, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Each string a word of its own, in the same places."""
    if hostile.card.schema_version == POISONED:
        return Report(Poison(0, ("word{}",)).all(hostile.card), hostile.nodes)
    return make_card(model(tmp_path_factory.mktemp("tame"), 0, ("word{}",)), Request())


def render_format(hostile: Report, name: str) -> str:
    text = FORMATS[name].render(hostile)
    assert isinstance(text, str)
    assert re.search(MARK, text) or name in ("mermaid", "github", "junit"), "the strings are in it"
    return text


def parse_strict(text: str) -> Any:
    def refused(word: str) -> None:
        raise ValueError(word)

    return json.loads(text, parse_constant=refused)


def is_mute(text: str) -> bool:
    """Whether nothing in it tells a terminal or a runner anything; runners know more ends of lines than one."""
    lines = text.splitlines()
    return escape_hidden(text) == text and not any(
        line.lstrip().startswith("::") or re.search(r"##[\w.-]*\[", line) for line in lines
    )


@pytest.mark.parametrize("name", LINES)
def test_texts_have_no_control_characters_or_workflow_commands(name: str, hostile: Report) -> None:
    assert is_mute(render_format(hostile, name))


def test_colored_terminal_has_only_color_codes(hostile: Report) -> None:
    assert is_mute(COLOURS.sub("", render_terminal(hostile, color=True)))


@pytest.mark.parametrize("name", [*OBJECTS, "nodes"])
def test_data_formats_are_strict_json_without_hidden_characters(name: str, hostile: Report) -> None:
    text = render_format(hostile, name)
    assert is_mute(text)
    lines = text.splitlines() if name == "nodes" else [text]
    assert lines
    for line in lines:
        assert isinstance(parse_strict(line), dict)


def test_json_with_escapes_decodes_to_the_card(hostile: Report) -> None:
    card = parse_strict(msgspec.json.encode(hostile.card).decode())
    assert parse_strict(render_format(hostile, "json")) == card


@pytest.mark.parametrize("name", ["markdown", "architecture", "huggingface"])
def test_hostile_strings_are_no_markdown(name: str, hostile: Report) -> None:
    page = parse_page(
        render_format(hostile, name).partition("\n---\n")[2] if name == "huggingface" else render_format(hostile, name)
    )
    assert {tag for tag, _ in page.tags} <= OURS
    assert not [attrs for _, attrs in page.tags if set(attrs) - {"align", "lang", "class"}]
    assert not [tag for tag, _ in page.tags if tag == "img"]


@pytest.mark.parametrize("name", ["markdown", "architecture", "huggingface"])
def test_hostile_strings_add_no_heading_or_cell(name: str, hostile: Report, plain: Report) -> None:
    """As many of each as where all strings are tame."""
    theirs, ours = parse_page(render_format(hostile, name)), parse_page(str(FORMATS[name].render(plain)))
    for tag in ("h1", "h2", "table", "tr", "td", "hr", "pre"):
        assert _count(theirs, tag) == _count(ours, tag), tag


def _count(page: Any, tag: str) -> int:
    return sum(one == tag for one, _ in page.tags)


def test_front_matter_has_no_hostile_text(hostile: Report) -> None:
    fields = read_as_hub(render_format(hostile, "huggingface"))
    assert set(fields) <= {"library_name", "pipeline_tag", "license", "tags"}
    assert not re.search(MARK, repr(fields))


def render_pages(hostile: Report) -> Iterator[str]:
    yield render_format(hostile, "html")
    yield render_print(hostile)
    yield render_fragment(hostile.card)


def test_hostile_strings_are_text_in_html(hostile: Report) -> None:
    ours = [text for attrs, text in Parsed(str(FORMATS["html"].render(load_report(NAME)))).scripts if not attrs]
    for text in render_pages(hostile):
        page = Parsed(text)
        assert page.wrong == []
        assert not {tag for tag, _ in page.elements} & {"img", "i", "b", "iframe", "object", "link", "base", "form"}
        for tag, attrs in page.elements:
            assert not [key for key in attrs if key.startswith("on") or key in ("src", "style", "srcdoc")], tag
            assert (attrs.get("href") or "#").startswith("#")
            marked = {key for key, value in attrs.items() if value and re.search(MARK, value)}
            assert all(key.startswith(SPOKEN) or key in ("title", "content", "value") for key in marked), (tag, marked)
        assert {script for attrs, script in page.scripts if not attrs} <= set(ours)
        assert all(is_mute(line) for line in text.split("\n") if re.search(MARK, line))
        assert not [word for word in page.words if escape_hidden(word) != word]


def test_hostile_strings_are_no_spreadsheet_formulas(hostile: Report) -> None:
    rows = list(csv.reader(io.StringIO(render_format(hostile, "csv"))))
    assert len(rows) == 1 + len(list(hostile.nodes()))
    assert {len(row) for row in rows} == {len(rows[0])}
    cells = [cell.strip() for row in rows for cell in row]
    assert not [cell for cell in cells if cell[:1] in tuple("=+-@") and cell]


def test_hostile_strings_are_values_in_xml(hostile: Report) -> None:
    text = render_format(hostile, "junit")
    tree = etree.fromstring(text.encode())
    assert is_mute(text)
    tags = {"testsuites", "testsuite", "properties", "property", "testcase", "failure", "skipped"}
    assert {element.tag for element in tree.iter()} <= tags | {"system-out", "system-err"}


@pytest.mark.parametrize("name", VERDICTS)
def test_outcome_has_only_own_workflow_commands(name: str, hostile: Report) -> None:
    other = load_report(NAME).card
    text = render_outcome(check_cards([("##[x]\n::m.onnx", hostile.card)], Policy(), "::p", ("::b", other)), name)
    if name == "github":
        levels = ("::error ", "::warning ", "::notice ")
        assert all(line.startswith(levels) and is_mute(line[2:]) for line in text.splitlines())
    else:
        assert is_mute(text)


@pytest.fixture(scope="module")
def comparison(hostile: Report) -> Comparison:
    return compare([load_report(NAME).card, hostile.card], ["::a.onnx", "##[b] <i>.json"], generated=AT)


@pytest.mark.parametrize("name", COMPARISON_FORMATS)
def test_comparison_escapes_hostile_strings(name: str, comparison: Comparison) -> None:
    text = COMPARISON_FORMATS[name].render(comparison)
    if name == "json":
        assert parse_strict(text)
    if name == "markdown":
        assert {tag for tag, _ in parse_page(text).tags} <= OURS - {"img"}
    if name == "html":
        page = Parsed(text)
        assert page.wrong == []
        assert page.scripts == []
    assert is_mute(text)


def test_colored_comparison_has_only_color_codes(comparison: Comparison) -> None:
    assert is_mute(COLOURS.sub("", render_comparison_terminal(comparison, color=True)))


def test_very_long_name_is_shortened(tmp_path: Path) -> None:
    """In data it is shortened where a document says it often; nowhere does the document grow beyond the file."""
    huge = tuple(attack + "x" * 1_000_000 for attack in ATTACKS[:3])
    path = model(tmp_path, 0, huge)
    hostile = make_card(path, Request())
    for name in (*LINES, "html", "junit", "github", "nodes", "cyclonedx", "sarif"):
        assert len(render_format(hostile, name)) < 2_000_000, name
    assert len(render_format(hostile, "json")) < 2 * path.stat().st_size


@pytest.mark.parametrize("size", [2**62, 2**63 - 1])
def test_huge_sizes_are_printed_in_every_format(size: int) -> None:
    hostile = load_report(NAME)
    card = _set_size(hostile.card, size)
    rows = [_set_size(row, size) for row in list(hostile.nodes())[:50]]
    for name in FORMATS.keys() - {"pdf"}:
        text = FORMATS[name].render(Report(card, lambda: iter(rows)))
        assert isinstance(text, str)
        assert "inf" not in text.split() and "nan" not in text.split()
    assert load(str(FORMATS["json"].render(Report(card, hostile.nodes))).encode(), "card.json") == card


def test_stored_card_with_integers_beyond_64_bits_is_rejected() -> None:
    card = _set_size(load_report(NAME).card, 2**63)
    with pytest.raises(BadInput, match=r"^card.json: not a JSON card: it has integers beyond 64 bits$"):
        load(msgspec.json.encode(card), "card.json")


def _set_size(value: Any, size: int) -> Any:
    """With this in the place of every number above a thousand."""
    if type(value) is int:
        return size if value > 1_000 else value
    if isinstance(value, msgspec.Struct):
        return type(value)(**{name: _set_size(getattr(value, name), size) for name in value.__struct_fields__})
    if isinstance(value, tuple):
        return tuple(_set_size(item, size) for item in value)
    return {key: _set_size(item, size) for key, item in value.items()} if isinstance(value, dict) else value


def test_undecodable_file_names_are_escaped(tmp_path: Path) -> None:
    """Bytes of a path that are no UTF-8 come as halves of letters."""
    card = load_report(NAME).card
    broken = replace(card, model=replace(card.model, name="a\udcff.onnx"))
    for name in FORMATS.keys() - {"pdf"}:
        text = FORMATS[name].render(Report(broken, load_report(NAME).nodes))
        assert isinstance(text, str)
        text.encode()
    assert sanitize_text("a\udcff") == "a\\udcff"
