"""The program on a card, run as a stranger would: it runs, and what comes out has the shapes that the card says.

Graphs that are kept without their weights get weights of zeros: whether a run gets through hangs on its inputs.
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
from tests._corpus import KEPT, MODELS, REGISTRY, graph

DEMO = Path(str(resources.files("onnx_autodoc") / "data" / "demo.onnx"))
EXPORTS = Path(__file__).parent / "data" / "exports.zip"
LARGE = 120_000_000  # bytes of weights
EMPTIED = ("all-minilm-l6-v2-dynquant-int8", "e5-small-v2-dynquant-int8")  # weights inside of the file are left out


def exported() -> list[str]:
    with zipfile.ZipFile(EXPORTS) as held:
        return sorted(name for name in held.namelist() if name.endswith(".onnx"))


def printed(path: Path, found: Card) -> str:
    """What the program prints in the folder of its model."""
    command = [sys.executable, "-c", make_snippet(found)]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def compared(text: str, found: Card) -> int:
    """How many outputs have the shape that the card says; all must whose shape it knows."""
    lines = text.splitlines()
    assert len(lines) == len(found.interface.outputs) > 0
    known = [(port, line) for port, line in zip(found.interface.outputs, lines) if port.bound is not None]
    for port, line in known:
        assert line.startswith(f"{port.name} {port.dtype} ")
        assert tuple(map(int, re.findall(r"\d+", line.rpartition("(")[2]))) == port.bound, port.name
    return len(known)


def with_zeros(path: Path) -> Path:
    """The model, with files of zeros where its weights should be."""
    for held in read_model(path).external:
        with (path.parent / held.path).open("ab") as file:
            file.truncate(max(file.tell(), held.required_bytes))
    return path


def _is_small(name: str) -> bool:
    needed = sum(held.required_bytes for held in read_model(graph(name)).external)
    return needed < LARGE and MODELS[name].get("macs", 0) < 5e9


@pytest.mark.parametrize("name", sorted(name for name in MODELS if MODELS[name]["origin"]["kind"] == "registry"))
def test_the_program_of_a_registry_model_runs(name: str) -> None:
    path = next((REGISTRY / name).glob("*.onnx"), None) if REGISTRY.is_dir() else None
    if path is None:
        pytest.skip("`make corpus` brings the registry models with their weights")
    compared(printed(path, card(path)), card(path))
    try:
        other = card(path, batch=3)
    except BadInput:
        return  # the file fixes it
    compared(printed(path, other), other)


@pytest.mark.parametrize("name", [name for name in KEPT if name not in EMPTIED and _is_small(name)])
def test_the_program_of_a_graph_runs(name: str, tmp_path: Path) -> None:
    path = with_zeros(Path(shutil.copy(graph(name), tmp_path)))
    found = card(path)
    assert compared(printed(path, found), found) > 0


@contextmanager
def _unless_made_for_another_processor() -> Iterator[None]:
    """onnxruntime's own layout has blocks as wide as the registers of the processor it was made on."""
    try:
        yield
    except Exception as error:
        if "blocked layout" in str(error):
            pytest.skip("the file has channels in blocks of another width than this processor's")
        raise


@pytest.mark.parametrize("name", exported())
def test_the_program_of_an_export_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile(EXPORTS) as held:
        path = with_zeros(Path(held.extract(name, tmp_path)))
    found = card(path)
    monkeypatch.chdir(tmp_path)
    with _unless_made_for_another_processor():
        exec(make_snippet(found), {})  # in this process: there are many, and starting takes longer than running
    assert compared(capsys.readouterr().out, found) > 0


@pytest.mark.parametrize("sizes", [{}, {"batch": 3}, {"size": (64, 96)}], ids=["default", "three", "small"])
def test_the_program_of_the_demo_runs(sizes: dict[str, int]) -> None:
    found = card(DEMO, **sizes)  # type: ignore[arg-type]
    assert compared(printed(DEMO, found), found) == 1
