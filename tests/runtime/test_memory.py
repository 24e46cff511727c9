"""Memory that a run takes, measured: near to what a model surely needs."""

import sys
from pathlib import Path

import pytest

from onnx_autodoc.runtime import _memory, _process
from onnx_autodoc.runtime._messages import Peak, Stage, Task
from onnx_autodoc.runtime._process import Deadline, ask
from onnx_autodoc.runtime._types import CPU, Feed
from tests.runtime._models import saved

MIB = 1 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the level before a run cannot be set back")
def test_what_is_alive_at_once_is_measured_to_a_few_pages(tmp_path: Path) -> None:
    """Two tensors of 16 MiB at a time; a third one would be a tensor that was not given back."""
    nodes = "a = Exp(x) b = Transpose(a) c = Exp(b) d = Transpose(c) y = ReduceSum<keepdims = 0>(d)"
    path = saved(tmp_path, f"g (float[2048,2048] x) => (float y) {{ {nodes} }}")
    feeds = (Feed("x", "float32", (2048, 2048), "uniform"),)
    told: list[Stage] = []
    found = ask(Task("memory", str(path), feeds, CPU, 1), Deadline(60), told.append)
    assert isinstance(found, Peak)
    assert 31.5 * MIB < found.peak_bytes < 34 * MIB  # the system counts pages in batches
    assert found.input_bytes == 16 * MIB
    assert "loading the model" in [stage.doing for stage in told]


def test_a_system_that_does_not_tell_is_not_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sandboxes take the reset and list no high-water mark: the coarse way is left."""
    for name, text in (("_RESET", ""), ("_STATUS", "Name:\tpython\nVmRSS:\t  100 kB\n")):
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(_memory, name, tmp_path / name)
    assert not _memory._can_reset()


def test_the_bytes_of_texts_are_not_known() -> None:
    assert _memory._input_bytes([Feed("x", "float32", (2, 3)), Feed("n", "int64", ())]) == 32
    assert _memory._input_bytes([Feed("x", "float32", (2, 3)), Feed("t", "string", (2,))]) is None


def test_the_environment_of_a_memory_run_is_its_own() -> None:
    assert _process.ENVIRONMENT["MALLOC_ARENA_MAX"] == "1"
    assert not set(_process.ENVIRONMENT) & set(_process.os.environ)
