"""A `sitecustomize` that logs audit events of a process and its children: opens, imports, processes, connections."""

from pathlib import Path

# Python imports it first. Child processes inherit its folder, and so the hook.
HOOK = """
import os, sys
_path, _logged = os.environ["HOOK_LOG"], set()
_EVENTS = ("open", "import", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "ctypes.dlopen")
_handle = os.open(_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
def _hook(event, arguments):
    if event in _EVENTS or event.startswith(("socket.", "urllib.", "http.", "ftplib.", "smtplib.")):
        subject = "" if event == "import" else " ".join(
            os.fsdecode(word) if isinstance(word, (str, bytes)) else type(word).__name__ for word in arguments[:2])
        line = (event + "\\t" + subject.replace("\\n", " ") + "\\n").encode("utf-8", "replace")
        if line not in _logged:
            _logged.add(line)
            os.write(_handle, line)
sys.addaudithook(_hook)
"""


def install_hook(folder: Path) -> dict[str, str]:
    """Return environment variables for a process whose events are logged to `folder / log`."""
    (folder / "hook").mkdir(exist_ok=True)
    (folder / "hook" / "sitecustomize.py").write_text(HOOK)
    return {"PYTHONPATH": str(folder / "hook"), "HOOK_LOG": str(folder / "log"), "PYTHONDONTWRITEBYTECODE": "1"}


def read_events(folder: Path) -> list[tuple[str, str]]:
    """Return the name and the subject of each event."""
    lines = (folder / "log").read_text(errors="replace").splitlines()
    return [(event, subject) for event, _, subject in (line.partition("\t") for line in lines)]
