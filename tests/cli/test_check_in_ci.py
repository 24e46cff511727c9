"""The GitHub action and the pre-commit hook: well-formed, safe against injection, and their scripts run."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from onnx_autodoc.cli.parser import parse
from onnx_autodoc.render import OUTCOME_FORMATS
from tests._text import proto

ROOT = Path(__file__).parent.parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
STEPS = ACTION["runs"]["steps"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, nodes in (("a b.onnx", "y = Relu(x)"), ("sub/c.onnx", "z = Relu(x) y = Exp(z)")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(proto(f"g (float[2,3] x) => (float[2,3] y) {{ {nodes} }}").SerializeToString())
    (tmp_path / "p.toml").write_text('[limits]\n"graph.nodes" = { max = 1 }\n')
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "onnx-autodoc"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m onnx_autodoc "$@"\n')
    command.chmod(0o755)
    return tmp_path


def run_action(place: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the script of the action as a runner does."""
    step = next(step for step in STEPS if step.get("id") == "check")
    values = {name: str(entry.get("default", "")) for name, entry in ACTION["inputs"].items()} | inputs
    filled = {key: values[re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text)[1]] for key, text in step["env"].items()}
    environment = {**os.environ, **filled, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", "RUNNER_TEMP": str(place)}
    environment |= {"GITHUB_OUTPUT": str(place / "output"), "GITHUB_STEP_SUMMARY": str(place / "summary")}
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=place, env=environment)


def test_scripts_contain_no_inputs() -> None:
    for step in STEPS:
        assert "${{" not in step.get("run", "")
        assert step.get("shell") == "bash" or "uses" in step


def test_inputs_and_outputs_are_described_and_used() -> None:
    text = (ROOT / "action.yml").read_text()
    for name, entry in ACTION["inputs"].items():
        assert entry["description"] and ("default" in entry or entry["required"])
        assert f"${{{{ inputs.{name} }}}}" in text
    script = next(step for step in STEPS if step.get("id") == "check")["run"]
    for name, entry in ACTION["outputs"].items():
        assert entry["value"] == f"${{{{ steps.check.outputs.{name} }}}}" and f"{name}=%s" in script


def test_action_passes_and_fails_with_the_check(place: Path) -> None:
    passed = run_action(place, models="a b.onnx", policy="p.toml")
    assert (passed.returncode, passed.stderr) == (0, "")
    failed = run_action(place, models="a b.onnx\n\n**/*.onnx", policy="p.toml")
    assert (failed.returncode, failed.stderr) == (1, "")
    assert "::error file=sub/c.onnx," in failed.stdout
    assert "### onnx-autodoc: sub/c.onnx failed" in (place / "summary").read_text()
    outputs = dict(line.split("=", 1) for line in (place / "output").read_text().splitlines())
    assert Path(outputs["sarif"]).read_text().startswith('{\n  "$schema"')
    assert Path(outputs["report"]).exists()


@pytest.mark.parametrize("format_name", OUTCOME_FORMATS)
def test_action_writes_every_format(place: Path, format_name: str) -> None:
    done = run_action(place, models="sub/c.onnx", policy="p.toml", format=format_name)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout


@pytest.mark.parametrize(
    "inputs",
    [
        {"models": "absent*.onnx", "policy": "p.toml"},
        {"models": "", "policy": "p.toml"},
        {"models": "a b.onnx", "policy": ""},
        {"models": "a b.onnx", "policy": "p.toml", "baseline": "absent.json"},
        {"models": "a b.onnx", "policy": "p.toml", "format": "$(touch pwned)"},
        {"models": "$(touch pwned)\n`touch pwned`\n; touch pwned", "policy": "p.toml"},
        {"models": "a b.onnx", "policy": "p.toml'; touch pwned; '"},
        {"models": "a b.onnx", "policy": "p.toml", "args": "--seq=1; touch pwned\n$(touch pwned)"},
        {"models": "--help", "policy": "p.toml"},
    ],
)
def test_action_with_hostile_inputs_fails_and_executes_nothing(place: Path, inputs: dict[str, str]) -> None:
    done = run_action(place, **inputs)
    assert done.returncode == 2, done.stderr
    assert not (place / "pwned").exists()
    assert not (place / "output").exists()


def test_action_passes_extra_options(place: Path) -> None:
    (place / "seq.toml").write_text('[limits]\n"assumptions.dims" = { max = 0 }\n')
    assert run_action(place, models="a b.onnx", policy="seq.toml", args="--seq=64").returncode in (0, 2)
    assert run_action(place, models="a b.onnx", policy="seq.toml", weights="true").returncode == 0


def test_hook_runs_the_check_command() -> None:
    (hook,) = HOOKS
    assert (hook["id"], hook["language"]) == ("onnx-autodoc-check", "python")
    assert re.search(hook["files"], "models/a.onnx") and not re.search(hook["files"], "a.onnx.txt")
    command, *words = [*hook["entry"].split(), *hook["args"], "a.onnx", "b.onnx"]
    options = parse(words)
    assert command == "onnx-autodoc"
    assert (options.models, options.policy) == (["a.onnx", "b.onnx"], "onnx-policy.toml")
