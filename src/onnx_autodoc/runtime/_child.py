"""The process in which onnxruntime runs: a task on standard input, lines of JSON on standard output.

What native code prints is thrown away, and whatever it does to its process costs the tool one line.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from onnx_autodoc.runtime import _memory, _timing
from onnx_autodoc.runtime._bounds import bound
from onnx_autodoc.runtime._messages import Failed, Message, Operators, Ran, Stage, Task
from onnx_autodoc.runtime._profile import MOST_EVENTS, events, executions, operators
from onnx_autodoc.runtime._renamed import Renamed, TooMany
from onnx_autodoc.runtime._session import Runner, Wrong

Say = Callable[[Stage], None]
_DIE_WITH_PARENT: Final = 1  # PR_SET_PDEATHSIG
_MOST_RUNS: Final = 20  # under the profiler
_LONG_ENOUGH: Final = 5.0  # seconds of them


def main() -> None:
    """One task, then the end. Ends without clearing up: native clearing up may hang."""
    out = _private_output()
    _die_with_parent()
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=Task)
    if os.getppid() != task.parent:  # it went before it could take us along
        os._exit(1)
    reply = answer(_away(task), lambda stage: _put(out, stage))
    _put(out, reply)
    os._exit(0)


def _away(task: Task) -> Task:
    """Within limits, and not where the user is: what native code writes by a plain name is gone afterwards."""
    bound(task.memory, task.seconds)
    path = str(Path(task.path).absolute())  # links stay: weights lie beside the name that the user gave
    os.chdir(task.folder or "/")
    return msgspec.structs.replace(task, path=path)


def answer(task: Task, say: Say) -> Message:
    """The result, or what went wrong while doing what."""
    doing = ["starting onnxruntime"]
    named: list[Renamed] = []

    def tell(stage: Stage) -> None:
        doing[:] = [stage.doing]
        say(stage)

    try:
        tell(Stage(doing[0]))
        return _TASKS[task.what](_versioned(task), tell, named)
    except Wrong as error:
        return Failed(doing[0], str(error), "request")
    except TooMany as error:
        return Failed(doing[0], str(error), "limit")
    except MemoryError:
        return Failed(doing[0], "out of memory", "memory")
    except Exception as error:  # whatever onnxruntime, onnx or protobuf throws is one line for the reader
        text = str(error) or type(error).__name__
        if "bad_alloc" in text or "allocate memory" in text.lower():
            return Failed(doing[0], text, "memory")
        return Failed(doing[0], named[0].spoken(text) if named else text)


def _versioned(task: Task) -> Task:
    import onnxruntime

    return msgspec.structs.replace(task, runtime=onnxruntime.__version__)


def _shapes(task: Task, say: Say, named: list[Renamed]) -> Ran:
    renamed = _renamed(task, say, named)
    runner = Runner(task, say, optimised=False, renamed=renamed, settings=_profiled(task))
    say(Stage("running the model"))
    runner.run()
    say(Stage("comparing shapes"))
    made, full = executions(events(runner.profile()), renamed)
    return Ran(made, task.runtime, runner.provider, full)


def _operators(task: Task, say: Say, named: list[Renamed]) -> Operators:
    """Under the profiler, often enough for a steady picture and seldom enough for its memory."""
    renamed = _renamed(task, say, named)
    runner = Runner(task, say, optimised=True, renamed=renamed, settings=_profiled(task))
    most = max(1, min(task.runs or _MOST_RUNS, _MOST_RUNS, MOST_EVENTS // 4 // max(len(renamed.ways), 1)))
    runs, start = -1, time.monotonic()  # the first one warms up
    while runs < most and (runs < 1 or time.monotonic() - start < _LONG_ENOUGH):
        say(Stage("timing operators", runs + 1, most + 1))
        runner.run()
        runs += 1
    return operators(events(runner.profile()), renamed, runs)


def _renamed(task: Task, say: Say, named: list[Renamed]) -> Renamed:
    say(Stage("reading the model"))
    named.append(Renamed(task.path))
    return named[0]


def _profiled(task: Task) -> dict[str, object]:
    return {"enable_profiling": True, "profile_file_prefix": str(Path(task.folder) / task.what)}


_TASKS: Final[Mapping[str, Callable[[Task, Say, list[Renamed]], Message]]] = {
    "shapes": _shapes,
    "operators": _operators,
    "time": lambda task, say, _: _timing.measure(task, say),
    "memory": lambda task, say, _: _memory.measure(task, say),
}


def _private_output() -> int:
    """Where messages go; what others write to standard output and error goes nowhere."""
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return kept


def _die_with_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)


def _put(out: int, message: Message) -> None:
    data = memoryview(msgspec.json.encode(message) + b"\n")
    while data:
        data = data[os.write(out, data) :]


if __name__ == "__main__":
    main()
