"""Models in which one thing occurs 5,000 times: time is linear in the count, and documents for people are bounded."""

import gc
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.hostile.large_models import KINDS
from onnx_autodoc.api import make_card
from onnx_autodoc.compare import compare
from onnx_autodoc.render import COMPARISON_FORMATS, FORMATS, Report
from onnx_autodoc.shapes import Request

FEW, MANY = 500, 5_000
MAX_RATIO = 2.5  # of the time per item: at least 5 if the time is quadratic, with a large linear part
# for people or other tools; json, nodes, csv and cyclonedx are complete
MAX_BYTES = {
    "terminal": 10_000,
    "markdown": 150_000,
    "architecture": 150_000,
    "huggingface": 150_000,
    "github": 60_000,
    "mermaid": 60_000,
    "junit": 300_000,
    "sarif": 300_000,
    "html": 2_500_000,  # with the rows of 20,000 nodes
}


@pytest.fixture(autouse=True)
def _without_garbage_collection() -> Iterator[None]:
    """The worker of a command hardly collects either."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def write(path: Path, kind: str, count: int) -> Path:
    path.write_bytes(KINDS[kind](count))
    return path


def measure_seconds(path: Path) -> tuple[float, Report, dict[str, str | bytes]]:
    before = time.process_time()
    report = make_card(path, Request())
    documents = {name: entry.render(report) for name, entry in FORMATS.items() if name != "pdf"}  # slow layout
    return time.process_time() - before, report, documents


@pytest.mark.parametrize("kind", KINDS)
def test_time_is_linear_and_documents_are_bounded(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    few = min(measure_seconds(write(path, kind, FEW))[0] for _ in range(2))
    many, report, documents = measure_seconds(write(path, kind, MANY))
    assert many / MANY < MAX_RATIO * few / FEW
    sizes = {name: len(documents[name]) for name in MAX_BYTES}
    assert {name: size for name, size in sizes.items() if size > MAX_BYTES[name]} == {}
    interface = json.loads(documents["json"])["interface"]
    assert len(interface["inputs"]) == len(report.card.interface.inputs)
    assert len(interface["outputs"]) == len(report.card.interface.outputs)


@pytest.mark.parametrize(
    "kinds", [("operators", "operators"), ("metadata", "opsets"), ("dynamic inputs with different names", "functions")]
)
def test_comparison_is_linear_and_lists_are_capped(kinds: tuple[str, str], tmp_path: Path) -> None:
    seconds = []
    for count in (FEW, MANY):
        cards = [
            make_card(write(tmp_path / f"{at}.onnx", kind, count), Request()).card for at, kind in enumerate(kinds)
        ]
        before = time.process_time()
        compared = compare(cards, ["before", "after"])
        documents = {name: entry.render(compared) for name, entry in COMPARISON_FORMATS.items()}
        seconds.append(time.process_time() - before)
    assert seconds[1] / MANY < MAX_RATIO * seconds[0] / FEW
    assert len(documents["markdown"]) < 300_000
    assert len(documents["html"]) < 500_000
    if kinds[0] != kinds[1]:
        assert "more are in the JSON comparison" in str(documents["markdown"])
