"""The card from Python: its doors, what a notebook shows, and the page that documents them."""

import re
from pathlib import Path

import msgspec
import pytest

from onnx_autodoc import Card, card
from onnx_autodoc.card import Card as Document
from onnx_autodoc.render import FORMATS
from tests._corpus import graph
from tests._hostile_names import hostile

ROOT = Path(__file__).parent.parent
MODEL = "bilstm-gru-tagger"


@pytest.fixture(scope="module")
def made() -> Card:
    return card(graph(MODEL))


@pytest.mark.parametrize("name", FORMATS)
def test_a_card_has_a_door_to_every_format(name: str, made: Card) -> None:
    assert made.render(name)


def test_the_named_doors_lead_where_they_say(made: Card) -> None:
    assert made.to_markdown().startswith(f"# {MODEL}.onnx\n")
    assert made.to_html().startswith("<!doctype html>")
    assert msgspec.json.decode(made.to_json(), type=Document).parameters == made.parameters
    assert "flowchart" in made.to_mermaid()
    assert str(made).startswith(f"{MODEL}.onnx")


def test_an_unknown_format_is_an_error_that_lists_them(made: Card) -> None:
    with pytest.raises(ValueError, match="there is no format 'word'; there are terminal, markdown"):
        made.render("word")


def test_a_card_is_frozen_data_and_equal_to_itself(made: Card) -> None:
    with pytest.raises(AttributeError):
        made.gaps = ()  # type: ignore[misc]
    again = card(graph(MODEL))
    assert msgspec.structs.replace(again, generated=made.generated) == made


def test_a_notebook_shows_the_key_numbers(made: Card) -> None:
    text = made._repr_html_()
    assert "Key numbers" in text and "83.4 MMACs" in text and "<script" not in text


def test_a_notebook_shows_names_as_names(tmp_path: Path) -> None:
    text = card(hostile(tmp_path))._repr_html_()
    assert "<script" not in text and "<img" not in text and "onerror" not in re.sub(r"&lt;.*?&gt;", "", text)


def test_the_page_on_python_tells_the_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for name in ("docs", "src", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    exec("\n".join(re.findall(r"```python\n(.*?)```", text, re.S)), {})
    assert (tmp_path / "card.html").stat().st_size > 100_000
    assert all(hasattr(Card, name) for name in re.findall(r"`made\.(\w+)\(", text))
