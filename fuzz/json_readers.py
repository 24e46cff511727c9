"""JSON documents of hostile files, read in Python, JavaScript and DuckDB: `python -m fuzz.json_readers`.

DuckDB must read every document with its defaults. JavaScript has no 64-bit integers: its `JSON.parse` rounds integers
above 2^53, and must still give every figure as the tool prints it, in three significant digits.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb

from fuzz.hostile import hostile_files
from fuzz.runner import MODEL, write_case
from fuzz.wire import Case
from onnx_autodoc import card
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.text import format_bytes, format_short

_MAX_INT64: Final = (1 << 63) - 1
_MAX_EXACT: Final = 1 << 53  # of the integers that JavaScript has exactly
_SCRIPT: Final = """
const { readFileSync } = require("fs");
const numbers = (item) => typeof item === "number" ? (Number.isInteger(item) ? [BigInt(item).toString()] : [])
  : item && typeof item === "object" ? Object.values(item).flatMap(numbers) : [];
for (const path of readFileSync(0, "utf-8").split("\\n").filter(Boolean))
  console.log(JSON.stringify(numbers(JSON.parse(readFileSync(path, "utf-8"))).sort()));
"""


def write_documents(cases: Iterable[Case], folder: Path) -> list[Path]:
    """Write the JSON card and the node rows of each file that has a card; return their paths."""
    paths = []
    for at, case in enumerate(cases):
        write_case(folder / str(at), case)
        try:
            report = card(folder / str(at) / MODEL, isolated=True)
            documents = {"json": report.to_json(), "jsonl": report.render("nodes")}
        except AutodocError:
            continue
        for suffix, text in documents.items():
            if text:  # a graph without nodes has no rows
                paths.append(folder / f"{at}.{suffix}")
                paths[-1].write_text(str(text), encoding="utf-8")
    return paths


def find_differences(paths: Sequence[Path]) -> Iterator[str]:
    """Yield what another reader refuses, or reads as another number."""
    cards = [path for path in paths if path.suffix == ".json"]
    for path, numbers in zip(cards, _read_in_node(cards), strict=True):
        yield from (f"{path.name}: {problem}" for problem in _compare(json.loads(path.read_text()), numbers))
    for path in paths:
        try:
            duckdb.sql(f"CREATE OR REPLACE TABLE document AS FROM read_json('{path}')")
        except duckdb.Error as error:
            yield f"{path.name}: DuckDB: {str(error)[:200]}"
            continue
        ((rows,),) = duckdb.sql("SELECT count(*) FROM document").fetchall()
        if rows != (1 if path.suffix == ".json" else path.read_text().count("\n")):
            yield f"{path.name}: DuckDB reads {rows} rows"


def _read_in_node(paths: Sequence[Path]) -> list[list[str]]:
    listed = "\n".join(map(str, paths))
    process = subprocess.run(["node", "-e", _SCRIPT], input=listed, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in process.stdout.splitlines()]


def _compare(document: Any, numbers: list[str]) -> Iterator[str]:
    integers = list(_integers(document))
    yield from (f"{number} is beyond 64 bits" for number in integers if not -_MAX_INT64 - 1 <= number <= _MAX_INT64)
    exact = [str(number) for number in integers if abs(number) <= _MAX_EXACT]
    if missing := set(exact) - set(numbers):
        yield f"JavaScript does not read {min(missing)}"
    read = {text for number in numbers for text in _as_printed(int(number))}
    printed = {text for number in integers for text in _as_printed(number)}
    if missing := printed - read:
        yield f"JavaScript does not print {min(missing)}"


def _integers(document: Any) -> Iterator[int]:
    pending = [document]
    while pending:
        item = pending.pop()
        if type(item) is int:
            yield item
        pending += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()


def _as_printed(number: int) -> tuple[str, str]:
    return format_short(number), format_bytes(number)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="fuzz.json_readers", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="part of the names of the files")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        cases = (build() for name, build in hostile_files().items() if options.only in name)
        paths = write_documents(cases, Path(folder))
        differences = list(find_differences(paths))
    sys.stdout.write("\n".join([*differences, f"{len(paths):,} documents, {len(differences)} differences"]) + "\n")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
