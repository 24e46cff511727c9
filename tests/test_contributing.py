"""The worked examples of docs/contributing/: each is applied to a copy of the source, and its test passes."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("operator", "lint-rule", "reader", "output-format", "section")
MAX_SOURCE_FILES = 2
_CAPTION = re.compile(r"In `([^`\n]+)`(, at the end)?:$", re.M)
_BLOCK = re.compile(r"^```(python|diff)\n(.*?)^```$", re.M | re.S)


def _apply(page: str, root: Path) -> list[str]:
    """Write the code blocks of a page below `root`. Return the changed files, each named before its blocks."""
    changed = []
    for caption, following in zip(
        captions := list(_CAPTION.finditer(page)), [*(match.start() for match in captions[1:]), len(page)], strict=True
    ):
        path = root / caption.group(1)
        for language, code in _BLOCK.findall(page[caption.end() : following]):
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            if language == "diff":
                lines = code.splitlines(keepends=True)
                old = "".join(line[1:] for line in lines if line[0] != "+")
                assert text.count(old) == 1, f"{caption.group(1)} does not contain {old!r} once"
                text = text.replace(old, "".join(line[1:] for line in lines if line[0] != "-"))
            else:
                assert bool(text) == bool(caption.group(2)), f"{caption.group(1)}: a new file, or one to extend?"
                text = f"{text}\n\n{code}" if text else code
            path.write_text(text, encoding="utf-8")
            changed.append(caption.group(1))
    return changed


@pytest.mark.parametrize("name", PAGES)
def test_worked_example_passes_its_test(name: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    skipped = shutil.ignore_patterns("__pycache__", "golden", "browser", "fuzz")
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=skipped)
    changed = _apply((ROOT / "docs" / "contributing" / f"{name}.md").read_text(encoding="utf-8"), tmp_path)
    sources = {path for path in changed if path.startswith("src/")}
    (test,) = {path for path in changed if path.startswith("tests/")}
    assert 1 <= len(sources) <= MAX_SOURCE_FILES
    check = [str(Path(sys.executable).parent / "ruff"), "check", "--no-cache", *sorted({*sources, test})]
    pytest_command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", test]
    for command in (check, pytest_command):
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={"PYTHONPATH": f"{tmp_path / 'src'}:{tmp_path}", "PYTHONDONTWRITEBYTECODE": "1", "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_example_is_tested() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "contributing").glob("*.md")}
    assert pages == {*PAGES, "design"}
