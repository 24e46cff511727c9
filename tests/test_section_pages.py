"""Every section of the card has a page, and every word that stands beside a number is explained on it."""

from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from onnx_autodoc import card
from onnx_autodoc.render._blocks import Heading, Items, Picture, Section, Strong, Table
from onnx_autodoc.render.sections import CARD, card_sections
from tests._corpus import KEPT, graph

PAGES = Path(__file__).parent.parent / "docs" / "sections"
NAMED = ("key-numbers", "provenance")  # whose tables name a fact in each row
MODELS = (
    "control-flow-loop-if",
    "resnet50-unfused-bn-op13",
    "smollm2-135m-genai-int4",
    "vit-tiny-dynamo",
    "yolov8l-nc1",
)


@cache
def sections() -> dict[str, list[Section]]:
    found: dict[str, list[Section]] = {}
    for name in MODELS:
        for section in card_sections(card(graph(name))):
            found.setdefault(section.id, []).append(section)
    read = card(str(files("onnx_autodoc") / "data" / "demo.onnx"), weights=True)
    found["weights"] = [section for section in card_sections(read) if section.id == "weights"]
    run = card(str(files("onnx_autodoc") / "data" / "demo.onnx"), verify=True)
    found["measured"] = [section for section in card_sections(run) if section.id == "measured"]
    return found


def words(section: Section) -> set[str]:
    """Labels, titles of columns and parts, names of charts."""
    said = {block.text for block in section.blocks if isinstance(block, Heading) and section.id != "findings"}
    said |= {block.chart for block in section.blocks if isinstance(block, Picture)}
    for block in section.blocks:
        if isinstance(block, Items):
            said |= {part.text.rstrip(": ") for row in block.rows for part in row if isinstance(part, Strong)}
        if isinstance(block, Table):
            said |= {column.title for column in block.columns}
        if isinstance(block, Table) and section.id in NAMED and block.columns[0].title == "What":
            said |= {str(row[0][0]) for row in block.rows}
    return said - {"What", "How much"}


@pytest.mark.parametrize("name", [path.stem for path in sorted(PAGES.glob("*.md"))])
def test_a_page_explains_what_its_section_says(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    known = sections().get(name, [])
    missing = {word for section in known for word in words(section) if word not in text} - GAPS.get(name, set())
    assert not missing
    assert known, "none of these models has it"
    assert all(text.startswith(f"# {section.title}\n") for section in known)


GAPS = {"provenance": {"graph", "model", "compute", "structure"}}  # sections that a gap belongs to, by their names


def test_every_section_has_its_page() -> None:
    assert set(sections()) <= {path.stem for path in PAGES.glob("*.md")}
    assert len(list(PAGES.glob("*.md"))) == len(CARD)


def test_every_model_of_the_corpus_has_the_sections_that_apply() -> None:
    for name in KEPT[::7]:
        found = card(graph(name))
        ids = [section.id for section in card_sections(found)]
        assert ("kv-cache" in ids) == (found.memory.kv_cache is not None)
        assert ("batch-scaling" in ids) == bool(found.scaling)
        assert ids == list(dict.fromkeys(ids))
