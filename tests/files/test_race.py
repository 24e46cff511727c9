"""A weight file that is swapped for a link while it is read: the link's target is never read."""

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
from onnx_autodoc.readers import read_model
from onnx_autodoc.storage import AccessRefused
from onnx_autodoc.storage.safe_open import SafeFolder
from tests.files._external_data import CANARY, build_external_model

INSIDE = bytes(range(32))
MIN_SWAPS = 1500
Swap = Callable[[Path, Path], None]
SwapCount = Synchronized


def swap_link(folder: Path, outside: Path) -> None:
    os.symlink(outside, folder / "next")
    _swap_for_a_moment(folder)


def swap_hard_link(folder: Path, outside: Path) -> None:
    os.link(outside, folder / "next")
    _swap_for_a_moment(folder)


def _swap_for_a_moment(folder: Path) -> None:
    os.rename(folder / "deep" / "w.bin", folder / "original")
    os.rename(folder / "next", folder / "deep" / "w.bin")
    os.unlink(folder / "deep" / "w.bin")
    os.rename(folder / "original", folder / "deep" / "w.bin")


def swap_folder(folder: Path, outside: Path) -> None:
    os.rename(folder / "deep", folder / "original")
    os.symlink(outside.parent, folder / "deep")
    os.unlink(folder / "deep")
    os.rename(folder / "original", folder / "deep")


@contextmanager
def swap_concurrently(swap: Swap, folder: Path, outside: Path) -> Iterator[SwapCount]:
    """Swap in another process, concurrently with the reader."""
    context = multiprocessing.get_context("spawn")
    done, swaps = context.Event(), context.Value("q", 0)
    worker = context.Process(target=_swap_until_done, args=(swap, folder, outside, done, swaps))
    worker.start()
    try:
        while not swaps.value:
            time.sleep(0.01)
        yield swaps
    finally:
        done.set()
        worker.join()
    assert worker.exitcode == 0


def _swap_until_done(swap: Swap, folder: Path, outside: Path, done: Event, swaps: SwapCount) -> None:
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
    (folder / "model.onnx").write_bytes(build_external_model("deep/w.bin"))
    return folder, outside


@pytest.mark.parametrize("swap", [swap_link, swap_hard_link, swap_folder])
def test_swapped_in_file_is_never_read(swap: Swap, place: tuple[Path, Path]) -> None:
    folder, outside = place
    results: dict[bytes | None, int] = {}
    with swap_concurrently(swap, folder, outside) as swaps:
        while swaps.value < MIN_SWAPS or (len(results) < 2 and swaps.value < 100 * MIN_SWAPS):
            result = _read_weights(folder)
            results[result] = results.get(result, 0) + 1
    assert set(results) == {INSIDE, None}, results


def _read_weights(folder: Path) -> bytes | None:
    """Return the bytes, read as weights are, or None if access is refused."""
    try:
        with SafeFolder(str(folder)) as beneath:
            handle, size = beneath.open("deep/w.bin")
    except AccessRefused:
        return None
    try:
        return os.read(handle, size)
    finally:
        os.close(handle)


@pytest.mark.parametrize("swap", [swap_link, swap_hard_link, swap_folder])
def test_swapped_in_file_is_never_hashed(swap: Swap, place: tuple[Path, Path]) -> None:
    folder, outside = place
    secret = hashlib.sha256(outside.read_bytes()).hexdigest()
    known = hashlib.sha256(INSIDE).hexdigest()
    results: set[str | None] = set()
    with swap_concurrently(swap, folder, outside) as swaps:
        while swaps.value < MIN_SWAPS or (known not in results and swaps.value < 100 * MIN_SWAPS):
            model = read_model(folder / "model.onnx")
            results |= {tensor.numbers.sha256 for tensor in survey(model).tensors} | set(
                external_hashes(model).values()
            )
    assert secret not in results and known in results, results
