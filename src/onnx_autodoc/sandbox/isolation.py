"""The parent of a worker process: starts it, reads its result, and turns every way to end into a result or an error."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

from onnx_autodoc.errors import AutodocError, BadInput, LimitReached
from onnx_autodoc.limits import current_limits, limit_error
from onnx_autodoc.sandbox.signals import raise_on_termination

T = TypeVar("T")

OUT_OF_MEMORY_STATUS: Final = 3  # of a worker without the memory for a message
INTERRUPTED_STATUS: Final = 130
_SHUTDOWN_SECONDS: Final = 2.0  # for a terminated worker to clean up
_DEADLINE_SIGNALS: Final = (signal.SIGALRM, signal.SIGXCPU)
# Native code that does not check an allocation dies of these. It requests half as much again, or twice as much, so
# the worker used at least a third of the limit.
_ALLOCATION_SIGNALS: Final = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS)
_ALLOCATION_SHARE: Final = 3
_RSS_UNIT_BYTES: Final = 1 if sys.platform == "darwin" else 1024


class _WorkerExit(NamedTuple):
    """How a worker ended: its last frame, the optional step it was in, status, time and memory."""

    kind: bytes  # of the last frame; empty if there is none
    data: bytes | bytearray
    step: str
    status: int
    seconds: float
    grown_bytes: int  # peak memory above that of this process


def can_isolate() -> bool:
    """Return whether this system can fork worker processes."""
    return hasattr(os, "fork")


def run_isolated(result_type: type[T], work: Callable[[], T], subject: str) -> T:
    """Return the result of `work`, run in a worker process within the current limits.

    If the worker crashes in an optional step, another one runs without that step. `subject` begins error messages.
    Without `fork` the work is done in this process.
    """
    if not can_isolate():
        return work()
    skipped: dict[str, str] = {}
    while True:
        ended = _run_worker(work, skipped)
        if ended.kind == b"d":
            import msgspec

            return msgspec.msgpack.decode(ended.data, type=result_type)
        killed = -ended.status in (*_DEADLINE_SIGNALS, signal.SIGKILL)
        if ended.kind or ended.step in ("", *skipped) or killed:
            raise _worker_error(ended, subject)
        skipped[ended.step] = (
            f"internal error: this step crashed with {_status_name(ended.status)}; the rest of the card is valid"
        )


def _run_worker(work: Callable[[], Any], skipped: dict[str, str]) -> _WorkerExit:
    import resource

    from onnx_autodoc.sandbox.worker import run_worker

    started, (reader, writer) = time.monotonic(), os.pipe()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    with raise_on_termination():
        try:
            pid = os.fork()
        except OSError as error:
            os.close(reader)
            os.close(writer)
            raise LimitReached(f"cannot start a process: {error.strerror}") from None
        if pid == 0:
            os.close(reader)
            run_worker(writer, work, skipped)
        os.close(writer)
        try:
            step, kind, data = _receive(reader)
        except BaseException:
            _terminate(pid)
            raise
        finally:
            os.close(reader)
        _, status, usage = os.wait4(pid, 0)
    seconds, grown = time.monotonic() - started, max(usage.ru_maxrss - before, 0) * _RSS_UNIT_BYTES
    return _WorkerExit(kind, data, step, os.waitstatus_to_exitcode(status), seconds, grown)


def _receive(pipe: int) -> tuple[str, bytes, bytes | bytearray]:
    """Return the optional step that the worker was in, and the kind and data of its last frame."""
    step, last_kind, last_data = "", b"", bytearray()
    for kind, data in _read_frames(pipe):
        if kind == b"p":
            step, last_kind, last_data = data.decode("utf-8", "surrogateescape"), b"", bytearray()
        else:
            last_kind, last_data = kind, data
    return step, last_kind, last_data


def _read_frames(pipe: int) -> Iterator[tuple[bytes, bytearray]]:
    """Yield complete frames only."""
    from onnx_autodoc.sandbox.worker import FRAME_HEADER

    while (header := _read_exactly(pipe, FRAME_HEADER.size)) is not None:
        kind, length = FRAME_HEADER.unpack(header)
        if length > current_limits().memory:
            raise limit_error("memory", f"the output has {length:,} bytes, more than {current_limits().memory:,}")
        data = _read_exactly(pipe, length)
        if data is None:
            return
        yield kind, data


def _read_exactly(pipe: int, length: int) -> bytearray | None:
    """Return `length` bytes, or None if the stream ends before."""
    data = bytearray(length)
    with memoryview(data) as view:
        position = 0
        while position < length:
            count = os.readv(pipe, [view[position:]])
            if not count:
                return None
            position += count
    return data


def _terminate(pid: int) -> None:
    """Let the worker clean up, then kill it."""
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _SHUTDOWN_SECONDS
    while time.monotonic() < deadline:
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            return
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _worker_error(ended: _WorkerExit, subject: str) -> AutodocError:
    text = ended.data.decode("utf-8", "surrogateescape")
    if ended.kind == b"w":
        return BadInput(text)
    if ended.kind == b"l":
        return LimitReached(text) if text else _memory_error(subject)
    if ended.kind == b"m":
        return BadInput(f"{subject}: {text}")
    if ended.status == INTERRUPTED_STATUS:
        raise KeyboardInterrupt
    if ended.status > INTERRUPTED_STATUS - signal.SIGINT:  # terminated by a signal that it handled
        raise SystemExit(ended.status)
    return _crash_error(ended, subject)


def _crash_error(ended: _WorkerExit, subject: str) -> AutodocError:
    if -ended.status in _DEADLINE_SIGNALS:
        return limit_error("seconds", f"{subject}: timed out after {ended.seconds:.3g} s")
    near_limit = ended.grown_bytes > current_limits().memory // _ALLOCATION_SHARE
    if ended.status == OUT_OF_MEMORY_STATUS or (-ended.status in _ALLOCATION_SIGNALS and near_limit):
        return _memory_error(subject)
    if -ended.status == signal.SIGKILL:
        return LimitReached(f"{subject}: the system killed the worker process; the machine may have too little memory")
    where = f" in {ended.step}" if ended.step else ""
    return BadInput(f"{subject}: internal error: the worker process ended with {_status_name(ended.status)}{where}")


def _memory_error(subject: str) -> LimitReached:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= hard < current_limits().memory:
        return LimitReached(
            f"{subject}: requires more than {hard:,} bytes of memory, the limit of this process (ulimit -v)"
        )
    return limit_error("memory", f"{subject}: requires more than {current_limits().memory:,} bytes of memory")


def _status_name(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"status {status}"
