"""Starting a worker process, reading its messages, and ending it in every case."""

import errno
import os
import re
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from types import FrameType
from typing import IO, Final

import msgspec

from onnx_autodoc.decoding import json_decoder
from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.limits import OPTIONS, Limits, current_limits
from onnx_autodoc.runtime.machine import free_memory
from onnx_autodoc.runtime.measurement import MEMORY_ENVIRONMENT
from onnx_autodoc.runtime.protocol import Failure, Message, Result, RunRequest, Stage
from onnx_autodoc.sandbox import interpreter_command
from onnx_autodoc.text import sanitize

# Since 1.29 onnxruntime sends telemetry and stores an id in the user's home unless disabled. With the second variable
# set, a file's metadata (`ort_config`) could name files to write. numpy must not start threads before the process is
# confined, since confinement does not hold for threads that run already.
WORKER_ENVIRONMENT: Final = {
    "ORT_DISABLE_TELEMETRY": "1",
    "ORT_LOAD_CONFIG_FROM_MODEL": "0",
    "OPENBLAS_NUM_THREADS": "1",
}
_REQUIRED_PACKAGES: Final = ("onnxruntime", "onnx")
_MAX_MESSAGE_BYTES: Final = 1 << 28
_READ_BYTES: Final = 1 << 16
_MAX_ERROR_CHARACTERS: Final = 300
_ORT_ERROR_PREFIX: Final = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ")
_TIMEOUT_HINT: Final = "--timeout raises the limit"
_SIZE_HINT: Final = "smaller sizes may fit: --batch, --seq, --size, --dim"
_ERRNO_HINTS: Final = {
    errno.EMFILE: "allow more open files (ulimit -n)",
    errno.ENFILE: "close other programs",
    errno.EAGAIN: "allow more processes (ulimit -u)",
    errno.ENOMEM: "allow more memory (ulimit -v)",
    errno.ENOSPC: "free disk space, or set TMPDIR to another folder",
    errno.EDQUOT: "free disk space, or set TMPDIR to another folder",
}


def require_onnxruntime() -> None:
    missing = [name for name in _REQUIRED_PACKAGES if find_spec(name) is None]
    if missing:
        raise BadInput(f"running a model requires {' and '.join(missing)}: pip install 'onnx-autodoc[run]'")


class Deadline:
    """The end of a time span that several workers share."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        return self._end - time.monotonic()


def worker_command() -> list[str]:
    return interpreter_command("onnx_autodoc.runtime.worker", "main")


def run_worker(request: RunRequest, deadline: Deadline, report: Callable[[Stage], None]) -> Result:
    """Run one job in a worker process. Its failures become one-line errors."""
    if deadline.remaining() <= 0:
        raise LimitReached(f"{request.path}: the limit of {deadline.seconds:.3g} s was reached; {_TIMEOUT_HINT}")
    request = msgspec.structs.replace(
        request,
        parent_pid=os.getpid(),
        memory_bytes=free_memory(),
        seconds=deadline.remaining(),
        limits=current_limits(),
    )
    worker = subprocess.Popen(  # noqa: S603
        worker_command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **WORKER_ENVIRONMENT, **(MEMORY_ENVIRONMENT if request.job == "memory" else {})},
        start_new_session=True,
    )
    doing = "reading the model"
    try:
        assert worker.stdin is not None and worker.stdout is not None
        with suppress(BrokenPipeError):  # the worker has ended; its exit code is the reason
            worker.stdin.write(msgspec.json.encode(request))
            worker.stdin.close()
        for message in _read_messages(worker.stdout, request.path, deadline):
            if isinstance(message, Stage):
                doing = message.doing
                report(message)
            elif isinstance(message, Failure):
                raise describe_failure(request.path, message)
            else:
                return message
        raise describe_death(request.path, worker.wait(), doing)
    except msgspec.MsgspecError:
        raise BadInput(f"{request.path}: the worker process sent an invalid message while {doing}") from None
    except TimeoutError:
        late = f"timed out after {deadline.seconds:.3g} s while {doing}; {_TIMEOUT_HINT}"
        raise LimitReached(f"{request.path}: {late}") from None
    finally:
        _end(worker)


def _read_messages(pipe: IO[bytes], path: str, deadline: Deadline) -> Iterator[Message]:
    """Yield messages until the worker closes its pipe."""
    decoder, pending, total = json_decoder(Message), bytearray(), 0
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if not selector.select(max(deadline.remaining(), 0)):
                raise TimeoutError
            piece = os.read(pipe.fileno(), _READ_BYTES)
            if not piece:
                return
            total += len(piece)
            if total > _MAX_MESSAGE_BYTES:
                raise LimitReached(f"{path}: the run produced more than {_MAX_MESSAGE_BYTES:,} bytes of results")
            pending += piece
            if b"\n" in piece:
                *lines, rest = bytes(pending).split(b"\n")
                pending = bytearray(rest)
                yield from map(decoder.decode, lines)


def _end(worker: "subprocess.Popen[bytes]") -> None:
    """Kill the worker and its process group."""
    if worker.poll() is None:
        try:
            os.killpg(worker.pid, signal.SIGKILL)
        except ProcessLookupError:
            worker.kill()
    worker.wait()
    if worker.stdout is not None:
        worker.stdout.close()


def describe_failure(path: str, failure: Failure) -> BadInput | LimitReached:
    """Return the error for a failure that the worker reported."""
    if failure.kind == "request":
        return BadInput(failure.text if failure.text.startswith("--") else f"{path}: {failure.text}")
    if failure.kind == "limit":
        return LimitReached(f"{path}: {failure.text}")
    if failure.kind == "memory":
        return LimitReached(f"{path}: out of memory while {failure.doing}; {_memory_hint()}")
    text = _ORT_ERROR_PREFIX.sub("", " ".join(failure.text.split()))
    if len(text) > _MAX_ERROR_CHARACTERS:  # it begins with the node, and ends with the reason
        half = _MAX_ERROR_CHARACTERS // 2
        text = f"{text[:half]} … {text[-half:]}"
    return BadInput(f"{path}: onnxruntime failed while {failure.doing}: {sanitize(text, 2 * _MAX_ERROR_CHARACTERS)}")


def describe_death(path: str, code: int, doing: str) -> BadInput | LimitReached:
    """Return the error for a worker that ended without a result."""
    if code == -signal.SIGKILL:
        return LimitReached(f"{path}: the system killed onnxruntime while {doing}: out of memory? {_memory_hint()}")
    if code >= 0:
        return BadInput(f"{path}: onnxruntime exited while {doing} (exit code {code})")
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return BadInput(f"{path}: onnxruntime crashed with {name} while {doing}")


def _memory_hint() -> str:
    chosen = current_limits().memory != Limits().memory
    return f"{OPTIONS['memory']} raises the limit, {_SIZE_HINT}" if chosen else _SIZE_HINT


# -- resources of a run


@contextmanager
def report_os_errors(subject: str) -> Iterator[None]:
    """Turn an OSError (files, processes, disk space) into a one-line error with a hint."""
    try:
        yield
    except OSError as error:
        text = f"{subject}: cannot be run here: {error.strerror or error}"
        if error.errno in _ERRNO_HINTS:
            raise LimitReached(f"{text}; {_ERRNO_HINTS[error.errno]}") from None
        raise BadInput(text) from None


@contextmanager
def temporary_folder() -> Iterator[str]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="onnx-autodoc-")
    except FileNotFoundError:
        raise BadInput("no folder for temporary files is writable; set TMPDIR to one that is") from None
    with folder as name:
        yield name


class _AlarmRaised(BaseException):
    """Not an Exception, so that no handler on the way takes it for an error of the model."""


@contextmanager
def cleanup_on_alarm() -> Iterator[None]:
    """Leave the block before SIGALRM, the timeout of the whole command, ends this process.

    Only the main thread can handle signals; a handler that is already set stays.
    """
    alarm = getattr(signal, "SIGALRM", None)
    in_main_thread = threading.current_thread() is threading.main_thread()
    if alarm is None or not in_main_thread or signal.getsignal(alarm) is not signal.SIG_DFL:
        yield
        return
    signal.signal(alarm, _raise_alarm)
    try:
        yield
    except _AlarmRaised:
        signal.signal(alarm, signal.SIG_DFL)
        os.kill(os.getpid(), alarm)  # the parent recognizes the timeout by this signal
        raise
    finally:
        signal.signal(alarm, signal.SIG_DFL)


def _raise_alarm(_number: int, _frame: FrameType | None) -> None:
    raise _AlarmRaised
