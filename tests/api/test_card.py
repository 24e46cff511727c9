"""`card()` from Python: formats, isolation, copies, the display in notebooks, and the page that documents them."""

import copy
import os
import pickle
import re
import signal
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from onnx_autodoc import BadInput, Card, LimitReached, Limits, card, within
from onnx_autodoc.api import isolation, pipeline
from onnx_autodoc.card import Card as Document
from onnx_autodoc.render import FORMATS
from tests._corpus import graph
from tests._hostile_names import hostile

ROOT = Path(__file__).parents[2]
MODEL = "bilstm-gru-tagger"


@pytest.fixture(scope="module")
def model_card() -> Card:
    return card(graph(MODEL))


@pytest.mark.parametrize("name", FORMATS)
def test_card_renders_every_format(name: str, model_card: Card) -> None:
    assert model_card.render(name)


def test_named_methods_return_their_format(model_card: Card) -> None:
    assert model_card.to_markdown().startswith(f"# {MODEL}.onnx\n")
    assert model_card.to_html().startswith("<!doctype html>")
    assert msgspec.json.decode(model_card.to_json(), type=Document).parameters == model_card.parameters
    assert "flowchart" in model_card.to_mermaid()
    assert str(model_card).startswith(f"{MODEL}.onnx")


def test_unknown_format_is_an_error_that_lists_the_formats(model_card: Card) -> None:
    with pytest.raises(ValueError, match="unknown format 'word'; use one of terminal, markdown"):
        model_card.render("word")


def test_card_is_frozen_and_reproducible(model_card: Card) -> None:
    with pytest.raises(AttributeError):
        model_card.gaps = ()  # type: ignore[misc]
    repeated = card(graph(MODEL))
    assert msgspec.structs.replace(repeated, generated=model_card.generated) == model_card


@pytest.fixture
def fixed_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")


@pytest.fixture
def fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork as in a program without threads, though pytest-xdist has some: the worker has the replaced functions."""
    monkeypatch.setattr(isolation, "has_other_threads", lambda: False)


@pytest.mark.usefixtures("fixed_time", "fork")
def test_isolated_card_is_equal_and_renders_every_format_the_same() -> None:
    isolated, local = card(graph(MODEL), isolated=True), card(graph(MODEL))
    assert isolated == local
    assert [name for name in FORMATS if name != "pdf" and isolated.render(name) != local.render(name)] == []


def test_isolated_card_obeys_the_limit_on_time() -> None:
    with within(Limits(seconds=0.01)), pytest.raises(LimitReached, match=f"{MODEL}.onnx: timed out after .*--timeout"):
        card(graph(MODEL), isolated=True)


@pytest.mark.usefixtures("fork")
def test_isolated_card_obeys_the_limit_on_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "read_model", lambda _: bytes(1 << 30))
    with within(Limits(memory=300_000_000)), pytest.raises(LimitReached, match=f"{MODEL}.onnx: .*--max-memory"):
        card(graph(MODEL), isolated=True)


@pytest.mark.usefixtures("fork")
def test_isolated_card_survives_a_crash_of_an_optional_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "estimate_hardware", lambda *_: os.kill(os.getpid(), signal.SIGSEGV))
    isolated = card(graph(MODEL), isolated=True)
    assert isolated.hardware is None
    assert [gap.section for gap in isolated.gaps if "SIGSEGV" in gap.reason] == ["hardware"]


def test_isolated_card_of_a_bad_file_raises_bad_input(tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"not a model at all, no")
    with pytest.raises(BadInput, match=r"bad\.onnx: not an ONNX model"):
        card(tmp_path / "bad.onnx", isolated=True)


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda model_card: pickle.loads(pickle.dumps(model_card))]
)
def test_duplicate_of_a_card_is_equal_and_renders_the_same(duplicate: Callable[[Card], Card], model_card: Card) -> None:
    other = duplicate(model_card)
    assert type(other) is Card
    assert other == model_card
    assert (other.to_json(), other.to_markdown(), str(other)) == (
        model_card.to_json(),
        model_card.to_markdown(),
        str(model_card),
    )
    with pytest.raises(BadInput, match="--format csv requires the model file"):
        other.render("csv")


def test_card_of_a_json_file_is_equal(model_card: Card, tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(model_card.to_json(), encoding="utf-8")
    for isolated in (False, True):
        loaded = card(tmp_path / "card.json", isolated=isolated)
        assert loaded == model_card
        assert loaded.to_json() == model_card.to_json()


def test_notebook_display_has_the_main_figures(model_card: Card) -> None:
    text = model_card._repr_html_()
    assert "At a glance" in text and "83.4 MMACs" in text and "<script" not in text


def test_notebook_display_escapes_names(tmp_path: Path) -> None:
    text = card(hostile(tmp_path))._repr_html_()
    assert "<script" not in text and "<img" not in text and "onerror" not in re.sub(r"&lt;.*?&gt;", "", text)


def test_python_examples_of_the_documentation_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for name in ("docs", "src", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    exec("\n".join(re.findall(r"```python\n(.*?)```", text, re.S)), {})
    assert (tmp_path / "card.html").stat().st_size > 100_000
    assert all(hasattr(Card, name) for name in re.findall(r"`model_card\.(\w+)\(", text))
