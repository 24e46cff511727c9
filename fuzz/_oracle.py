"""The oracle: a correct run gives a document, or exit 2 or 3 with one line and nothing else."""

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

MAX_CPU_SECONDS: Final = 20.0
MAX_WALL_SECONDS: Final = 60.0
MAX_MEMORY_BYTES: Final = 1 << 30
_ERROR_CODES: Final = (2, 3)
_INT64: Final = range(-(1 << 63), 1 << 63)
_JSON_FORMATS: Final = ("json", "cyclonedx", "sarif")
_AMOUNTS: Final = frozenset(("macs", "flops", "read_bytes", "written_bytes", "params", "total", "nbytes"))
_BIDI: Final = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_INTERNAL_ERROR: Final = "internal error:"  # beginning of an error or gap that is a bug of the tool


class Run(Struct, frozen=True):
    """The result of one run and its child processes. `written`: new files in its folder.

    `seconds` are CPU time, since wall time depends on the load of the machine. A run that hangs is killed after
    `MAX_WALL_SECONDS`.
    """

    code: int
    seconds: float
    peak: int
    stdout: bytes
    stderr: bytes
    written: dict[str, bytes] = {}
    why: str = ""  # it was killed for: time or memory


def find_violations(run: Run, plan: Plan) -> list[str]:
    """Return the violations of a run, each once."""
    return list(dict.fromkeys((*_limit_violations(run), *_result_violations(run, plan))))


def _limit_violations(run: Run) -> Iterator[str]:
    if run.why == "time" or run.seconds > MAX_CPU_SECONDS:
        yield f"over {MAX_CPU_SECONDS:.0f} s"
    if run.why == "memory" or run.peak > MAX_MEMORY_BYTES:
        yield "over 1 GB"
    if run.code < 0 and not run.why:
        yield f"died of {signal.Signals(-run.code).name}"
    if b"Traceback (most recent call last)" in run.stderr:
        yield "a traceback: " + run.stderr.decode(errors="replace").strip().splitlines()[-1][:200]


def _result_violations(run: Run, plan: Plan) -> Iterator[str]:
    if run.code in plan.codes:
        yield from _document_violations(run, plan)
    elif run.code in _ERROR_CODES:
        yield from _error_line_violations(run)
    elif run.code >= 0:
        yield f"exit {run.code}"


def _error_line_violations(run: Run) -> Iterator[str]:
    text = run.stderr.decode("utf-8", "surrogateescape")
    if not text.endswith("\n") or text.count("\n") != 1 or not text.startswith("onnx-autodoc: error: "):
        yield f"not one line on standard error, exit {run.code}: {text[:100]!r}"
    elif ".onnx" not in text:
        yield f"a line that names no file: {text[:100]!r}"
    if _INTERNAL_ERROR in text:
        yield "a mistake: " + text[text.index(_INTERNAL_ERROR) :].strip()
    if run.stdout or run.written:
        yield f"exit {run.code} with output: {sorted(run.written) or 'standard output'}"
    if _has_raw_controls(text):
        yield "raw control or bidi characters on standard error"


def _document_violations(run: Run, plan: Plan) -> Iterator[str]:
    if run.stderr:
        yield f"exit {run.code} and something on standard error: {run.stderr[:100]!r}"
    if plan.output and run.stdout:
        yield "written to a file, and to standard output"
    documents = run.written if plan.output else {f".{plan.format}": run.stdout}
    if not documents or not (all(documents.values()) or plan.format == "nodes"):  # a graph without nodes has no lines
        yield f"exit {run.code} without output"
    for name, data in documents.items():
        yield from (f"{plan.format}: {violation}" for violation in _content_violations(name, plan.format, data))


def _content_violations(name: str, format_name: str, data: bytes) -> Iterator[str]:
    if name.endswith((".pdf", ".png")):
        return
    try:
        text = data.decode()
    except UnicodeDecodeError:
        yield "not UTF-8"
        return
    yield from _syntax_violations(name, format_name, text)
    if _has_raw_controls(text.replace("\x01", "") if "html" in name else text):  # the diagram library contains one
        yield "raw control or bidi characters"
    if f'"{_INTERNAL_ERROR}' in text or (
        format_name != "json" and _INTERNAL_ERROR in text and "the rest of the card is valid" in text
    ):
        at = text.index(_INTERNAL_ERROR)
        yield "a part failed: " + text[at : at + 160].split("; the rest")[0].split('"')[0]


def _syntax_violations(name: str, format_name: str, text: str) -> Iterator[str]:
    try:
        if name.endswith((".json", ".sarif")) or format_name in _JSON_FORMATS:
            _check_amounts(json.loads(text, parse_constant=_reject_constant))
        elif name.endswith((".jsonl", ".nodes")):
            for line in text.splitlines():
                _check_amounts(json.loads(line, parse_constant=_reject_constant))
        elif name.endswith((".junit", ".xml", ".svg")):
            expat.ParserCreate().Parse(text.encode(), True)
        elif name.endswith(".csv"):
            _check_table(text)
    except (ValueError, RecursionError, expat.ExpatError, csv.Error) as error:
        yield f"cannot be parsed: {str(error)[:100]}"


def _check_amounts(data: Any) -> None:
    """Raise ValueError for a negative amount, and for an integer beyond 64 bits."""
    pending = [data]
    while pending:
        item = pending.pop()
        if type(item) is int and item not in _INT64:
            raise ValueError("an integer beyond 64 bits")
        pending += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        wrong = [key for key in _AMOUNTS & item.keys() if _is_negative(item[key])] if isinstance(item, dict) else []
        if wrong:
            raise ValueError(f"a negative amount: {wrong[0]} of {item.get('op') or item.get('node') or 'the card'}")


def _is_negative(amount: Any) -> bool:
    return isinstance(amount, int | float) and amount < 0


def _check_table(text: str) -> None:
    csv.field_size_limit(1 << 30)
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if len({len(row) for row in rows}) != 1:
        raise ValueError("rows of different lengths")


def _reject_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _has_raw_controls(text: str) -> bool:
    """Return whether a text contains characters that control a terminal or the direction of text."""
    return any(char in _BIDI or (char not in "\n\t\r" and unicodedata.category(char) == "Cc") for char in set(text))


def summary(finding: Any) -> str:
    """Return a finding without numbers, so that similar ones share a row of the table."""
    return "".join("#" if char.isdigit() else char for char in str(finding))[:110]
