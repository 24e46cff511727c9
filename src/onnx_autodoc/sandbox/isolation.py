"""The parent of a worker process: starts it, reads its result, and turns every way to end into a result or an error."""

import os
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple, TypeVar

from onnx_autodoc.errors import AutodocError, BadInput, LimitReached
from onnx_autodoc.limits import current_limits, limit_error
from onnx_autodoc.sandbox.interpreter import start_interpreter
from onnx_autodoc.sandbox.signals import defer_signals, has_default_handler, raise_on_termination

T = TypeVar("T")

OUT_OF_MEMORY_STATUS: Final = 3  # of a worker without the memory for a message
_SIGNAL_STATUS: Final = 128  # plus the signal: the status of a worker that handled it
INTERRUPTED_STATUS: Final = _SIGNAL_STATUS + signal.SIGINT
UNKNOWN_STATUS: Final = -1000  # neither a status nor a signal
_SHUTDOWN_SECONDS: Final = 2.0  # for a terminated worker to clean up
_STATUS_POLL_MS: Final = 100
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


def has_other_threads() -> bool:
    """Return whether another thread runs Python code, so that a fork may copy a locked lock.

    Threads of native libraries are not counted: numpy starts some, and their libraries prepare for a fork.
    """
    return len(sys._current_frames()) > 1


def run_isolated(result_type: type[T], work: Callable[[], T], subject: str, *, fork: bool = True) -> T:
    """Return the result of `work`, run in a worker process within the current limits.

    If the worker crashes in an optional step, another one runs without that step. `subject` begins error messages.
    Without `fork` the worker is a new interpreter, and `work` must be picklable. On a system that cannot fork the work
    is done in this process.
    """
    if not can_isolate():
        return work()
    skipped: dict[str, str] = {}
    while True:
        ended = _run_worker(work, skipped, fork)
        if ended.kind == b"d":
            from onnx_autodoc.decoding import decode_msgpack

            return decode_msgpack(ended.data, result_type)
        if ended.kind == b"j":
            import json

            from onnx_autodoc.decoding import convert

            return convert(json.loads(ended.data), result_type)
        killed = -ended.status in (*_DEADLINE_SIGNALS, signal.SIGKILL)
        if ended.kind or ended.step in ("", *skipped) or killed:
            raise _worker_error(ended, subject)
        skipped[ended.step] = (
            f"internal error: this step crashed with {_status_name(ended.status)}; the rest of the card is valid"
        )


def _run_worker(work: Callable[[], Any], skipped: Mapping[str, str], fork: bool) -> _WorkerExit:
    import resource

    if fork:
        _flush_output()
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worker = _Worker()
    with raise_on_termination():
        try:
            with defer_signals():
                worker.start(_fork if fork else start_interpreter, work, skipped)
            step, kind, data = _receive(worker)
            worker.wait()
        except BaseException:
            worker.terminate()
            raise
        finally:
            if worker.pipe >= 0:
                os.close(worker.pipe)
    seconds, grown = time.monotonic() - started, max(worker.peak - before, 0) * _RSS_UNIT_BYTES
    return _WorkerExit(kind, data, step, worker.status, seconds, grown)


def _flush_output() -> None:
    """Write what is buffered, which a library in the worker might write again."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the program's stream, or none: its next write reports the error
            stream.flush()


def _fork(pipe: int, work: Callable[[], Any], skipped: Mapping[str, str]) -> int:
    from onnx_autodoc.sandbox.worker import run_worker

    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # since Python 3.12, for threads of native libraries too
        try:
            pid = os.fork()
            if pid == 0:
                run_worker(pipe, work, skipped, parent)
        except OSError as error:
            raise LimitReached(f"cannot start a process: {error.strerror}") from None
        finally:
            if os.getpid() != parent:  # the caller's program must not run twice
                os._exit(1)
    return pid


class _Worker:
    """A worker process and the reading end of its pipe."""

    def __init__(self) -> None:
        self._pid = self.pipe = -1
        self._has_ended = False
        self.status, self.peak = UNKNOWN_STATUS, 0  # peak memory in the system's unit

    def start(
        self,
        start: Callable[[int, Callable[[], Any], Mapping[str, str]], int],
        work: Callable[[], Any],
        skipped: Mapping[str, str],
    ) -> None:
        self.pipe, writer = os.pipe()
        try:
            self._pid = start(writer, work, skipped)
        finally:
            os.close(writer)

    def read(self, length: int) -> bytearray | None:
        """Return `length` bytes, or None if the stream ends before."""
        data = bytearray(length)
        with memoryview(data) as view:
            position = 0
            while position < length:
                if not self._is_readable() or not (count := os.readv(self.pipe, [view[position:]])):
                    return None
                position += count
        return data

    def _is_readable(self) -> bool:
        """Wait for data or the end of the worker: processes that the program's threads fork keep the pipe open."""
        poll = select.poll()
        poll.register(self.pipe, select.POLLIN)
        while not self._has_ended:
            if poll.poll(_STATUS_POLL_MS):
                return True
            self.wait(os.WNOHANG)
        return bool(poll.poll(0))

    def wait(self, options: int = 0) -> None:
        """Wait until the worker has ended, and take its status."""
        if self._has_ended:
            return
        try:
            pid, status, usage = os.wait4(self._pid, options)
        except ChildProcessError:  # the program ignores SIGCHLD, or has waited for all processes
            self._has_ended = True
            return
        if pid:
            self._has_ended, self.status, self.peak = True, os.waitstatus_to_exitcode(status), usage.ru_maxrss

    def terminate(self) -> None:
        """Let the worker clean up, then kill it."""
        if self._pid < 0 or self._has_ended:
            return
        with suppress(ProcessLookupError), defer_signals():
            os.kill(self._pid, signal.SIGTERM)
            deadline = time.monotonic() + _SHUTDOWN_SECONDS
            while not self._has_ended:
                time.sleep(0.01)
                if time.monotonic() > deadline:
                    os.kill(self._pid, signal.SIGKILL)
                self.wait(os.WNOHANG)


def _receive(worker: _Worker) -> tuple[str, bytes, bytes | bytearray]:
    """Return the optional step that the worker was in, and the kind and data of its last frame."""
    step = ""
    for kind, data in _read_frames(worker):
        if kind == b"p":
            step = data.decode("utf-8", "surrogateescape")
        else:
            return step, kind, data
    return step, b"", bytearray()


def _read_frames(worker: _Worker) -> Iterator[tuple[bytes, bytearray]]:
    """Yield complete frames only."""
    from onnx_autodoc.sandbox.worker import FRAME_HEADER

    while (header := worker.read(FRAME_HEADER.size)) is not None:
        kind, length = FRAME_HEADER.unpack(header)
        if length > current_limits().memory:
            raise limit_error("memory", f"the output has {length:,} bytes, more than {current_limits().memory:,}")
        data = worker.read(length)
        if data is None:
            return
        yield kind, data


def _worker_error(ended: _WorkerExit, subject: str) -> AutodocError:
    text = ended.data.decode("utf-8", "surrogateescape")
    if ended.kind == b"w":
        return BadInput(text)
    if ended.kind == b"l":
        return LimitReached(text) if text else _memory_error(subject)
    if ended.kind == b"m":
        return BadInput(f"{subject}: {text}")
    if ended.status - _SIGNAL_STATUS in signal.valid_signals():  # terminated by a signal that it handled
        return _termination_error(signal.Signals(ended.status - _SIGNAL_STATUS), subject)
    return _crash_error(ended, subject)


def _termination_error(number: signal.Signals, subject: str) -> AutodocError:
    """End the program as the signal would, unless it handles the signal or the work is in another thread."""
    if has_default_handler(number) and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(_SIGNAL_STATUS + number)
    return LimitReached(f"{subject}: the worker process was terminated with {number.name}")


def _crash_error(ended: _WorkerExit, subject: str) -> AutodocError:
    if -ended.status in _DEADLINE_SIGNALS:
        return limit_error("seconds", f"{subject}: timed out after {ended.seconds:.3g} s")
    near_limit = ended.grown_bytes > current_limits().memory // _ALLOCATION_SHARE
    if ended.status == OUT_OF_MEMORY_STATUS or (-ended.status in _ALLOCATION_SIGNALS and near_limit):
        return _memory_error(subject)
    if -ended.status == signal.SIGKILL:
        return LimitReached(f"{subject}: the system killed the worker process; the machine may have too little memory")
    if ended.status == UNKNOWN_STATUS:
        return LimitReached(
            f"{subject}: the worker process has ended, and its status is unknown, as this program waits for all of its "
            "processes or ignores SIGCHLD"
        )
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
