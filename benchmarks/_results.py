"""The result of one tool for one model: figures, time and memory of a process with a timeout."""

import json
import signal
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from benchmarks._measure import CommandOutcome, run_command

TIMEOUT_SECONDS = 120.0  # seconds
MAX_FAILURE_CHARS = 72  # characters of a failure


class Result(NamedTuple):
    macs: int | None = None
    params: int | None = None
    at_least: bool = False  # the tool reports a lower bound
    failure: str = ""
    wall: float = 0.0  # seconds
    peak: int = 0  # bytes

    @property
    def answered(self) -> bool:
        return self.macs is not None or self.params is not None


def run_tool(command: Sequence[str], parse: Callable[[str], dict[str, Any]], hidden: Sequence[str] = ()) -> Result:
    """Run the command and parse its output. `hidden` are path prefixes to remove from failures."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        outcome = run_command(command, TIMEOUT_SECONDS, output, errors)
        result = Result(
            wall=outcome.run.wall, peak=outcome.run.peak, failure=failure_reason(outcome, _read(errors), hidden)
        )
        return result if result.failure else parse_output(result, _read(output), parse)


def parse_output(result: Result, output: str, parse: Callable[[str], dict[str, Any]]) -> Result:
    try:
        return result._replace(**parse(output))
    except ValueError:
        return result._replace(failure="failed: the output is not JSON")


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def failure_reason(outcome: CommandOutcome, errors: str, hidden: Sequence[str] = ()) -> str:
    """Return why there is no result: the last line of the tool's error output, shortened."""
    if outcome.timed_out:
        return f"no answer in {TIMEOUT_SECONDS:.0f} s"
    if outcome.code < 0:
        return f"failed: {signal.Signals(-outcome.code).name}"
    return f"failed: {last_line(errors, hidden)}" if outcome.code else ""


def last_line(text: str, hidden: Sequence[str]) -> str:
    line = (text.strip().splitlines() or ["(no message)"])[-1].strip()
    for path in hidden:
        line = line.replace(path, "")
    return line if len(line) <= MAX_FAILURE_CHARS else line[: MAX_FAILURE_CHARS - 1] + "…"


def cached_result(cache: Path, version: str, run: Callable[[], Result]) -> Result:
    """Return the stored result of the same version, or run the tool and store its result."""
    if cache.is_file() and (record := json.loads(cache.read_text())).pop("version") == version:
        return Result(**record)
    result = run()
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text(json.dumps({"version": version, **result._asdict()}))
    return result
