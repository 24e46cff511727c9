"""Markdown as GitHub's own parser reads it: our headings, tables and code, and nothing that a model's strings add."""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

from onnx_autodoc.api import make_card
from onnx_autodoc.render import FORMATS, ChartLinks, Report
from onnx_autodoc.render.content import Bullets, Column, Name, Number, Paragraph, Section, Strong, Table
from onnx_autodoc.render.markdown import code_span, escape_markdown, write_sections
from onnx_autodoc.shapes import Request
from onnx_autodoc.text import sanitize
from tests._corpus import GRAPH_NAMES, load_report
from tests._hostile_names import NAMES, hostile

ILLUSTRATED = ("markdown", "huggingface")
TEXTS = ("markdown", "architecture", "huggingface")
OURS = {
    *("h1", "h2", "h3", "p", "ul", "li", "strong", "em", "code", "pre", "blockquote", "hr"),
    *("table", "thead", "tbody", "tr", "th", "td", "details", "summary", "img"),
}


class Page(HTMLParser):
    """What a reader would get: tags with attributes, and the text inside code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.coded: list[str] = []
        self.said: list[str] = []
        self._open = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "code":
            self._open += 1
            self.coded.append("")

    def handle_endtag(self, tag: str) -> None:
        self._open -= tag == "code"

    def handle_data(self, data: str) -> None:
        self.said.append(data)
        if self._open:
            self.coded[-1] += data


def parse_page(text: str) -> Page:
    return Page(cmarkgfm.github_flavored_markdown_to_html(text, options=Options.CMARK_OPT_UNSAFE))


@cache
def render_corpus(name: str, format_name: str = "markdown") -> str:
    return render_report(load_report(name), format_name)


def render_report(found: Report, format_name: str) -> str:
    beside = ChartLinks("pictures", ".svg") if format_name in ILLUSTRATED else None
    text = FORMATS[format_name].render(Report(found.card, found.nodes, beside))
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("name", NAMES)
def test_name_is_a_code_span(name: str) -> None:
    page = parse_page(f"before {code_span(name)} after")
    assert [tag for tag, _ in page.tags] == ["p", "code"]
    assert page.coded == [sanitize(name, 600)]


@pytest.mark.parametrize("name", NAMES)
def test_name_in_table_stays_in_its_cell(name: str) -> None:
    section = Section("s", name, (Table((Column(name), Column("b")), (((Name(name),), (name,)),)),))
    card = load_report("control-flow-loop-if").card
    page = parse_page(write_sections((section,), card, None))
    assert [tag for tag, _ in page.tags] == [
        "h2",
        "table",
        "thead",
        "tr",
        "th",
        "th",
        "tbody",
        "tr",
        "td",
        "code",
        "td",
    ]
    assert page.coded == [sanitize(name, 600)]


@pytest.mark.parametrize("name", NAMES)
def test_text_is_escaped(name: str) -> None:
    blocks = (Paragraph((name,)), Bullets(((name, " ", Strong(name)),)))
    page = parse_page(write_sections((Section("s", "t", blocks),), load_report("control-flow-loop-if").card, None))
    assert [tag for tag, _ in page.tags] == ["h2", "p", "ul", "li", "strong"]
    render_report = sanitize(" ".join(name.split()) if "\n" in name else name, 20_000)
    assert "".join(render_report.split()) in "".join("".join(page.said).split())


@pytest.mark.parametrize(
    "name", ["net.v2@int8.onnx", "a@-b.co", "a@.b.co", "mailto:a.b@link.invalid", "xmpp:a@link.invalid/x", "@someone"]
)
def test_no_name_becomes_a_link(name: str) -> None:
    card = load_report("control-flow-loop-if").card
    blocks = (Paragraph((name, Strong(name))), Table((Column(name),), (((name,),),)))
    text = write_sections((Section("s", name, blocks),), card, None)
    page = parse_page(text)
    assert "a" not in {tag for tag, _ in page.tags}
    assert "".join(page.said).count(name) == 5
    assert not re.search(r"@\w", text)


def test_ordinary_text_stays_readable() -> None:
    assert escape_markdown("batch_size 1, <1 % (of all): 3 × 4 - 5") == "batch_size 1, <1 % (of all): 3 × 4 - 5"


@pytest.mark.parametrize(("text", "safe"), [("1. one", "1\\. one"), ("- x", "\\- x"), ("45.0 KiB", "45.0 KiB")])
def test_line_start_is_escaped(text: str, safe: str) -> None:
    assert (
        write_sections((Section("s", "t", (Paragraph((text,)),)),), load_report("control-flow-loop-if").card, None)
        == f"## t\n\n{safe}\n"
    )


@pytest.mark.parametrize("format_name", TEXTS)
def test_hostile_model_adds_no_markup(format_name: str, tmp_path: Path) -> None:
    text = render_report(make_card(hostile(tmp_path), Request()), format_name)
    body = text.split("\n---\n", 1)[1] if format_name == "huggingface" else text
    page = parse_page(body)
    assert {tag for tag, _ in page.tags} <= OURS
    for tag, attributes in page.tags:
        allowed = {"img": {"src", "alt"}, "pre": {"lang"}, "td": {"align"}, "th": {"align"}}.get(tag, set())
        assert set(attributes) <= allowed, (tag, attributes)
        assert (attributes.get("src") or "pictures/").startswith("pictures/")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u2028\u2029]", text)


@pytest.mark.parametrize("format_name", TEXTS)
@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_corpus_cards_are_well_formed(name: str, format_name: str) -> None:
    text = render_corpus(name, format_name)
    body = text.split("\n---\n", 1)[1] if format_name == "huggingface" else text
    page = parse_page(body)
    assert {tag for tag, _ in page.tags} <= OURS
    assert text.count("<details>") == text.count("</details>") == sum(tag == "details" for tag, _ in page.tags)
    assert len(text.encode()) < 1 << 20
    assert "\\" not in "".join(attributes.get("src") or "" for _, attributes in page.tags)
    assert not re.search(r"(?i)\| *(inf|nan|n/a|null|none) *\|", body), "what is unknown is said in words"


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_table_rows_sum_to_totals(name: str) -> None:
    for format_name in TEXTS:
        sums = list(read_totals(render_corpus(name, format_name)))
        assert sums
        for heading, summed, total in sums:
            assert summed == total, (format_name, heading)


def read_totals(text: str) -> list[tuple[str, int, int]]:
    """Of every table with a total: its column's title, the sum of its rows, and what the total says."""
    result = []
    for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
        head, _, *rows = ([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines())
        if rows and rows[-1][0] == "**Total**":
            for at, title in enumerate(head):
                cells = [parse_number(row[at]) for row in rows]
                if cells[-1] is not None:
                    result.append((title, sum(cell or 0 for cell in cells[:-1]), cells[-1]))
    return result


def parse_number(cell: str) -> int | None:
    plain = cell.replace("*", "").removeprefix("at least ").replace(",", "")
    return int(plain) if plain.isdigit() else None


def test_table_with_total_has_full_numbers() -> None:
    rows = (((Name("a"),), (Number("1.00 k", 1001, "MACs"),)), ((Name("b"),), (Number("2", 2, "MACs"),)))
    table = Table((Column("x"), Column("MACs", True)), rows, (("Total",), (Number("1.00 k", 1003, "MACs"),)))
    text = write_sections((Section("s", "t", (table,)),), load_report("control-flow-loop-if").card, None)
    assert "| `a` | 1,001 |" in text
    assert "| **Total** | **1,003** |" in text
