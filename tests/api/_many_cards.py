"""Make many cards in one process, and print how its memory grew and what they left behind, as JSON.

$ python -m tests.api._many_cards 5000
"""

import gc
import itertools
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fuzz.hostile import FAMILIES, hostile_files
from onnx_autodoc import AutodocError, card
from tests._corpus import graph
from tests._wire import chunk, integer, model, node, value

MODELS = ("bilstm-gru-tagger", "control-flow-loop-if", "local-functions-mlp", "onnx-light-bvlc-alexnet")
HOSTILE_FAMILIES = ("wire", "foreign", "graphs", "tensors", "texts")
MAX_HOSTILE_BYTES = 20_000  # larger files take seconds
FORMATS = ("json", "markdown", "html", "terminal", "csv")
ISOLATED_SHARE = 50  # one card in so many
MIB = 1 << 20


def write_files(folder: Path) -> list[Path]:
    cases = {name: build for name, build in hostile_files(False).items() if name.split("/")[0] in HOSTILE_FAMILIES}
    assert set(HOSTILE_FAMILIES) <= set(FAMILIES)
    paths = []
    for at, build in enumerate(cases.values()):
        data = build().data
        if len(data) <= MAX_HOSTILE_BYTES:
            paths.append(folder / f"{at}.onnx")
            paths[-1].write_bytes(data)
    return paths


def unique_model(number: int) -> bytes:
    """Return a model with names, operators and attributes that no other model has."""
    attributes = (
        chunk(1, f"attribute {number} {at} " + 40 * "a") + integer(3, 1) + integer(20, 2) for at in range(1_000)
    )
    names = [f"value {number} {at}" for at in range(4)]
    nodes = node("Relu", names[0], names[1], *attributes) + node(f"Op{number}", names[1], names[2])
    nodes += node("Add", f"{names[2]} {names[2]}", names[3])
    return model(value(11, names[0], (number + 1, 3)) + nodes + value(12, names[3], (number + 1, 3)))


def choose_files(count: int, folder: Path) -> Iterator[Path]:
    hostile, models = itertools.cycle(write_files(folder)), itertools.cycle(map(graph, MODELS))
    for number in range(count):
        if number % 3 == 0:
            (folder / "unique.onnx").write_bytes(unique_model(number))
            yield folder / "unique.onnx"
        else:
            yield next(hostile if number % 3 == 1 else models)


def resident_bytes() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def list_leftovers(folder: Path) -> tuple[list[str], list[str], list[str]]:
    """Return the open descriptors, the temporary files and the child processes."""
    tasks = Path("/proc/self/task").iterdir()
    children = [pid for task in tasks for pid in (task / "children").read_text().split()]
    return sorted(os.listdir("/proc/self/fd")), sorted(os.listdir(folder)), children


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as outside, tempfile.TemporaryDirectory() as inside:
        os.environ["TMPDIR"] = tempfile.tempdir = inside
        before, sizes, failed = list_leftovers(Path(inside)), list[int](), 0
        for number, path in enumerate(choose_files(count, Path(outside))):
            try:
                result = card(path, isolated=number % ISOLATED_SHARE == 0)
                result.render(FORMATS[number // 3 % len(FORMATS)])
            except AutodocError:
                failed += 1
            if number % max(count // 10, 1) == 0:
                sizes.append(resident_bytes())
        leftovers = [[*after] for was, after in zip(before, list_leftovers(Path(inside))) if was != after]
    print(json.dumps({"failed": failed, "mib": [round(size / MIB, 1) for size in sizes], "leftovers": leftovers}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
