"""No connections, and no reads except of requested files: checked by an audit hook and without a network."""

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
from tests.safety._audit_hook import install_hook, read_events
from tests.safety._commands import COMMAND, MINIMAL_ENVIRONMENT, REPORTS, TEXTS, read_files, run_tool

POLICY = '[limits]\n"graph.nodes" = { max = 3 }\n'
PROGRAM_FOLDERS = (
    Path(onnx_autodoc.__file__).parent,
    *(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    *map(Path, ("/proc", "/sys", "/dev", "/usr/share/zoneinfo", "/usr/share/fonts", "/etc/fonts")),
    Path(sys.prefix),
    Path(sys.base_prefix),
)
# Modules that a hostile folder may contain for a tool that is started in it.
LURES = ("numpy", "msgspec", "rich", "jinja2", "json", "onnx", "onnx_autodoc", "sitecustomize", "usercustomize")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model among modules that leave a file if they are run."""
    folder = tmp_path / "place"
    folder.mkdir()
    hostile(folder).rename(folder / "model.onnx")
    shutil.copy(folder / "model.onnx", folder / "other.onnx")
    (folder / "policy.toml").write_text(POLICY)
    for name in LURES:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nraise SystemExit(99)\n")
    (folder / "pyvenv.cfg").write_text("home = /nonexistent\n")
    return folder


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
def test_command_opens_no_connection_process_or_foreign_file(name: str, folder: Path) -> None:
    environment = {**MINIMAL_ENVIRONMENT, **install_hook(folder.parent)}
    done = run_tool(COMMANDS[name], environment, folder)
    assert done.returncode in (0, 1), done.stderr.decode()
    events = read_events(folder.parent)
    assert ("import", "") in events, "the hook was not loaded"
    others = [entry for entry in events if entry[0] not in ("open", "import", "os.fork", "ctypes.dlopen")]
    assert others == []
    assert [subject for event, subject in events if event == "ctypes.dlopen" and str(folder) in subject] == []
    sources = [word for word in COMMANDS[name] if word.endswith((".onnx", ".toml"))]
    assert [
        subject for event, subject in events if event == "open" and not _is_expected(subject, folder, sources)
    ] == []
    assert not (folder.parent / "ran").exists()


def _is_expected(subject: str, folder: Path, sources: list[str]) -> bool:
    """Whether an event of `open` is allowed. It has a path, and a mode if Python's `open` was called."""
    words = subject.split(" ")
    path = Path(folder, words[0])
    if subject in ("int NoneType", "int str", "int r", "int rb", "int w", "int wb") or words[0].isdigit():
        return True  # a file that is open already
    if subject == "pictures NoneType":
        return not path.exists() and (folder / "made" / "pictures").is_dir()  # by the descriptor of its parent folder
    if re.fullmatch(r"\.onnx-autodoc\.[0-9a-f]{16} NoneType", subject):
        return not path.exists()  # a temporary file, by the descriptor of the folder it is written to
    if any(path == folder / source for source in sources) or path.is_relative_to(folder / "made") or path == folder:
        return True
    return any(path.is_relative_to(program_folder) for program_folder in (*PROGRAM_FOLDERS, folder.parent / "hook"))


@pytest.mark.parametrize("command", [COMMAND, (str(Path(sys.executable).parent / "onnx-autodoc"),)])
def test_modules_in_the_current_folder_are_not_imported(command: tuple[str, ...], folder: Path) -> None:
    done = run_tool(["model.onnx", "--format", "html"], cwd=folder, command=command)
    assert (done.returncode, done.stderr) == (0, b"")
    assert not (folder.parent / "ran").exists()


def test_python_m_without_option_p_imports_from_the_current_folder(folder: Path) -> None:
    """Python puts the current folder first for `-m`; documentation and the tool's processes use -P."""
    done = run_tool(["model.onnx"], cwd=folder, command=(sys.executable, "-m", "onnx_autodoc"))
    assert done.returncode == 99


def _can_unshare_network() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _can_unshare_network(), reason="this user may not start a process without a network")
def test_outputs_without_a_network_are_the_same(folder: Path) -> None:
    for words in (["card", "model.onnx", "-o", "made/"], ["card", "model.onnx", "--format", "html", "-o", "a.html"]):
        assert run_tool(words, cwd=folder).returncode == 0
    expected = read_files(folder)
    for words in (["card", "model.onnx", "-o", "made/"], ["card", "model.onnx", "--format", "html", "-o", "a.html"]):
        done = run_tool(words, cwd=folder, command=("unshare", "-n", *COMMAND))
        assert (done.returncode, done.stderr) == (0, b"")
    assert read_files(folder) == expected


_REMOTE_REFERENCE = re.compile(
    r"""<(?:script|link|img|iframe|object|embed|source|video|audio|use|image|base|meta)\b[^>]*?"""
    r"""(?:src|href|data|srcset|poster|content)\s*=\s*["']?\s*(?:\d+;\s*url=)?(?:https?:|//|file:|ftp:)"""
    r"""|url\(\s*["']?(?:https?:|//|file:)|@import|<\?xml-stylesheet|<!ENTITY""",
    re.IGNORECASE,
)


@pytest.mark.parametrize("name", [*(name for name in TEXTS if name != "json")])
def test_document_references_no_remote_resource(name: str, folder: Path) -> None:
    text = run_tool(["model.onnx", "--format", name], cwd=folder).stdout.decode()
    assert text
    assert [match[0] for match in _REMOTE_REFERENCE.finditer(text)] == []
    if name in ("markdown", "architecture", "huggingface"):
        page = cmarkgfm.github_flavored_markdown_to_html(text, options=Options.CMARK_OPT_UNSAFE)
        assert [match[0] for match in _REMOTE_REFERENCE.finditer(page)] == []


def test_picture_references_no_remote_resource(folder: Path) -> None:
    assert run_tool(["model.onnx", "-o", "made/"], cwd=folder).returncode == 0
    pictures = [path.read_text() for path in (folder / "made").rglob("*.svg")]
    assert pictures
    assert [match[0] for text in pictures for match in _REMOTE_REFERENCE.finditer(text)] == []
