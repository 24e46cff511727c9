"""Nothing connects, and nothing is read but what the user named: seen by an audit hook, and without a network."""

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

import onnx_autodoc
from tests._hostile_names import hostile
from tests.safety._hook import hooked, seen
from tests.safety._made import COMMAND, PLAIN, REPORTS, TEXTS, files, ran

POLICY = '[limits]\n"graph.nodes" = { max = 3 }\n'
OWN = (
    Path(onnx_autodoc.__file__).parent,
    *(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    *map(Path, ("/proc", "/sys", "/dev", "/usr/share/zoneinfo", "/usr/share/fonts", "/etc/fonts")),
    Path(sys.prefix),
    Path(sys.base_prefix),
)
# Names of modules that a hostile folder may hold for a tool that is started in it.
LURES = ("numpy", "msgspec", "rich", "jinja2", "json", "onnx", "onnx_autodoc", "sitecustomize", "usercustomize")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model among files that would tell of it if they were run."""
    place = tmp_path / "place"
    place.mkdir()
    hostile(place).rename(place / "model.onnx")
    shutil.copy(place / "model.onnx", place / "other.onnx")
    (place / "policy.toml").write_text(POLICY)
    for name in LURES:
        (place / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nraise SystemExit(99)\n")
    (place / "pyvenv.cfg").write_text("home = /nonexistent\n")
    return place


COMMANDS = {
    "text": ["card", "model.onnx"],
    "folder": ["card", "model.onnx", "-o", "made/"],
    "pictures": ["card", "model.onnx", "-o", "made/", "--pictures", "png"],
    "weights": ["card", "model.onnx", "--weights", "--sha256", "--format", "json"],
    **{name: ["card", "model.onnx", "--format", name] for name in ("html", "huggingface", *REPORTS)},
    "compare": ["compare", "model.onnx", "other.onnx", "--format", "html"],
    "check": ["check", "model.onnx", "--policy", "policy.toml"],
    "demo": ["demo"],
    "device": ["card", "model.onnx", "--device", "auto"],
    "devices": ["devices"],
    "rules": ["rules"],
    "schema": ["schema"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_connects_starts_or_looks_elsewhere(name: str, folder: Path) -> None:
    around = {**PLAIN, **hooked(folder.parent)}
    done = ran(COMMANDS[name], around, folder)
    assert done.returncode in (0, 1), done.stderr.decode()
    found = seen(folder.parent)
    assert ("import", "") in found, "the hook was not there"
    quiet = [each for each in found if each[0] not in ("open", "import", "os.fork", "ctypes.dlopen")]
    assert quiet == []
    assert [said for event, said in found if event == "ctypes.dlopen" and str(folder) in said] == []
    given = [word for word in COMMANDS[name] if word.endswith((".onnx", ".toml"))]
    assert [said for event, said in found if event == "open" and not _expected(said, folder, given)] == []
    assert not (folder.parent / "ran").exists()


def _expected(said: str, folder: Path, given: list[str]) -> bool:
    """Of an open: a path, and a mode where Python's own `open` was called."""
    words = said.split(" ")
    path = Path(folder, words[0])
    if said in ("int NoneType", "int str", "int r", "int rb", "int w", "int wb") or words[0].isdigit():
        return True  # a file that is open already
    if said == "pictures NoneType":
        return not path.exists() and (folder / "made" / "pictures").is_dir()  # by the descriptor of the folder around
    if re.fullmatch(r"\.onnx-autodoc\.[0-9a-f]{16} NoneType", said):
        return not path.exists()  # a temporary file, by the descriptor of the folder it is written to
    if any(path == folder / each for each in given) or path.is_relative_to(folder / "made") or path == folder:
        return True
    return any(path.is_relative_to(own) for own in (*OWN, folder.parent / "hook"))


@pytest.mark.parametrize("command", [COMMAND, (str(Path(sys.executable).parent / "onnx-autodoc"),)])
def test_no_module_is_taken_from_the_folder_that_a_user_is_in(command: tuple[str, ...], folder: Path) -> None:
    done = ran(["model.onnx", "--format", "html"], cwd=folder, command=command)
    assert (done.returncode, done.stderr) == (0, b"")
    assert not (folder.parent / "ran").exists()


def test_a_folder_can_replace_modules_of_python_m_without_its_option_p(folder: Path) -> None:
    """Python itself puts the current folder first for `-m`; documentation and our own processes use -P."""
    done = ran(["model.onnx"], cwd=folder, command=(sys.executable, "-m", "onnx_autodoc"))
    assert done.returncode == 99


def _unplugged() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _unplugged(), reason="this user may not take the network away from a process")
def test_without_a_network_every_byte_is_the_same(folder: Path) -> None:
    for words in (["card", "model.onnx", "-o", "made/"], ["card", "model.onnx", "--format", "html", "-o", "a.html"]):
        assert ran(words, cwd=folder).returncode == 0
    expected = files(folder)
    for words in (["card", "model.onnx", "-o", "made/"], ["card", "model.onnx", "--format", "html", "-o", "a.html"]):
        done = ran(words, cwd=folder, command=("unshare", "-n", *COMMAND))
        assert (done.returncode, done.stderr) == (0, b"")
    assert files(folder) == expected


_FETCHED = re.compile(
    r"""<(?:script|link|img|iframe|object|embed|source|video|audio|use|image|base|meta)\b[^>]*?"""
    r"""(?:src|href|data|srcset|poster|content)\s*=\s*["']?\s*(?:\d+;\s*url=)?(?:https?:|//|file:|ftp:)"""
    r"""|url\(\s*["']?(?:https?:|//|file:)|@import|<\?xml-stylesheet|<!ENTITY""",
    re.IGNORECASE,
)


@pytest.mark.parametrize("name", [*(name for name in TEXTS if name != "json")])
def test_no_document_makes_its_reader_fetch_anything(name: str, folder: Path) -> None:
    text = ran(["model.onnx", "--format", name], cwd=folder).stdout.decode()
    assert text
    assert [found[0] for found in _FETCHED.finditer(text)] == []
    if name in ("markdown", "architecture", "huggingface"):
        shown = cmarkgfm.github_flavored_markdown_to_html(text, options=Options.CMARK_OPT_UNSAFE)
        assert [found[0] for found in _FETCHED.finditer(shown)] == []


def test_no_picture_makes_its_reader_fetch_anything(folder: Path) -> None:
    assert ran(["model.onnx", "-o", "made/"], cwd=folder).returncode == 0
    pictures = [path.read_text() for path in (folder / "made").rglob("*.svg")]
    assert pictures
    assert [found[0] for text in pictures for found in _FETCHED.finditer(text)] == []
