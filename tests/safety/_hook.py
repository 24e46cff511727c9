"""A `sitecustomize` that writes down what a process and its children do: what they open, import, start, connect to."""

from pathlib import Path

# Loaded by Python itself before anything else. A child of ours inherits the folder that it lies in, and the hook.
HOOK = """
import os, sys
_place, _seen = os.environ["HOOK_LOG"], set()
_told = ("open", "import", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "ctypes.dlopen")
_handle = os.open(_place, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
def _hook(event, words):
    if event in _told or event.startswith(("socket.", "urllib.", "http.", "ftplib.", "smtplib.")):
        said = "" if event == "import" else " ".join(
            os.fsdecode(word) if isinstance(word, (str, bytes)) else type(word).__name__ for word in words[:2])
        line = (event + "\\t" + said.replace("\\n", " ") + "\\n").encode("utf-8", "replace")
        if line not in _seen:
            _seen.add(line)
            os.write(_handle, line)
sys.addaudithook(_hook)
"""


def hooked(folder: Path) -> dict[str, str]:
    """The surroundings in which everything is written to `folder / log`."""
    (folder / "hook").mkdir(exist_ok=True)
    (folder / "hook" / "sitecustomize.py").write_text(HOOK)
    return {"PYTHONPATH": str(folder / "hook"), "HOOK_LOG": str(folder / "log"), "PYTHONDONTWRITEBYTECODE": "1"}


def seen(folder: Path) -> list[tuple[str, str]]:
    """Event, and what it was about."""
    lines = (folder / "log").read_text(errors="replace").splitlines()
    return [(event, said) for event, _, said in (line.partition("\t") for line in lines)]
