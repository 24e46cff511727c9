"""Golden cards: a dozen small models in every format, byte for byte. After an intended change:

    pytest tests/test_golden.py --update

and review the difference. Scripts and styles, which every page has, are left out of the HTML files.
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
# Output of a library, and formats that list all rules; tests/render checks them.
WITHOUT_GOLDEN_FILE = ("pdf", "sarif", "junit", "github")
ILLUSTRATED = ChartLinks("pictures", ".svg")
_SHARED_BLOCK = re.compile(r"(<(script|style)\b[^>]*>)(.*?)(</\2>)", re.S)


@pytest.fixture(scope="module", autouse=True)
def _fix_time() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        yield


@cache
def make_report(name: str, folder: Path) -> Report:
    if name == "hostile":
        return make_card(hostile(folder), Request())
    path = Path(str(files("onnx_autodoc") / "data" / "demo.onnx")) if name == "demo" else graph(name)
    return make_card(path, Request())


def render_documents(name: str, folder: Path) -> dict[str, str]:
    """Return every format of a model's card and its pictures, by golden file name."""
    report = make_report(name, folder)
    with_charts = Report(report.card, report.nodes, ILLUSTRATED)
    texts = {
        f"{name}{entry.suffix}": entry.render(with_charts)
        for name, entry in FORMATS.items()
        if name not in WITHOUT_GOLDEN_FILE
    }
    texts["html.html"] = _SHARED_BLOCK.sub(_shorten_block, str(texts["html.html"]))
    texts |= {f"pictures/{file}": data for file, data in chart_files(report, ".svg").items()}
    return {file: str(text) for file, text in texts.items()}


def _shorten_block(match: re.Match[str]) -> str:
    return match[0] if "application/json" in match[1] else f"{match[1]}…{match[4]}"


@pytest.mark.parametrize("name", MODELS)
def test_card_equals_golden_files(
    name: str, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> None:
    documents = render_documents(name, tmp_path_factory.getbasetemp())
    if request.config.getoption("--update"):
        update_files(GOLDEN / name, documents)
    stored = {str(path.relative_to(GOLDEN / name)) for path in (GOLDEN / name).rglob("*") if path.is_file()}
    assert stored == set(documents)
    for file, text in documents.items():
        assert (GOLDEN / name / file).read_bytes().decode() == text, (
            f"{name}/{file}: --update if the change is intended"
        )


def update_files(folder: Path, documents: dict[str, str]) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and str(path.relative_to(folder)) not in documents:
            path.unlink()
    for file, text in documents.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8", newline="")


def test_every_format_has_a_golden_file() -> None:
    stored = {path.name.partition(".")[0] for path in (GOLDEN / "demo").iterdir() if path.is_file()}
    assert stored == set(FORMATS) - set(WITHOUT_GOLDEN_FILE)
