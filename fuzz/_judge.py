"""Whether a run was right: a document, or exit 2 or 3 with one line and nothing else. Everything else is a finding."""

import csv
import io
import json
import signal
import unicodedata
from collections.abc import Iterator
from typing import Any, Final, NoReturn
from xml.parsers import expat

from msgspec import Struct

from fuzz._plans import Plan

SECONDS: Final = 20.0
HANGS: Final = 60.0
MEMORY: Final = 1 << 30
_WRONG: Final = (2, 3)
_JSON: Final = ("json", "cyclonedx", "sarif")
_AMOUNTS: Final = frozenset(("macs", "flops", "read_bytes", "written_bytes", "params", "total", "nbytes"))
_BIDI: Final = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MISTAKE: Final = "internal:"  # what begins the text of an error or of a gap that is our own mistake


class Run(Struct, frozen=True):
    """What one run did, with its children. `written`: what is in its folder that was not there before.

    `seconds` are the processor's: on a machine that others use, the clock on the wall would judge them. Whoever waits
    for nothing is ended by `HANGS` on the wall.
    """

    code: int
    seconds: float
    peak: int
    stdout: bytes
    stderr: bytes
    written: dict[str, bytes] = {}
    why: str = ""  # ended by us, for time or memory


def judged(run: Run, plan: Plan) -> list[str]:
    """What is wrong with it."""
    return list(dict.fromkeys((*_bounds(run), *_ending(run, plan))))


def _bounds(run: Run) -> Iterator[str]:
    if run.why == "time" or run.seconds > SECONDS:
        yield f"over {SECONDS:.0f} s"
    if run.why == "memory" or run.peak > MEMORY:
        yield "over 1 GB"
    if run.code < 0 and not run.why:
        yield f"died of {signal.Signals(-run.code).name}"
    if b"Traceback (most recent call last)" in run.stderr:
        yield "a traceback: " + run.stderr.decode(errors="replace").strip().splitlines()[-1][:200]


def _ending(run: Run, plan: Plan) -> Iterator[str]:
    if run.code in plan.codes:
        yield from _document(run, plan)
    elif run.code in _WRONG:
        yield from _line(run)
    elif run.code >= 0:
        yield f"exit {run.code}"


def _line(run: Run) -> Iterator[str]:
    text = run.stderr.decode("utf-8", "surrogateescape")
    if not text.endswith("\n") or text.count("\n") != 1 or not text.startswith("onnx-autodoc: error: "):
        yield f"not one line on standard error, exit {run.code}: {text[:100]!r}"
    elif ".onnx" not in text:
        yield f"a line that names no file: {text[:100]!r}"
    if _MISTAKE in text:
        yield "a mistake: " + text[text.index(_MISTAKE) :].strip()
    if run.stdout or run.written:
        yield f"exit {run.code} with output: {sorted(run.written) or 'standard output'}"
    if _raw(text):
        yield "raw control or bidi characters on standard error"


def _document(run: Run, plan: Plan) -> Iterator[str]:
    if run.stderr:
        yield f"exit {run.code} and something on standard error: {run.stderr[:100]!r}"
    if plan.output and run.stdout:
        yield "written to a file, and to standard output"
    made = run.written if plan.output else {f".{plan.format}": run.stdout}
    if not made or not (all(made.values()) or plan.format == "nodes"):  # a graph without nodes has no lines
        yield f"exit {run.code} without output"
    for name, data in made.items():
        yield from (f"{plan.format}: {found}" for found in _content(name, plan.format, data))


def _content(name: str, format_name: str, data: bytes) -> Iterator[str]:
    if name.endswith((".pdf", ".png")):
        return
    try:
        text = data.decode()
    except UnicodeDecodeError:
        yield "not UTF-8"
        return
    yield from _parsed(name, format_name, text)
    if _raw(text.replace("\x01", "") if "html" in name else text):  # the page's library for drawings has one of its own
        yield "raw control or bidi characters"
    if f'"{_MISTAKE}' in text or (format_name != "json" and _MISTAKE in text and "the rest of the card stands" in text):
        at = text.index(_MISTAKE)
        yield "a part failed: " + text[at : at + 160].split("; the rest")[0].split('"')[0]


def _parsed(name: str, format_name: str, text: str) -> Iterator[str]:
    try:
        if name.endswith((".json", ".sarif")) or format_name in _JSON:
            _looked_at(json.loads(text, parse_constant=_refuse))
        elif name.endswith((".jsonl", ".nodes")):
            for line in text.splitlines():
                _looked_at(json.loads(line, parse_constant=_refuse))
        elif name.endswith((".junit", ".xml", ".svg")):
            expat.ParserCreate().Parse(text.encode(), True)
        elif name.endswith(".csv"):
            _table(text)
    except (ValueError, RecursionError, expat.ExpatError, csv.Error) as error:
        yield f"cannot be parsed: {str(error)[:100]}"


def _looked_at(found: Any) -> None:
    """No amount of anything is below zero."""
    left = [found]
    while left:
        each = left.pop()
        left += each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        wrong = [key for key in _AMOUNTS & each.keys() if _negative(each[key])] if isinstance(each, dict) else []
        if wrong:
            raise ValueError(f"a negative amount: {wrong[0]} of {each.get('op') or each.get('node') or 'the card'}")


def _negative(amount: Any) -> bool:
    return isinstance(amount, int | float) and amount < 0


def _table(text: str) -> None:
    csv.field_size_limit(1 << 30)
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if len({len(row) for row in rows}) != 1:
        raise ValueError("rows of different lengths")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _raw(text: str) -> bool:
    """Whether a terminal or an editor would be steered by it."""
    return any(char in _BIDI or (char not in "\n\t\r" and unicodedata.category(char) == "Cc") for char in set(text))


def summary(found: Any) -> str:
    """Findings alike in one row of the table: without numbers and names of the file."""
    return "".join("#" if char.isdigit() else char for char in str(found))[:110]
