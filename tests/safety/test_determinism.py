"""Outputs are reproducible: across runs, folders, locales, hash seeds, time zones, terminals and CI jobs."""

import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests._corpus import graph
from tests._hostile_names import hostile
from tests._text import proto
from tests.safety._commands import COMMAND, MINIMAL_ENVIRONMENT, read_files, run_tool

# One process per environment renders all formats of a model, because starting it takes longest.
ALL = """
import os, sys
from pathlib import Path
from onnx_autodoc.api import make_card
from onnx_autodoc.api.comparison import compare_sources, load_cards
from onnx_autodoc.cli import main
from onnx_autodoc.render import FORMATS
from onnx_autodoc.render import COMPARISON_FORMATS
from onnx_autodoc.shapes import Request
os.umask(int(os.environ.get("MASK", "022"), 8))
model, other, policy, target = sys.argv[1:5]
def write(name, content):
    (Path(target) / name).write_bytes(content if isinstance(content, bytes) else content.encode())
report = make_card(model, Request(), sha256=True, weights=True)
for name in FORMATS:
    if name != "pdf":
        write(f"card.{name}", FORMATS[name].render(report))
difference = compare_sources([model, other], load_cards([model, other], Request(), False), False, None)
for name in COMPARISON_FORMATS:
    write(f"compared.{name}", COMPARISON_FORMATS[name].render(difference))
codes = [main(["card", other, "-o", target + "/folder/", "--pictures", "png"])]
codes += [main(["check", model, "--policy", policy, *(word for name in ("json", "sarif", "xml", "md", "txt")
    for word in ("-o", f"{target}/checked.{name}"))])]
write("codes", repr(codes))
"""
POLICY = '[limits]\n"graph.nodes" = { max = 3 }\n[rules]\nfail_on = "warning"\n'
ENVIRONMENTS: dict[str, Mapping[str, str]] = {
    "again": {},
    "plain C": {"LC_ALL": "C", "PYTHONHASHSEED": "0", "TZ": "Pacific/Kiritimati"},
    "POSIX without UTF-8": {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONHASHSEED": "1"},
    "UTF-8": {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "2", "TZ": "America/St_Johns", "COLUMNS": "40"},
    "another language": {"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de", "PYTHONHASHSEED": "3", "NO_COLOR": "1"},
    "optimised": {"PYTHONOPTIMIZE": "1", "PYTHONHASHSEED": "4", "COLUMNS": "300", "TERM": "dumb", "MASK": "077"},
    "a job": {
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": "/w",
        "GITLAB_CI": "1",
        "FORCE_COLOR": "1",
        "TERM": "xterm-256color",
        "PYTHONHASHSEED": "9",
        "USER": "someone",
        "HOSTNAME": "elsewhere",
    },
}


def render_all(
    model: Path, other: Path, policy: Path, target: Path, environment: Mapping[str, str] = MINIMAL_ENVIRONMENT
) -> dict[str, bytes]:
    target.mkdir(parents=True)
    done = run_tool(
        [model, other, policy, target], {**MINIMAL_ENVIRONMENT, **environment}, command=(COMMAND[0], "-P", "-c", ALL)
    )
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
    return read_files(target)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    folder = tmp_path_factory.mktemp("models")
    (folder / "policy.toml").write_text(POLICY)
    shutil.copy(graph("control-flow-loop-if"), folder / "other.onnx")
    return hostile(folder), folder / "other.onnx", folder / "policy.toml"


def test_outputs_are_independent_of_the_environment(models: tuple[Path, Path, Path], tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(render_all, *models, tmp_path / "first")
        runs = {
            name: pool.submit(render_all, *models, tmp_path / f"n{at}", environment)
            for at, (name, environment) in enumerate(ENVIRONMENTS.items())
        }
        expected = first.result()
        assert expected["codes"] == b"[0, 1]"
        assert len(expected) > 30
        for name, run in runs.items():
            differing = [path for path, data in run.result().items() if expected.get(path) != data]
            assert (name, differing) == (name, [])
            assert run.result().keys() == expected.keys()


def test_outputs_are_independent_of_the_folder(tmp_path: Path) -> None:
    """By relative paths from several folders and by the absolute path."""
    subfolder = "with spaces, ünïcødé and 日本"
    source = graph("bilstm-gru-tagger")
    (tmp_path / subfolder).mkdir()
    shutil.copy(source, tmp_path / subfolder / source.name)
    for name in ("json", "html"):
        outputs = (
            run_tool([source, "--format", name]),
            run_tool([tmp_path / subfolder / source.name, "--format", name], cwd="/"),
            run_tool([Path(subfolder) / source.name, "--format", name], cwd=tmp_path),
            run_tool([source.name, "--format", name], cwd=tmp_path / subfolder),
        )
        assert {done.returncode for done in outputs} == {0}
        assert len({done.stdout for done in outputs}) == 1, name


def test_errors_are_independent_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"\x08\x09\x3a\xff\xff")
    lines = {
        run_tool(["bad.onnx"], {**MINIMAL_ENVIRONMENT, "LC_ALL": locale, "PYTHONHASHSEED": seed}, tmp_path).stderr
        for locale, seed in (("C", "0"), ("C.UTF-8", "1"), ("POSIX", "2"))
    }
    assert len(lines) == 1
    assert lines.pop().count(b"\n") == 1


def test_pdf_is_reproducible(tmp_path: Path) -> None:
    """Its date is that of the card, and its identifier is derived from its content."""
    model = tmp_path / "small.onnx"
    model.write_bytes(proto("g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }").SerializeToString())
    seeds = ({"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"}, {"PYTHONHASHSEED": "2", "LC_ALL": "C"})
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(
            lambda environment: run_tool([model, "--format", "pdf"], {**MINIMAL_ENVIRONMENT, **environment}), seeds
        )
    assert (first.returncode, first.stdout[:5]) == (0, b"%PDF-"), first.stderr
    assert first.stdout == second.stdout
