"""The gallery is current, and every relative link of the documentation resolves."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from scripts.gallery import BUILD_EPOCH, FOLDER, MODELS, render_documents, render_index

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("name", MODELS)
def test_gallery_card_is_current(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", BUILD_EPOCH)
    for file, text in render_documents(name).items():
        assert (FOLDER / name / file).read_bytes().decode() == text, f"{name}/{file}: run `make gallery`"
    assert (FOLDER / name / "card.png").read_bytes().startswith(b"\x89PNG")


def test_gallery_index_is_current() -> None:
    assert len(MODELS) == 8
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == render_index()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_resolve(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    targets = [unquote(target) for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)]
    assert [target for target in targets if not (path.parent / target).exists()] == []
