"""The page as a file: whole, alone, under its policy, and with every word of a model a word."""

import base64
import hashlib
import json
import re
from functools import cache

import pytest
from msgspec.structs import replace

from onnx_autodoc.api import make_card
from onnx_autodoc.render import Report
from onnx_autodoc.render.content import Table
from onnx_autodoc.render.html.page import render_fragment, render_html, render_print
from onnx_autodoc.render.sections import card_sections
from onnx_autodoc.shapes import Request
from tests._corpus import reported
from tests._hostile_names import NAMES, hostile
from tests.render.html._parsed import Parsed

SOME = ("all-minilm-l6-v2-ts-op14", "control-flow-loop-if", "resnet50-qdq-int8", "smollm2-135m-genai-int4")
LARGEST = "smollm2-135m-kv-op17"
MOST_BYTES = 1_500_000
LEAVING = {"src", "srcset", "action", "formaction", "data", "poster", "background", "ping", "xlink:href", "style"}


@cache
def made(name: str) -> Report:
    return reported(name)


@cache
def page(name: str) -> str:
    return render_html(made(name))


@pytest.fixture(scope="module")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return make_card(hostile(tmp_path_factory.mktemp("hostile")), Request())


@pytest.mark.parametrize("name", SOME)
def test_page_has_no_external_references(name: str) -> None:
    found = Parsed(page(name))
    assert found.wrong == []
    for tag, attrs in found.elements:
        assert not LEAVING & set(attrs), (tag, attrs)
        assert not [key for key in attrs if key.startswith("on")], (tag, attrs)
        assert (attrs.get("href") or "#").startswith("#"), (tag, attrs)
        assert tag not in ("link", "iframe", "object", "embed", "form", "base", "img", "video", "audio")
    assert not any(re.search(r"@import|url\(", style) for style in found.styles)


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("name", SOME)
def test_policy_admits_only_own_scripts_and_styles(name: str) -> None:
    found = Parsed(page(name))
    metas = [attrs for tag, attrs in found.elements if tag == "meta"]
    (said,) = (meta["content"] for meta in metas if meta.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.split(" ", 1) for rule in str(said).split("; "))
    scripts = [text for attrs, text in found.scripts if attrs.get("type") != "application/json"]
    assert rules.pop("script-src").split() == [digest(text) for text in scripts]
    assert rules.pop("style-src").split() == [digest(text) for text in found.styles]
    assert rules == {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}


@pytest.mark.parametrize("name", SOME)
def test_every_section_is_present_and_in_navigation(name: str) -> None:
    found = Parsed(page(name))
    ids = [attrs["id"] for _, attrs in found.elements if "id" in attrs]
    links = {attrs["href"] for tag, attrs in found.elements if tag == "a"}
    assert len(ids) == len(set(ids)), "an id stands for one element"
    for section in card_sections(made(name).card):
        assert section.title in found.words
        assert section.id in ids
        assert f"#{section.id}" in links


def test_referenced_elements_exist() -> None:
    found = Parsed(page(SOME[3]))
    ids = {attrs["id"] for _, attrs in found.elements if "id" in attrs}
    for key in ("aria-labelledby", "aria-describedby", "aria-controls", "for"):
        assert {attrs[key] for _, attrs in found.elements if key in attrs} <= ids


def test_page_is_deterministic() -> None:
    assert render_html(made(SOME[0])) == page(SOME[0])


def test_page_of_seven_thousand_nodes_is_small() -> None:
    assert made(LARGEST).card.graph.nodes_total > 6_500
    assert len(page(LARGEST).encode()) < MOST_BYTES


def test_page_without_diagram_has_no_graph_library() -> None:
    whole = made(SOME[1])
    bare = replace(whole, card=replace(whole.card, structure=replace(whole.card.structure, tree=None)))
    text = render_html(bare)
    assert len(text) < len(page(SOME[1])) - 400_000
    assert Parsed(text).wrong == []


def tags(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return sorted({(tag, tuple(attrs)) for tag, attrs in Parsed(text).elements})


def test_hostile_names_are_text(hostile_report: Report) -> None:
    """Kinds of elements and their attributes are those of other pages, whatever the names are."""
    text = render_html(hostile_report)
    found = Parsed(text)
    assert found.wrong == []
    known = {one for name in SOME for one in tags(page(name))}
    assert {tag for tag, _ in tags(text)} <= {tag for tag, _ in known}
    assert {key for _, keys in tags(text) for key in keys} <= {key for _, keys in known for key in keys}
    assert any("<script>alert(1)</script>" in word for word in found.words), "it is there, as text"
    shown = "".join(found.words)
    assert not [char for char in shown if char != "\n" and (ord(char) < 32 or char in "\u202e\u2066\u2028\u2029")]


def test_script_data_cannot_end_its_element(hostile_report: Report) -> None:
    found = Parsed(render_html(hostile_report))
    data = {attrs["id"]: text for attrs, text in found.scripts if attrs.get("type") == "application/json"}
    assert set(data) >= {"formula-data", "node-data"}
    for text in data.values():
        assert not re.search("[<>&\u2028\u2029]", text)
        json.loads(text)
    assert any(NAMES[0] in word for word in json.loads(data["node-data"])["words"] + [""] + found.words)


def test_only_templates_create_scripts(hostile_report: Report) -> None:
    """The scripts of a page are the same whatever the model: nothing of it is in them."""
    ours = [text for attrs, text in Parsed(page(SOME[0])).scripts if not attrs]
    theirs = [text for attrs, text in Parsed(render_html(hostile_report)).scripts if not attrs]
    assert theirs == ours
    assert not any("</" + "script" in text.lower() or "<!--" in text for text in ours)
    assert not any(
        re.search(r"\beval\(|\bFunction\(|innerHTML|insertAdjacentHTML|document\.write", text) for text in ours[:2]
    )


@pytest.mark.parametrize("name", SOME)
def test_print_page_is_expanded_and_has_no_script(name: str) -> None:
    found = Parsed(render_print(made(name)))
    kinds = {tag for tag, _ in found.elements}
    assert found.wrong == []
    assert not kinds & {"script", "details", "link", "img"}
    for section in card_sections(made(name).card):
        assert section.title in found.words


def test_long_printed_table_is_cut_with_note() -> None:
    tables = [block for part in card_sections(made(LARGEST).card) for block in part.blocks if isinstance(block, Table)]
    longest = max(len(table.rows) for table in tables)
    assert longest > 40
    words = Parsed(render_print(made(LARGEST))).words
    assert f"{longest - 40} more rows: in the HTML page and in the JSON card." in words


def test_fragment_has_summary_costs_and_interface(hostile_report: Report) -> None:
    text = render_fragment(made(SOME[0]).card)
    found = Parsed(text)
    shown = " ".join(found.words)
    assert found.wrong == []
    assert len(text) < 20_000
    for words in ("22.6 M", "1.43 GMACs", "input_ids", "last_hidden_state"):
        assert words in shown
    assert all(".onnx-autodoc" in rule for style in found.styles for rule in re.findall(r"^[^{\n]+\{", style, re.M))
    kinds = {tag for tag, _ in found.elements}
    assert {tag for tag, _ in Parsed(render_fragment(hostile_report.card)).elements} <= kinds | {
        "ul",
        "li",
        "a",
        "details",
        "summary",
    }
