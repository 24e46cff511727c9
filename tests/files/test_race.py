"""A file that is swapped for a link while it is read: what is outside never comes in."""

import hashlib
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from onnx_autodoc.analysis.weights import external_hashes, survey
from onnx_autodoc.readers import read
from onnx_autodoc.readers._external_paths import Refused
from onnx_autodoc.readers._safe_open import Beneath
from tests.files._made import CANARY, external

INSIDE = bytes(range(32))
WANTED = 1500  # swaps
Swap = Callable[[Path, Path], None]
Swaps = Synchronized  # how many there were


def a_symbolic_link(folder: Path, outside: Path) -> None:
    os.symlink(outside, folder / "next")
    _swapped_for_a_moment(folder)


def a_hard_link(folder: Path, outside: Path) -> None:
    os.link(outside, folder / "next")
    _swapped_for_a_moment(folder)


def _swapped_for_a_moment(folder: Path) -> None:
    os.rename(folder / "deep" / "w.bin", folder / "kept")
    os.rename(folder / "next", folder / "deep" / "w.bin")
    os.unlink(folder / "deep" / "w.bin")
    os.rename(folder / "kept", folder / "deep" / "w.bin")


def a_linked_folder(folder: Path, outside: Path) -> None:
    os.rename(folder / "deep", folder / "kept")
    os.symlink(outside.parent, folder / "deep")
    os.unlink(folder / "deep")
    os.rename(folder / "kept", folder / "deep")


@contextmanager
def swapping(swap: Swap, folder: Path, outside: Path) -> Iterator[Swaps]:
    """In a process of its own, so that it is in the middle of whatever the reader does."""
    apart = multiprocessing.get_context("spawn")
    done, swaps = apart.Event(), apart.Value("q", 0)
    worker = apart.Process(target=_swapped, args=(swap, folder, outside, done, swaps))
    worker.start()
    try:
        while not swaps.value:
            time.sleep(0.01)
        yield swaps
    finally:
        done.set()
        worker.join()
    assert worker.exitcode == 0


def _swapped(swap: Swap, folder: Path, outside: Path, done: Event, swaps: Swaps) -> None:
    while not done.is_set():
        swap(folder, outside)
        swaps.value += 1


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path]:
    folder, outside = tmp_path / "model", tmp_path / "outside" / "w.bin"
    for path in (folder / "deep", outside.parent):
        path.mkdir(parents=True)
    outside.write_bytes(CANARY[:32])
    (folder / "deep" / "w.bin").write_bytes(INSIDE)
    (folder / "model.onnx").write_bytes(external("deep/w.bin"))
    return folder, outside


@pytest.mark.parametrize("swap", [a_symbolic_link, a_hard_link, a_linked_folder])
def test_what_is_swapped_in_is_never_read(swap: Swap, place: tuple[Path, Path]) -> None:
    folder, outside = place
    seen: dict[bytes | None, int] = {}
    with swapping(swap, folder, outside) as swaps:
        while swaps.value < WANTED or (len(seen) < 2 and swaps.value < 100 * WANTED):
            found = _read(folder)
            seen[found] = seen.get(found, 0) + 1
    assert set(seen) == {INSIDE, None}, seen


def _read(folder: Path) -> bytes | None:
    """The bytes, in the way of the survey; None where they are refused."""
    try:
        with Beneath(str(folder)) as beneath:
            handle, size = beneath.open("deep/w.bin")
    except Refused:
        return None
    try:
        return os.read(handle, size)
    finally:
        os.close(handle)


@pytest.mark.parametrize("swap", [a_symbolic_link, a_hard_link, a_linked_folder])
def test_no_report_knows_what_was_swapped_in(swap: Swap, place: tuple[Path, Path]) -> None:
    folder, outside = place
    secret = hashlib.sha256(outside.read_bytes()).hexdigest()
    known = hashlib.sha256(INSIDE).hexdigest()
    seen: set[str | None] = set()
    with swapping(swap, folder, outside) as swaps:
        while swaps.value < WANTED or (known not in seen and swaps.value < 100 * WANTED):
            model = read(folder / "model.onnx")
            seen |= {each.numbers.sha256 for each in survey(model).tensors} | set(external_hashes(model).values())
    assert secret not in seen and known in seen, seen
