"""Comparisons as people read them: all formats agree, and strings of a model stay text."""

import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import cmarkgfm
import jsonschema
import pytest
from cmarkgfm.cmark import Options
from msgspec.structs import replace

from onnx_autodoc.api import load_or_make_card
from onnx_autodoc.card import Card, Generated
from onnx_autodoc.compare import Comparison, compare
from onnx_autodoc.render import COMPARISON_FORMATS
from onnx_autodoc.render.comparison.text import format_percent_change, model_names
from onnx_autodoc.schema import SCHEMAS
from onnx_autodoc.shapes import Request
from tests._corpus import GRAPH_NAMES
from tests._hostile_names import NAMES, hostile
from tests.compare._cards import of_corpus

MINILM = "all-minilm-l6-v2-ts-op14"
AT = Generated("onnx-autodoc", "0", "2001-01-01T00:00:00Z")
SETS = [
    (MINILM, "all-minilm-l6-v2-dynquant-int8"),
    (MINILM, "bert-base-qa-dynamo"),
    ("resnet50-ts-op17", "onnx-light-resnet50"),
    ("smollm2-135m-kv-op17", "smollm2-135m-genai-int4"),
    (MINILM, "all-minilm-l6-v2-fp16", "e5-small-v2-dynquant-int8"),
    (MINILM, MINILM),
]
FIGURES = {MINILM: {"top1": 0.5, "ms": 3.25}}


@cache
def compare_corpus(names: tuple[str, ...]) -> Comparison:
    figures = FIGURES if MINILM in names and "all-minilm-l6-v2-fp16" in names else None
    return compare([of_corpus(name) for name in names], names, figures, generated=AT)


def render_pair(names: tuple[str, ...], format_name: str) -> str:
    return COMPARISON_FORMATS[format_name].render(compare_corpus(names))


class Page(HTMLParser):
    """The tags of a page with their attributes, and its words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("names", SETS)
@pytest.mark.parametrize("format_name", ["terminal", "markdown", "html"])
def test_every_format_states_the_relation(names: tuple[str, ...], format_name: str) -> None:
    text = " ".join(re.sub(r"<[^>]*>", "", render_pair(names, format_name)).replace("*", "").split())
    for diff in compare_corpus(names).diffs:
        assert diff.relation.text in text


@pytest.mark.parametrize("names", SETS)
def test_terminal_has_80_columns_and_relation_first(names: tuple[str, ...]) -> None:
    lines = render_pair(names, "terminal").splitlines()
    assert max(map(len, lines)) <= 80
    if len(names) == 2:
        assert lines[0].startswith(compare_corpus(names).diffs[0].relation.text[:60])
    else:
        assert lines[0].endswith(f"→ {names[1]}")


@pytest.mark.parametrize("names", SETS)
def test_json_is_valid_by_schema(names: tuple[str, ...]) -> None:
    data = json.loads(render_pair(names, "json"))
    jsonschema.validate(data, json.loads(SCHEMAS["comparison"]()))
    assert data["schema_version"] == "1.0"
    assert [diff["relation"]["kind"] for diff in data["diffs"]] == [
        diff.relation.kind for diff in compare_corpus(names).diffs
    ]
    assert all({"was", "is"} <= set(change) for diff in data["diffs"] for change in diff["numbers"])


@pytest.mark.parametrize("names", SETS)
def test_comparison_is_deterministic(names: tuple[str, ...]) -> None:
    again = compare([of_corpus(name) for name in names], names, compare_corpus(names).figures, generated=AT)
    for format_name in COMPARISON_FORMATS:
        assert COMPARISON_FORMATS[format_name].render(again) == render_pair(names, format_name)


@pytest.mark.parametrize("names", SETS)
def test_page_has_no_scripts_and_no_requests(names: tuple[str, ...]) -> None:
    page = Page(render_pair(names, "html"))
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "img", "iframe", "link", "object", "embed", "form"}
    policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert not any("style" in attrs or any(key.startswith("on") for key in attrs) for _, attrs in page.tags)


def test_diagrams_are_side_by_side_with_change_signs() -> None:
    page = Page(render_pair(SETS[1], "html"))
    assert sum(tag == "svg" for tag, _ in page.tags) == 2
    texts = set(page.texts)
    assert {"6 × ≠ Encoder layer", "12 × ≠ Encoder layer", "+ Linear"} <= texts


def test_equal_diagrams_are_drawn_once() -> None:
    page = Page(render_pair(SETS[0], "html"))
    assert sum(tag == "svg" for tag, _ in page.tags) == 1
    assert any("Same diagram as" in words for words in page.texts)


def test_costs_at_different_sizes_are_not_compared() -> None:
    for format_name in ("terminal", "markdown", "html"):
        text = " ".join(render_pair(SETS[1], format_name).split())
        assert "at other sizes" in text
        assert "Bind the same sizes for all models" in text
        row = next(line for line in render_pair(SETS[1], format_name).splitlines() if "GMACs" in line)
        assert "%" not in row


def test_user_figures_are_marked() -> None:
    names = SETS[4]
    assert "top1 *" in render_pair(names, "terminal")
    assert "user-supplied" in render_pair(names, "terminal")
    assert "Supplied by the user" in render_pair(names, "markdown")
    assert "unknown" in render_pair(names, "markdown")


def _make_hostile_cards(folder: Path) -> list[Card]:
    """Return two cards with hostile strings in every field, which differ between them."""
    card = load_or_make_card(hostile(folder), Request())
    original = card.model
    changed = replace(
        original,
        producer=replace(original.producer, name=NAMES[0] + "2"),
        doc=NAMES[4],
        metadata={name + "2": name + "3" for name in NAMES},
        opsets={name + "2": 3 for name in NAMES},
    )
    ports = [replace(port, name=name + "p") for port in card.interface.inputs for name in NAMES]
    tree = card.structure.tree
    assert tree is not None
    boxes = [
        replace(tree.children[0], id=f"x{at}", kind=name, label=name, detail=name) for at, name in enumerate(NAMES)
    ]
    return [
        card,
        replace(
            card,
            model=changed,
            interface=replace(card.interface, inputs=tuple(ports)),
            structure=replace(card.structure, tree=replace(tree, children=tuple(boxes), edges=())),
        ),
    ]


@pytest.fixture(scope="module")
def hostile_comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    cards = _make_hostile_cards(tmp_path_factory.mktemp("hostile"))
    names = [f"{NAMES[0]}.onnx", f"{NAMES[3]}{NAMES[7]}.json"]
    return compare(cards, names, {names[0]: {NAMES[0]: 1, NAMES[6]: 2}}, generated=AT)


def test_hostile_names_are_text_in_page(hostile_comparison: Comparison) -> None:
    page = Page(COMPARISON_FORMATS["html"].render(hostile_comparison))
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "img", "i", "iframe"}
    assert not any(key.startswith("on") or key in ("style", "src") for _, attrs in page.tags for key in attrs)
    links = [attrs["href"] or "" for tag, attrs in page.tags if tag == "a"]
    assert all(link.startswith("#") for link in links)
    assert any("<script>alert(1)</script>" in words for words in page.texts)


def test_hostile_names_are_text_in_markdown(hostile_comparison: Comparison) -> None:
    text = COMPARISON_FORMATS["markdown"].render(hostile_comparison)
    page = Page(cmarkgfm.github_flavored_markdown_to_html(text, options=Options.CMARK_OPT_UNSAFE))
    ours = {"h1", "h2", "h3", "p", "ul", "li", "strong", "code", "pre", "blockquote"}
    ours |= {"table", "thead", "tbody", "tr", "th", "td", "details", "summary"}
    assert {tag for tag, _ in page.tags} <= ours


def test_hostile_names_do_not_reach_a_terminal_as_commands(hostile_comparison: Comparison) -> None:
    text = COMPARISON_FORMATS["terminal"].render(hostile_comparison)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("percent", "text"),
    [
        (-74.9, "−74.9%"),
        (0.4557, "+0.46%"),
        (0.001, "+<0.01%"),
        (4830.0, "×49.3"),
        (-99.99, "−>99.9%"),
        (-100.0, "−100%"),
        (100.0, "+100%"),
    ],
)
def test_percent_changes_are_exact_at_the_edges(percent: float, text: str) -> None:
    assert format_percent_change(percent) == text


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (("a/x.onnx", "b/y.onnx"), ["x.onnx", "y.onnx"]),
        (("a/x.onnx", "b/x.onnx"), ["a/x.onnx", "b/x.onnx"]),
        (("a/x.onnx", "a/x.onnx"), ["x.onnx (1)", "x.onnx (2)"]),
        (("x", "a/x", "x"), ["x (1)", "a/x", "x (3)"]),
    ],
)
def test_model_names_are_as_long_as_needed(paths: tuple[str, ...], names: list[str]) -> None:
    card = of_corpus(GRAPH_NAMES[0])
    assert model_names(compare([card] * len(paths), paths)) == names


GOLDEN = """\
The same model in another precision: fp32 → int8-qdq.
Evidence: same inputs and outputs; family cnn; same 18 boxes with weights or
MACs; 100% of the weights belong to nodes of the same name; 25,530,472
parameters in both; exactly equal MACs (4.09 GMACs).

                      resnet50-ts-op17  resnet50-qdq-int8
                                 .onnx              .onnx          change
Precision                         fp32           int8-qdq
Parameters                      25.5 M             25.5 M
Weights                       97.4 MiB           24.8 MiB          −74.6%
File                          49.9 KiB            389 KiB           +680%
MACs                        4.09 GMACs         4.09 GMACs
"""


def test_quantized_model_is_recognized() -> None:
    names = ("resnet50-ts-op17", "resnet50-qdq-int8")
    comparison = compare([of_corpus(name) for name in names], [f"{name}.onnx" for name in names], generated=AT)
    assert COMPARISON_FORMATS["terminal"].render(comparison).startswith(GOLDEN)
