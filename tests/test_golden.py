"""Golden cards: a dozen small models in every format, byte for byte. After a change that is meant:

    pytest tests/test_golden.py --update

and read the difference. Of the page, what is the same in every page (scripts, styles) stays out of the file.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from onnx_autodoc.api import make_card
from onnx_autodoc.render import FORMATS, ChartLinks, Report, chart_files
from onnx_autodoc.shapes import Request
from tests._corpus import graph
from tests._hostile_names import hostile

GOLDEN = Path(__file__).parent / "golden"
MODELS = (
    "all-minilm-l6-v2-ortfused",
    "bert-base-qa-ortfused",
    "bilstm-gru-tagger",
    "control-flow-loop-if",
    "demo",
    "hostile",
    "local-functions-mlp",
    "magika-standard-v3-3",
    "mobilenetv2-qoperator-int8",
    "onnx-light-bvlc-alexnet",
    "onnx-light-squeezenet",
    "resnet50-ts-op17",
    "smollm2-135m-genai-int4",
)
# Bytes that a library makes, and what lists all rules there are; tests/render reads them.
NOT_KEPT = ("pdf", "sarif", "junit", "github")
ILLUSTRATED = ChartLinks("pictures", ".svg")
_SAME = re.compile(r"(<(script|style)\b[^>]*>)(.*?)(</\2>)", re.S)


@pytest.fixture(scope="module", autouse=True)
def _same_time() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        yield


@cache
def found(name: str, folder: Path) -> Report:
    if name == "hostile":
        return make_card(hostile(folder), Request())
    path = Path(str(files("onnx_autodoc") / "data" / "demo.onnx")) if name == "demo" else graph(name)
    return make_card(path, Request())


def documents(name: str, folder: Path) -> dict[str, str]:
    """Every format of a model's card and its pictures, by the name of the file that keeps it."""
    made = found(name, folder)
    shown = Report(made.card, made.nodes, ILLUSTRATED)
    kept = {f"{name}{entry.suffix}": entry.render(shown) for name, entry in FORMATS.items() if name not in NOT_KEPT}
    kept["html.html"] = _SAME.sub(_left_out, str(kept["html.html"]))
    kept |= {f"pictures/{file}": data for file, data in chart_files(made, ".svg").items()}
    return {file: str(text) for file, text in kept.items()}


def _left_out(found: re.Match[str]) -> str:
    return found[0] if "application/json" in found[1] else f"{found[1]}…{found[4]}"


@pytest.mark.parametrize("name", MODELS)
def test_a_card_is_as_it_was(
    name: str, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> None:
    made = documents(name, tmp_path_factory.getbasetemp())
    if request.config.getoption("--update"):
        update(GOLDEN / name, made)
    kept = {str(path.relative_to(GOLDEN / name)) for path in (GOLDEN / name).rglob("*") if path.is_file()}
    assert kept == set(made)
    for file, text in made.items():
        assert (GOLDEN / name / file).read_bytes().decode() == text, f"{name}/{file}: --update, if it is meant"


def update(folder: Path, made: dict[str, str]) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and str(path.relative_to(folder)) not in made:
            path.unlink()
    for file, text in made.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8", newline="")


def test_every_format_is_kept() -> None:
    kept = {path.name.partition(".")[0] for path in (GOLDEN / "demo").iterdir() if path.is_file()}
    assert kept == set(FORMATS) - set(NOT_KEPT)
