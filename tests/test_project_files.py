"""CONTRIBUTING, CHANGELOG, the CI workflow and the pre-commit configuration match the repository."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from onnx_autodoc.cli.parser import COMMANDS, parse
from onnx_autodoc.limits import OPTIONS
from onnx_autodoc.render import FORMATS

ROOT = Path(__file__).parent.parent
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
COMMAND_LINES = re.findall(r"^\$ (.*)$", CONTRIBUTING, re.MULTILINE)


def make_targets(line: str) -> list[str]:
    command, *words = shlex.split(line, comments=True)
    assert command == "make", line
    return [word for word in words if "=" not in word]


@pytest.mark.parametrize("line", [line for line in COMMAND_LINES if line.startswith("make")])
def test_make_command_of_contributing_has_targets(line: str) -> None:
    targets = make_targets(line)
    assert targets and set(targets) <= TARGETS
    dry_run = subprocess.run(["make", "-n", *targets], cwd=ROOT, capture_output=True, text=True, check=False)
    assert dry_run.returncode == 0, dry_run.stderr


@pytest.mark.parametrize("line", [line for line in COMMAND_LINES if not line.startswith("make")])
def test_pytest_command_of_contributing_collects_tests(line: str) -> None:
    command, *words = shlex.split(line, comments=True)
    assert command == ".venv/bin/pytest"
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", *words]
    assert subprocess.run(collect, cwd=ROOT, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"])
def test_links_of_root_documents_lead_to_files(name: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / name).read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_workflow_runs_make_targets_on_all_supported_versions() -> None:
    jobs = WORKFLOW["jobs"]
    lines = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    assert lines == {
        "lint": ["make lint"],
        "types": ["make types"],
        "tests": ["make pytest"],
        "lowest-versions": ["make pytest-lowest"],
        "browser": ["make test-browser"],
    }
    assert {target for run in lines.values() for target in make_targets(run[0])} <= TARGETS
    assert jobs["tests"]["strategy"]["matrix"]["python-version"] == ["3.11", "3.12", "3.13", "3.14"]


def test_lowest_versions_are_those_of_the_project() -> None:
    """`make pytest-lowest` has every extra, and every requirement has a lowest version; a name has the same one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    (listed,) = re.findall(r"--resolution lowest-direct -e '\.\[(.*)\]'", (ROOT / "Makefile").read_text())
    assert set(listed.split(",")) == {name for name, lines in extras.items() if lines} - {"fuzz"}
    requirements = [*project["dependencies"], *(line for lines in extras.values() for line in lines)]
    matches = {line: re.fullmatch(r"([\w-]+)(?:\[[\w-]+\])?>=([\d.]+)", line) for line in requirements}
    assert [line for line, match in matches.items() if match is None] == []
    bounds = {(match[1], match[2]) for match in matches.values() if match}
    assert len({name for name, _ in bounds}) == len(bounds)


def test_pre_commit_hooks_run_make_targets() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    assert [hook["entry"] for hook in hooks] == ["make lint", "make types"]
    assert all(hook["language"] == "system" and not hook["pass_filenames"] for hook in hooks)


def test_changelog_lists_every_command_format_and_option() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert [name for name in (*COMMANDS, *FORMATS, *OPTIONS.values()) if f"`{name}" not in text] == []
    options = set(vars(parse(["card", "m.onnx"]))) - {"run", "model"}
    assert [name for name in sorted(options) if f"--{name.replace('_', '-')}" not in text] == []
