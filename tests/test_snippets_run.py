"""The program on a card runs, and its outputs have the shapes on the card.

Graphs without their weights get weights of zeros: whether a program runs depends on its inputs only.
"""

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import pytest

from onnx_autodoc.api import card
from onnx_autodoc.card import Card
from onnx_autodoc.errors import BadInput
from onnx_autodoc.readers import read_model
from onnx_autodoc.render.snippet import make_snippet
from tests._corpus import GRAPH_NAMES, MODELS, REGISTRY, graph

DEMO = Path(str(resources.files("onnx_autodoc") / "data" / "demo.onnx"))
EXPORTS = Path(__file__).parent / "data" / "exports.zip"
LARGE = 120_000_000  # bytes of weights
WITHOUT_WEIGHTS = (
    "all-minilm-l6-v2-dynquant-int8",
    "e5-small-v2-dynquant-int8",
)  # in the file


def list_exports() -> list[str]:
    with zipfile.ZipFile(EXPORTS) as archive:
        return sorted(name for name in archive.namelist() if name.endswith(".onnx"))


def run_snippet(path: Path, model_card: Card) -> str:
    """Return the output of the program, run in the folder of its model."""
    command = [sys.executable, "-c", make_snippet(model_card)]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_shapes(text: str, model_card: Card) -> int:
    """Check outputs whose shape the card knows. Return their number."""
    lines = text.splitlines()
    assert len(lines) == len(model_card.interface.outputs) > 0
    known = [(port, line) for port, line in zip(model_card.interface.outputs, lines) if port.bound is not None]
    for port, line in known:
        assert line.startswith(f"{port.name} {port.dtype} ")
        assert tuple(map(int, re.findall(r"\d+", line.rpartition("(")[2]))) == port.bound, port.name
    return len(known)


def add_zero_weights(path: Path) -> Path:
    """Create files of zeros for the external weights of the model."""
    for external in read_model(path).external:
        with (path.parent / external.path).open("ab") as file:
            file.truncate(max(file.tell(), external.required_bytes))
    return path


def _is_small(name: str) -> bool:
    needed = sum(external.required_bytes for external in read_model(graph(name)).external)
    return needed < LARGE and MODELS[name].get("macs", 0) < 5e9


@pytest.mark.parametrize("name", sorted(name for name in MODELS if MODELS[name]["origin"]["kind"] == "registry"))
def test_program_of_a_registry_model_runs(name: str) -> None:
    path = next((REGISTRY / name).glob("*.onnx"), None) if REGISTRY.is_dir() else None
    if path is None:
        pytest.skip("`make corpus` brings the registry models with their weights")
    assert_shapes(run_snippet(path, card(path)), card(path))
    try:
        batched = card(path, batch=3)
    except BadInput:
        return  # the file has a fixed batch
    assert_shapes(run_snippet(path, batched), batched)


@pytest.mark.parametrize("name", [name for name in GRAPH_NAMES if name not in WITHOUT_WEIGHTS and _is_small(name)])
def test_program_of_a_graph_runs(name: str, tmp_path: Path) -> None:
    path = add_zero_weights(Path(shutil.copy(graph(name), tmp_path)))
    model_card = card(path)
    assert assert_shapes(run_snippet(path, model_card), model_card) > 0


@contextmanager
def _skip_other_blocked_layouts() -> Iterator[None]:
    """Blocked layouts of onnxruntime have the width of the registers of the processor that wrote the file."""
    try:
        yield
    except Exception as error:
        if "blocked layout" in str(error):
            pytest.skip("the blocked layout is for another processor")
        raise


@pytest.mark.parametrize("name", list_exports())
def test_program_of_an_export_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile(EXPORTS) as archive:
        path = add_zero_weights(Path(archive.extract(name, tmp_path)))
    model_card = card(path)
    monkeypatch.chdir(tmp_path)
    with _skip_other_blocked_layouts():
        exec(make_snippet(model_card), {})  # in this process: there are many, and starting takes longer than running
    assert assert_shapes(capsys.readouterr().out, model_card) > 0


@pytest.mark.parametrize("sizes", [{}, {"batch": 3}, {"size": (64, 96)}], ids=["default", "three", "small"])
def test_program_of_the_demo_runs(sizes: dict[str, int]) -> None:
    model_card = card(DEMO, **sizes)  # type: ignore[arg-type]
    assert assert_shapes(run_snippet(DEMO, model_card), model_card) == 1
