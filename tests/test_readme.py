"""The commands of the README run in a copy of the repository with a new environment."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [line[2:] for block in re.findall(r"```console\n(.*?)```", README, re.S) for line in block.splitlines()]
EXTRA_OUTPUTS = ("changes.html", "check.sarif", "demo.cdx.json")
IGNORED = {".venv", ".git", ".corpus", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "demo.card"}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Return a copy of the repository and an environment with a new virtualenv on the path."""
    folder = tmp_path_factory.mktemp("fresh")
    shutil.copytree(ROOT, folder / "repo", ignore=shutil.ignore_patterns(*IGNORED, "__pycache__", "*.card"))
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    hidden = {"PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
    environment = {key: item for key, item in os.environ.items() if key not in hidden}
    return folder / "repo", {**environment, "PATH": f"{folder / 'env' / 'bin'}:{os.environ['PATH']}"}


def run(command: str, fresh: tuple[Path, dict[str, str]]) -> subprocess.CompletedProcess[str]:
    folder, environment = fresh
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_readme_commands_succeed(fresh: tuple[Path, dict[str, str]]) -> None:
    assert COMMANDS[:2] == ["make demo", "make test"]
    for command in COMMANDS:
        # `make test` includes this test, so only its recipe is checked.
        done = run("make -n test" if command == "make test" else command, fresh)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert done.stdout or " -o " in command or command.startswith("pip install"), command
    documents = {path.name for path in (fresh[0] / "demo.card").iterdir()}
    assert {"card.md", "card.html", "card.json", "pictures"} <= documents
    for written in (
        "nodes.csv",
        "card.json",
        "resnet50.card",
        "resnet50.pdf",
        "resnet50.pictures/memory.png",
        *EXTRA_OUTPUTS,
    ):
        assert (fresh[0] / written).exists(), written
    code = re.findall(r"```python\n(.*?)```", README, re.S)[0]
    done = run(f"python - <<'CODE'\n{code}\nCODE", fresh)
    first, formula, kind, markdown = done.stdout.splitlines()
    macs = 64 * 10_616_832 + 64**2 * 4_608
    assert first == f"22565376 {macs} {64 * 19_968 + 64**2 * 4} (1, 64, 384)", done.stderr
    assert formula == "batch_size·(10,616,832·sequence_length + 4,608·sequence_length²)"
    assert kind == "transformer-encoder 6 12 feature extraction"
    assert markdown == "# all-minilm-l6-v2-ts-op14.onnx True"


def test_readme_card_is_current() -> None:
    example = re.findall(r"```text\n(.*?)```", README, re.S)[0]
    command = [sys.executable, "-m", "onnx_autodoc", "demo"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == example


def test_readme_policy_equals_example_file() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", README, re.S)
    assert example == (ROOT / "docs" / "example-policy.toml").read_text(encoding="utf-8")


def list_options() -> set[str]:
    """Return the long options in the help of every command."""
    from onnx_autodoc.cli.parser import COMMANDS as NAMES

    helps = [
        subprocess.run([sys.executable, "-m", "onnx_autodoc", name, "--help"], capture_output=True) for name in NAMES
    ]
    return {option for done in helps for option in re.findall(r"--[a-z0-9]+", done.stdout.decode())} - {
        "--help",
        "--output",
    }


def test_every_option_is_documented() -> None:
    from onnx_autodoc.cli.parser import COMMANDS as NAMES
    from onnx_autodoc.render import FORMATS

    for option in list_options():
        assert option in README, option
    assert all(f"onnx-autodoc {name}" in README for name in NAMES)
    assert all(f"`{name}`" in README for name in FORMATS)
