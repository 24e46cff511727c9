"""This machine's load and name, and the memory of a run."""

import os
import sys
from pathlib import Path

import pytest

from onnx_autodoc.card import Feed, Load
from onnx_autodoc.runtime import background_load, describe_machine, machine, read_cpu_clock
from onnx_autodoc.runtime.machine import CpuClock, stolen_share
from onnx_autodoc.runtime.measurement import MEMORY_ENVIRONMENT, can_reset_peak_rss, sum_input_bytes
from onnx_autodoc.runtime.process import Deadline, run_worker
from onnx_autodoc.runtime.protocol import MemoryResult, RunRequest, Stage
from tests.runtime._models import save_model

MIB = 1 << 20


def test_what_this_process_does_is_no_load_of_background_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 4)
    start, end = CpuClock(10.0, 100.0, 5.0, 1.0), CpuClock(12.0, 105.0, 5.4, 3.0)
    assert background_load(start, end) == pytest.approx((5 - 2) / 8)
    assert stolen_share(start, end) == pytest.approx(0.4 / 8)
    assert background_load(start, CpuClock(10.1, 100.1, 5.0, 1.0)) is None  # too close
    assert background_load(None, end) is None


def test_worst_load_is_the_larger_one() -> None:
    assert Load(0.1, 0.4, None).worst == 0.4
    assert Load(None, None, None).worst is None


def test_machine_has_a_name_and_cores() -> None:
    result = describe_machine()
    assert result.cpu and result.cores >= 1
    assert read_cpu_clock() is None or read_cpu_clock().busy > 0  # type: ignore[union-attr]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can reset the peak")
def test_peak_memory_is_that_of_live_tensors(tmp_path: Path) -> None:
    """Two tensors of 16 MiB are alive at a time; a third would be one that was not freed."""
    nodes = "a = Exp(x) b = Transpose(a) c = Exp(b) d = Transpose(c) y = ReduceSum<keepdims = 0>(d)"
    path = save_model(tmp_path, f"g (float[2048,2048] x) => (float y) {{ {nodes} }}")
    feeds = (Feed("x", "float32", (2048, 2048), "uniform"),)
    stages: list[Stage] = []
    result = run_worker(RunRequest("memory", bytes(path), feeds, threads=1), Deadline(60), stages.append)
    assert isinstance(result, MemoryResult)
    assert 31.5 * MIB < result.peak_bytes < 34 * MIB  # the kernel counts pages in batches
    assert result.input_bytes == 16 * MIB
    assert "loading the model" in [stage.doing for stage in stages]


def test_system_without_peak_memory_is_measured_coarsely(tmp_path: Path) -> None:
    """Some sandboxes accept the reset and report no peak."""
    (tmp_path / "clear_refs").write_text("")
    (tmp_path / "status").write_text("Name:\tpython\nVmRSS:\t  100 kB\n")
    assert not can_reset_peak_rss(tmp_path / "clear_refs", tmp_path / "status")


def test_input_bytes_of_strings_are_unknown() -> None:
    assert sum_input_bytes([Feed("x", "float32", (2, 3)), Feed("n", "int64", ())]) == 32
    assert sum_input_bytes([Feed("x", "float32", (2, 3)), Feed("t", "string", (2,))]) is None


def test_memory_environment_is_not_set_outside_the_worker() -> None:
    assert MEMORY_ENVIRONMENT["MALLOC_ARENA_MAX"] == "1"
    assert not set(MEMORY_ENVIRONMENT) & set(os.environ)
