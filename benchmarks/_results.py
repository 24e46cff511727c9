"""One tool's answer about one model: a child process with a time limit, its figures, its time, its memory."""

import json
import signal
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from benchmarks._measure import Ended, watched

LIMIT = 120.0  # seconds
SHOWN = 72  # characters of a failure


class Result(NamedTuple):
    macs: int | None = None
    params: int | None = None
    at_least: bool = False  # the tool itself says that there is more
    failure: str = ""
    wall: float = 0.0  # seconds
    peak: int = 0  # bytes

    @property
    def answered(self) -> bool:
        return self.macs is not None or self.params is not None


def ask(command: Sequence[str], found: Callable[[str], dict[str, Any]], hidden: Sequence[str] = ()) -> Result:
    """Runs the command and reads its output; `hidden` are paths that say nothing to a reader of the failure."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as complaint:
        ended = watched(command, LIMIT, output, complaint)
        result = Result(wall=ended.run.wall, peak=ended.run.peak, failure=reason(ended, _read(complaint), hidden))
        return result if result.failure else said(result, _read(output), found)


def said(result: Result, output: str, found: Callable[[str], dict[str, Any]]) -> Result:
    try:
        return result._replace(**found(output))
    except ValueError:
        return result._replace(failure="failed: what it printed is no JSON")


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def reason(ended: Ended, complaint: str, hidden: Sequence[str] = ()) -> str:
    """Why there is no answer, as the tool said it: its last line, shortened."""
    if ended.late:
        return f"no answer in {LIMIT:.0f} s"
    if ended.code < 0:
        return f"failed: {signal.Signals(-ended.code).name}"
    return f"failed: {last_line(complaint, hidden)}" if ended.code else ""


def last_line(text: str, hidden: Sequence[str]) -> str:
    line = (text.strip().splitlines() or ["(it says nothing)"])[-1].strip()
    for path in hidden:
        line = line.replace(path, "")
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"


def kept(place: Path, version: str, ask_anew: Callable[[], Result]) -> Result:
    """The result of an earlier run of the same version, or a new one, which is then kept."""
    if place.is_file() and (record := json.loads(place.read_text())).pop("version") == version:
        return Result(**record)
    result = ask_anew()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps({"version": version, **result._asdict()}))
    return result
