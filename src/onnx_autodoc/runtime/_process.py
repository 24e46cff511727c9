"""Starting the process that runs the model, listening to it, and ending it whatever happens."""

import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import IO, Final

import msgspec

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.limits import OPTIONS, Limits, limits
from onnx_autodoc.runtime._bounds import free_memory
from onnx_autodoc.runtime._memory import ENVIRONMENT
from onnx_autodoc.runtime._messages import Failed, Message, Stage, Task
from onnx_autodoc.text import clean

COMMAND: Final = ("-P", "-m", "onnx_autodoc.runtime._child")  # -P: no module is taken from the current folder
NEEDED: Final = ("onnxruntime", "onnx")
# Since 1.29 onnxruntime reports to its makers unless it is told not to, and keeps an id in the user's home.
# A file's own metadata (`ort_config`) could name files to write, where this other one is set.
PRIVATE: Final = {"ORT_DISABLE_TELEMETRY": "1", "ORT_LOAD_CONFIG_FROM_MODEL": "0"}
_LARGEST: Final = 1 << 28  # bytes of messages
_PIECE: Final = 1 << 16
_LONGEST: Final = 300  # letters of a message of onnxruntime
_NUMBERED: Final = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ")  # what its messages begin with

_LONGER: Final = "--timeout gives it longer"
_SMALLER: Final = "smaller sizes may fit: --batch, --seq, --size, --dim"

Watch = Callable[[Stage], None]


def check_extra() -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise BadInput(f"running a model needs {' and '.join(missing)}: pip install 'onnx-autodoc[run]'")


class Deadline:
    """So long for everything together."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        return self._end - time.monotonic()


def ask(task: Task, deadline: Deadline, watch: Watch) -> Message:
    """The answer of a process of its own; its failures are ours, in one line."""
    if deadline.left() <= 0:
        raise LimitReached(f"{task.path}: nothing is left of {deadline.seconds:.3g} s; {_LONGER}")
    child = _start(msgspec.structs.replace(task, memory=free_memory(), seconds=deadline.left()))
    doing = Stage("starting onnxruntime")
    try:
        for message in _messages(child, task, deadline):
            if isinstance(message, Stage):
                doing = message
                watch(message)
            elif isinstance(message, Failed):
                raise _failure(task, message)
            else:
                return message
        raise _death(task, child.wait(), doing.doing)
    except msgspec.MsgspecError:
        raise BadInput(f"{task.path}: what came back while {doing.doing} is no message") from None
    except TimeoutError:
        late = f"{doing.doing} was not done after {deadline.seconds:.3g} s; {_LONGER}"
        raise LimitReached(f"{task.path}: {late}") from None
    finally:
        _end(child)


def _start(task: Task) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, **PRIVATE, **(ENVIRONMENT if task.what == "memory" else {})}
    child = subprocess.Popen(  # noqa: S603
        [sys.executable, *COMMAND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        assert child.stdin is not None
        child.stdin.write(msgspec.json.encode(msgspec.structs.replace(task, parent=os.getpid())))
        child.stdin.close()
    except BrokenPipeError:
        pass  # it has ended already; its end says why
    except BaseException:
        _end(child)
        raise
    return child


def _messages(child: "subprocess.Popen[bytes]", task: Task, deadline: Deadline) -> Iterator[Message]:
    """Line by line, until its end of the pipe is closed."""
    assert child.stdout is not None
    decoder, held, total = msgspec.json.Decoder(Message), bytearray(), 0
    for piece in _pieces(child.stdout, deadline):
        total += len(piece)
        if total > _LARGEST:
            raise LimitReached(f"{task.path}: the run gave over {_LARGEST:,} bytes of results")
        held += piece
        *lines, rest = bytes(held).split(b"\n") if b"\n" in piece else (held,)
        held = bytearray(rest)
        yield from map(decoder.decode, lines)


def _pieces(pipe: IO[bytes], deadline: Deadline) -> Iterator[bytes]:
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if not selector.select(max(deadline.left(), 0)):
                raise TimeoutError
            piece = os.read(pipe.fileno(), _PIECE)
            if not piece:
                return
            yield piece


def _end(child: "subprocess.Popen[bytes]") -> None:
    """With all that it started."""
    if child.poll() is None:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            child.kill()
    child.wait()
    if child.stdout is not None:
        child.stdout.close()


def _failure(task: Task, failed: Failed) -> BadInput | LimitReached:
    if failed.kind == "request":
        return BadInput(f"{task.path}: {failed.text}" if not failed.text.startswith("--") else failed.text)
    if failed.kind == "limit":
        return LimitReached(f"{task.path}: {failed.text}")
    if failed.kind == "memory":
        return LimitReached(f"{task.path}: {failed.doing} ran out of memory; {_more_room()}")
    text = clean(_shortened(_NUMBERED.sub("", " ".join(failed.text.split()))), 2 * _LONGEST)
    return BadInput(f"{task.path}: onnxruntime refused while {failed.doing}: {text}")


def _more_room() -> str:
    """What to do; where the user has chosen how much there is, that too."""
    chosen = limits().memory != Limits().memory
    return f"{OPTIONS['memory']} raises the limit, {_SMALLER}" if chosen else _SMALLER


def _shortened(text: str) -> str:
    """Both ends: it begins with the node, and ends with what is wrong."""
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} … {text[-half:]}"


def _death(task: Task, code: int, doing: str) -> BadInput | LimitReached:
    if code == -signal.SIGKILL:
        return LimitReached(f"{task.path}: the system killed onnxruntime while {doing}: out of memory? {_more_room()}")
    if code >= 0:
        return BadInput(f"{task.path}: onnxruntime ended by itself while {doing} (exit code {code})")
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return BadInput(f"{task.path}: onnxruntime died of {name} while {doing}")
