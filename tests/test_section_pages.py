"""Every section of a card has a documentation page that explains its labels."""

from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from onnx_autodoc import card
from onnx_autodoc.render.content import Bullets, ChartRef, Heading, Section, Strong, Table, to_spans
from onnx_autodoc.render.sections import CARD_SECTIONS, card_sections
from tests._corpus import GRAPH_NAMES, graph

PAGES = Path(__file__).parent.parent / "docs" / "sections"
LABELLED_ROWS = ("at-a-glance", "provenance")  # sections whose table rows are labels
MODELS = (
    "control-flow-loop-if",
    "resnet50-unfused-bn-op13",
    "smollm2-135m-genai-int4",
    "vit-tiny-dynamo",
    "yolov8l-nc1",
)


@cache
def collect_sections() -> dict[str, list[Section]]:
    sections: dict[str, list[Section]] = {}
    for name in MODELS:
        for section in card_sections(card(graph(name))):
            sections.setdefault(section.id, []).append(section)
    with_weights = card(str(files("onnx_autodoc") / "data" / "demo.onnx"), weights=True)
    sections["weights"] = [section for section in card_sections(with_weights) if section.id == "weights"]
    verified = card(str(files("onnx_autodoc") / "data" / "demo.onnx"), verify=True)
    sections["measured"] = [section for section in card_sections(verified) if section.id == "measured"]
    return sections


def find_labels(section: Section) -> set[str]:
    """Return the labels, column titles, headings and chart names of a section."""
    texts = {block.text for block in section.blocks if isinstance(block, Heading) and section.id != "findings"}
    texts |= {block.name for block in section.blocks if isinstance(block, ChartRef)}
    for block in section.blocks:
        if isinstance(block, Bullets):
            texts |= {
                part.text.rstrip(": ") for item in block.items for part in to_spans(item) if isinstance(part, Strong)
            }
        if isinstance(block, Table):
            texts |= {column.title for column in block.columns}
        if isinstance(block, Table) and section.id in LABELLED_ROWS and block.columns[0].title in ("Metric", "Field"):
            texts |= {str(row[0]) for row in block.rows}
    return texts - {"Metric", "Field", "Value"}


@pytest.mark.parametrize("name", [path.stem for path in sorted(PAGES.glob("*.md"))])
def test_section_page_explains_every_label(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    known = collect_sections().get(name, [])
    missing = {word for section in known for word in find_labels(section) if word not in text} - GAPS.get(name, set())
    assert not missing
    assert known, "no card has the section"
    assert all(text.startswith(f"# {section.title}\n") for section in known)


GAPS = {"provenance": {"graph", "model", "compute", "structure"}}  # names of sections with gaps


def test_every_section_has_a_page() -> None:
    assert set(collect_sections()) <= {path.stem for path in PAGES.glob("*.md")}
    assert len(list(PAGES.glob("*.md"))) == len(CARD_SECTIONS)


def test_optional_sections_match_card_content() -> None:
    for name in GRAPH_NAMES[::7]:
        model_card = card(graph(name))
        ids = [section.id for section in card_sections(model_card)]
        assert ("kv-cache" in ids) == (model_card.memory.kv_cache is not None)
        assert ("batch-scaling" in ids) == bool(model_card.scaling)
        assert ids == list(dict.fromkeys(ids))
