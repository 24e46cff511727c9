"""Differential fuzzing of the reader against protobuf's parsers: `python -m fuzz.differential 1000000 --seed 1`.

Each file is a small model with some edits of its encoding, the same for the same seed and number. If the reader accepts
a file, then upb and protobuf's C++ parser must accept it, too, and all three must see the same model. If it rejects
one, it must accept what protobuf writes for it, unless the model itself is the reason.
"""

import argparse
import re
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Final
from unittest.mock import patch

from msgspec import Struct

from fuzz._reference import check
from fuzz._wire_edits import edit_model
from fuzz._wire_models import Piece, make_base
from onnx_autodoc.readers import wire

_FILES_PER_BASE: Final = 50
_WINDOWS: Final = (1 << 16, 24)  # of the reader: as it is, and so small that every construct crosses its end
_BLOCK: Final = 10_000  # files of one task
_DONORS: Final = 24
_MAX_STORED: Final = 20  # files of each kind of difference


class Result(Struct):
    """The counts of some files. `differences` has the numbers of the files of each kind."""

    rejections: Counter[str]
    differences: dict[str, list[int]]
    accepted: int = 0


def make_file(seed: int, number: int) -> bytes:
    base = _make_base(seed, number // _FILES_PER_BASE)
    return edit_model(base, _donors(seed), Random(f"{seed}/{number}"))


@lru_cache(maxsize=64)
def _make_base(seed: int, number: int) -> Piece:
    return make_base(Random(f"base {seed}/{number}"))


@lru_cache(maxsize=1)
def _donors(seed: int) -> tuple[Piece, ...]:
    """Return models that other ones get pieces of."""
    return tuple(make_base(Random(f"donor {seed}/{at}")) for at in range(_DONORS))


def run(seed: int, start: int, stop: int) -> Result:
    """Check the files from `start` to `stop`."""
    result = Result(Counter(), {})
    for number in range(start, stop):
        data = make_file(seed, number)
        try:
            with patch.object(wire, "_WINDOW_BYTES", _WINDOWS[number % 2]):
                verdict = check(data)
        except Exception as error:  # a bug of the reader, or of this comparison
            result.differences.setdefault(f"{type(error).__name__}: {error}"[:110], []).append(number)
            continue
        if verdict.rejection:
            result.rejections[_summarize(verdict.rejection)] += 1
        else:
            result.accepted += 1
        for difference in verdict.differences:
            result.differences.setdefault(_summarize(difference), []).append(number)
    return result


def _summarize(line: str) -> str:
    """Return a line without names and numbers, so that similar ones are counted together."""
    short = re.sub(r"^model\.onnx: (not a valid ONNX model(, at byte [\d,]+)?: )?", "", line)
    short = re.sub(r"\b([A-Z]\w+(\.[A-Z]\w+)?(\.\w+)?) (?=has|declares|extends|ends|in)", "… ", short)
    short = re.sub(r"(field|its|of|as both) [\w.]+( and [\w]+)?", r"\1 …", short)
    return re.sub(r"-?\d[\d,]*", "#", re.sub(r"'[^']*'", "'…'", short))[:110]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="fuzz.differential", description=__doc__)
    parser.add_argument("files", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, metavar="N", help="the number of the first file")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), metavar="FOLDER", help="for differences")
    options = parser.parse_args(argv)
    started, total = time.monotonic(), Result(Counter(), {})
    last = options.start + options.files
    blocks = [(at, min(at + _BLOCK, last)) for at in range(options.start, last, _BLOCK)]
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for result in pool.map(run, [options.seed] * len(blocks), *zip(*blocks, strict=True)):
            total.accepted += result.accepted
            total.rejections += result.rejections
            for text, numbers in result.differences.items():
                total.differences.setdefault(text, []).extend(numbers)
    _report(total, options, time.monotonic() - started)
    return 1 if total.differences else 0


def _report(total: Result, options: argparse.Namespace, seconds: float) -> None:
    lines = [f"{count:8,}  rejected: {text}" for text, count in total.rejections.most_common()]
    rate = f"{options.files:,} files in {seconds:,.0f} s ({options.files / seconds:,.0f} a second), seed {options.seed}"
    lines.append(f"{rate}: {total.accepted:,} accepted, {total.rejections.total():,} rejected")
    for text, numbers in sorted(total.differences.items(), key=lambda entry: -len(entry[1])):
        lines.append(f"{len(numbers):8,}  DIFFERENT: {text} (file {numbers[0]})")
        options.keep.mkdir(parents=True, exist_ok=True)
        for number in numbers[:_MAX_STORED]:
            (options.keep / f"{options.seed}-{number}.onnx").write_bytes(make_file(options.seed, number))
    lines.append(f"{sum(map(len, total.differences.values())):,} differences")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
