"""The parent: starts the child, hears it out, and turns every way it may end into a result or one line."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

from onnx_autodoc.errors import AutodocError, BadInput, LimitReached
from onnx_autodoc.limits import limits, reached
from onnx_autodoc.sandbox._ending import cleared_up

T = TypeVar("T")

_PATIENCE: Final = 2.0  # seconds for a child that was told to end, to clear up behind itself
NO_MEMORY: Final = 3  # the status of who had none left even to say so
INTERRUPTED: Final = 130  # the status of who was told to end by Ctrl-C
_LATE: Final = (signal.SIGALRM, signal.SIGXCPU)
# How native code ends that was given no memory and did not look. It asks for half as much again, or twice as much.
_WITHOUT_MEMORY: Final = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS)
_NEAR: Final = 3
_RSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024


class _Ending(NamedTuple):
    """How a child ended: its last frame, if it came to that, the part it was in, its status and how long it took."""

    kind: bytes
    data: bytes | bytearray
    part: str
    status: int
    seconds: float
    nbytes: int  # of memory, at the most, beyond what this process has had


def guarded(kind: type[T], work: Callable[[], T], about: str) -> T:
    """What `work` gives, from a child with limits. Where it dies of a part, another one leaves that part out."""
    if not hasattr(os, "fork"):
        return work()
    left_out: dict[str, str] = {}
    while True:
        ending = _lived(work, left_out)
        if ending.kind == b"d":
            import msgspec

            return msgspec.msgpack.decode(ending.data, type=kind)
        if ending.kind or ending.part in ("", *left_out) or -ending.status in (*_LATE, signal.SIGKILL):
            raise _failure(ending, about)
        left_out[ending.part] = f"internal: this part died of {_name(ending.status)}; the rest of the card stands"


def _lived(work: Callable[[], Any], left_out: dict[str, str]) -> _Ending:
    import resource

    from onnx_autodoc.sandbox._child import live

    started, (ours, theirs) = time.monotonic(), os.pipe()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    with cleared_up():
        child = _forked(ours, theirs)
        if child == 0:
            os.close(ours)
            live(theirs, work, left_out)
        os.close(theirs)
        try:
            part, kind, data = _heard(ours)
        except BaseException:
            _end(child)
            raise
        finally:
            os.close(ours)
        _, status, used = os.wait4(child, 0)
    seconds, grown = time.monotonic() - started, max(used.ru_maxrss - before, 0) * _RSS_UNIT
    return _Ending(kind, data, part, os.waitstatus_to_exitcode(status), seconds, grown)


def _forked(ours: int, theirs: int) -> int:
    try:
        return os.fork()
    except OSError as error:
        os.close(ours)
        os.close(theirs)
        raise LimitReached(f"no process can be started: {error.strerror}") from None


def _heard(pipe: int) -> tuple[str, bytes, bytes | bytearray]:
    """The part it was in, and the last frame: what came of it."""
    part, last, found = "", b"", bytearray()
    for kind, data in _frames(pipe):
        if kind == b"p":
            part, last, found = data.decode("utf-8", "surrogateescape"), b"", bytearray()
        else:
            last, found = kind, data
    return part, last, found


def _frames(pipe: int) -> Iterator[tuple[bytes, bytearray]]:
    """Those that came whole."""
    from onnx_autodoc.sandbox._child import HEAD

    while (head := _taken(pipe, HEAD.size)) is not None:
        kind, length = HEAD.unpack(head)
        if length > limits().memory:
            raise reached("memory", f"the documents take {length:,} bytes, more than {limits().memory:,}")
        data = _taken(pipe, length)
        if data is None:
            return
        yield kind, data


def _taken(pipe: int, length: int) -> bytearray | None:
    """So many bytes, read to where they stay; None where they end before."""
    data = bytearray(length)
    with memoryview(data) as view:
        at = 0
        while at < length:
            count = os.readv(pipe, [view[at:]])
            if not count:
                return None
            at += count
    return data


def _end(child: int) -> None:
    """Told to end, so that it clears up behind itself; then made to."""
    os.kill(child, signal.SIGTERM)
    last = time.monotonic() + _PATIENCE
    while time.monotonic() < last:
        if os.waitpid(child, os.WNOHANG) != (0, 0):
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _failure(ending: _Ending, about: str) -> AutodocError:
    text = ending.data.decode("utf-8", "surrogateescape")
    if ending.kind == b"w":
        return BadInput(text)
    if ending.kind == b"l":
        return LimitReached(text) if text else _no_memory(about)
    if ending.kind == b"m":
        return BadInput(f"{about}: {text}")
    if ending.status == INTERRUPTED:
        raise KeyboardInterrupt
    if ending.status > INTERRUPTED - signal.SIGINT:  # told to end, as a shell says it
        raise SystemExit(ending.status)
    return _death(ending, about)


def _death(ending: _Ending, about: str) -> AutodocError:
    if -ending.status in _LATE:
        return reached("seconds", f"{about}: not done after {ending.seconds:.3g} s")
    if ending.status == NO_MEMORY:
        return _no_memory(about)
    if -ending.status in _WITHOUT_MEMORY and ending.nbytes > limits().memory // _NEAR:
        return _no_memory(about)
    if -ending.status == signal.SIGKILL:
        return LimitReached(f"{about}: the system killed the process that read it; is there too little memory?")
    where = f" in {ending.part}" if ending.part else ""
    return BadInput(f"{about}: internal: the process that read it ended with {_name(ending.status)}{where}")


def _no_memory(about: str) -> LimitReached:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= hard < limits().memory:
        return LimitReached(f"{about}: takes over {hard:,} bytes of memory, which is all that this process may have")
    return reached("memory", f"{about}: takes over {limits().memory:,} bytes of memory")


def _name(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"status {status}"
