"""The page as a file: self-contained, under its policy, with strings of a model as text only."""

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
from tests._corpus import load_report
from tests._hostile_names import NAMES, hostile
from tests.render.html._parsed import Parsed

SOME = ("all-minilm-l6-v2-ts-op14", "control-flow-loop-if", "resnet50-qdq-int8", "smollm2-135m-genai-int4")
LARGEST = "smollm2-135m-kv-op17"
MOST_BYTES = 1_500_000
LEAVING = {"src", "srcset", "action", "formaction", "data", "poster", "background", "ping", "xlink:href", "style"}


@cache
def make_report(name: str) -> Report:
    return load_report(name)


@cache
def render_page(name: str) -> str:
    return render_html(make_report(name))


@pytest.fixture(scope="module")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return make_card(hostile(tmp_path_factory.mktemp("hostile")), Request())


@pytest.mark.parametrize("name", SOME)
def test_page_has_no_external_references(name: str) -> None:
    parsed = Parsed(render_page(name))
    assert parsed.wrong == []
    for tag, attrs in parsed.elements:
        assert not LEAVING & set(attrs), (tag, attrs)
        assert not [key for key in attrs if key.startswith("on")], (tag, attrs)
        assert (attrs.get("href") or "#").startswith("#"), (tag, attrs)
        assert tag not in ("link", "iframe", "object", "embed", "form", "base", "img", "video", "audio")
    assert not any(re.search(r"@import|url\(", style) for style in parsed.styles)


def hash_text(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("name", SOME)
def test_policy_admits_only_own_scripts_and_styles(name: str) -> None:
    parsed = Parsed(render_page(name))
    metas = [attrs for tag, attrs in parsed.elements if tag == "meta"]
    (policy,) = (meta["content"] for meta in metas if meta.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.split(" ", 1) for rule in str(policy).split("; "))
    scripts = [text for attrs, text in parsed.scripts if attrs.get("type") != "application/json"]
    assert rules.pop("script-src").split() == [hash_text(text) for text in scripts]
    assert rules.pop("style-src").split() == [hash_text(text) for text in parsed.styles]
    assert rules == {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}


@pytest.mark.parametrize("name", SOME)
def test_every_section_is_present_and_in_navigation(name: str) -> None:
    parsed = Parsed(render_page(name))
    ids = [attrs["id"] for _, attrs in parsed.elements if "id" in attrs]
    links = {attrs["href"] for tag, attrs in parsed.elements if tag == "a"}
    assert len(ids) == len(set(ids)), "ids are unique"
    for section in card_sections(make_report(name).card):
        assert section.title in parsed.words
        assert section.id in ids
        assert f"#{section.id}" in links


def test_referenced_elements_exist() -> None:
    parsed = Parsed(render_page(SOME[3]))
    ids = {attrs["id"] for _, attrs in parsed.elements if "id" in attrs}
    for key in ("aria-labelledby", "aria-describedby", "aria-controls", "for"):
        assert {attrs[key] for _, attrs in parsed.elements if key in attrs} <= ids


def test_page_is_deterministic() -> None:
    assert render_html(make_report(SOME[0])) == render_page(SOME[0])


def test_page_of_seven_thousand_nodes_is_small() -> None:
    assert make_report(LARGEST).card.graph.nodes_total > 6_500
    assert len(render_page(LARGEST).encode()) < MOST_BYTES


def test_page_without_diagram_has_no_graph_library() -> None:
    whole = make_report(SOME[1])
    bare = replace(whole, card=replace(whole.card, structure=replace(whole.card.structure, tree=None)))
    text = render_html(bare)
    assert len(text) < len(render_page(SOME[1])) - 400_000
    assert Parsed(text).wrong == []


def list_tags(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return sorted({(tag, tuple(attrs)) for tag, attrs in Parsed(text).elements})


def test_hostile_names_are_text(hostile_report: Report) -> None:
    """A page with hostile names has only elements and attributes that other pages have."""
    text = render_html(hostile_report)
    parsed = Parsed(text)
    assert parsed.wrong == []
    known = {tag for name in SOME for tag in list_tags(render_page(name))}
    assert {tag for tag, _ in list_tags(text)} <= {tag for tag, _ in known}
    assert {key for _, keys in list_tags(text) for key in keys} <= {key for _, keys in known for key in keys}
    assert any("<script>alert(1)</script>" in word for word in parsed.words), "the name is shown as text"
    shown = "".join(parsed.words)
    assert not [char for char in shown if char != "\n" and (ord(char) < 32 or char in "\u202e\u2066\u2028\u2029")]


def test_script_data_cannot_end_its_element(hostile_report: Report) -> None:
    parsed = Parsed(render_html(hostile_report))
    data = {attrs["id"]: text for attrs, text in parsed.scripts if attrs.get("type") == "application/json"}
    assert set(data) >= {"formula-data", "node-data"}
    for text in data.values():
        assert not re.search("[<>&\u2028\u2029]", text)
        json.loads(text)
    assert any(NAMES[0] in word for word in json.loads(data["node-data"])["words"] + [""] + parsed.words)


def test_only_templates_create_scripts(hostile_report: Report) -> None:
    """The scripts of a page are the same whatever the model: nothing of it is in them."""
    own_scripts = [text for attrs, text in Parsed(render_page(SOME[0])).scripts if not attrs]
    hostile_scripts = [text for attrs, text in Parsed(render_html(hostile_report)).scripts if not attrs]
    assert hostile_scripts == own_scripts
    assert not any("</" + "script" in text.lower() or "<!--" in text for text in own_scripts)
    assert not any(
        re.search(r"\beval\(|\bFunction\(|innerHTML|insertAdjacentHTML|document\.write", text)
        for text in own_scripts[:2]
    )


@pytest.mark.parametrize("name", SOME)
def test_print_page_is_expanded_and_has_no_script(name: str) -> None:
    parsed = Parsed(render_print(make_report(name)))
    kinds = {tag for tag, _ in parsed.elements}
    assert parsed.wrong == []
    assert not kinds & {"script", "details", "link", "img"}
    for section in card_sections(make_report(name).card):
        assert section.title in parsed.words


def test_long_printed_table_is_cut_with_note() -> None:
    tables = [
        block for part in card_sections(make_report(LARGEST).card) for block in part.blocks if isinstance(block, Table)
    ]
    longest = max(len(table.rows) for table in tables)
    assert longest > 40
    words = Parsed(render_print(make_report(LARGEST))).words
    assert f"{longest - 40} more rows: see the HTML page or the JSON card." in words


def test_fragment_has_summary_costs_and_interface(hostile_report: Report) -> None:
    text = render_fragment(make_report(SOME[0]).card)
    parsed = Parsed(text)
    shown = " ".join(parsed.words)
    assert parsed.wrong == []
    assert len(text) < 20_000
    for words in ("22.6 M", "1.43 GMACs", "input_ids", "last_hidden_state"):
        assert words in shown
    assert all(".onnx-autodoc" in rule for style in parsed.styles for rule in re.findall(r"^[^{\n]+\{", style, re.M))
    kinds = {tag for tag, _ in parsed.elements}
    assert {tag for tag, _ in Parsed(render_fragment(hostile_report.card)).elements} <= kinds | {
        "ul",
        "li",
        "a",
        "details",
        "summary",
    }
