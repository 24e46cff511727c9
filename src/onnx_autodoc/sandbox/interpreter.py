"""New interpreters: for workers of a program with threads, whose locks a fork would copy, and for runs of models."""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, NoReturn

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.limits import current_limits, within

_SCRIPT: Final = "import sys; sys.path[:] = sys.argv[1:]; from {module} import {function}; {function}()"
_PACKAGE_FOLDER: Final = Path(__file__).absolute().parents[2]


def start_interpreter(pipe: int, work: Callable[[], Any], skipped: Mapping[str, str]) -> int:
    """Start a process that does `work`, which must be picklable, and return its id. The caller waits for it."""
    if not sys.executable or getattr(sys, "frozen", False):
        raise LimitReached(
            "cannot start a process: this program is no Python interpreter; call it from a single thread"
        )
    try:
        call = pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise _not_importable(error) from None
    request = pickle.dumps((os.getpid(), current_limits(), dict(skipped), call))
    command = interpreter_command(__name__, serve.__name__)
    try:
        with _open_memory() as file:  # unlike a pipe it has no writer that may be interrupted
            file.write(request)
            file.seek(0)
            # Without close_fds it calls posix_spawn: no pipe that a process forked by another thread would keep open.
            process = subprocess.Popen(command, stdin=file, stdout=pipe, close_fds=False)  # noqa: S603 - no data of a model
    except OSError as error:
        raise LimitReached(f"cannot start a process: {error.strerror}") from None
    process.returncode = 0  # no destructor waits for it
    return process.pid


def interpreter_command(module: str, function: str) -> list[str]:
    """Return the command of a new interpreter that calls a function, with no module from the current folder."""
    # -I: no PYTHON* variable either; what they have set here is in the other options.
    options = ("-I", "-X", f"utf8={sys.flags.utf8_mode}", *(["-B"] if sys.dont_write_bytecode else []))
    return [sys.executable, *options, "-c", _SCRIPT.format(module=module, function=function), *_module_path()]


def _module_path() -> list[str]:
    """Return the folders of the program's modules, without the current folder, which may be that of the model.

    If the program has the package or its dependencies from a relative entry, that is the folder they were found in.
    """
    import msgspec

    path = [entry for entry in sys.path if isinstance(entry, str) and Path(entry).is_absolute()]
    used = dict.fromkeys((_PACKAGE_FOLDER, Path(msgspec.__file__).parents[1]))
    return [*(str(folder) for folder in used if folder not in map(Path, path)), *path]


def _open_memory() -> IO[bytes]:
    """Open a file without a name, in memory if the system can."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("onnx-autodoc"), "w+b")
    from tempfile import TemporaryFile

    return TemporaryFile()


def serve() -> NoReturn:
    """Do the work that standard input has, and send its outcome to standard output."""
    from onnx_autodoc.sandbox.worker import run_worker

    pipe = os.dup(1)
    parent, limits, skipped, call = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by `start_interpreter`
    try:
        work = pickle.loads(call)  # noqa: S301
    except (AttributeError, ImportError) as error:
        work = partial(_raise, _not_importable(error))
    with within(limits):
        run_worker(pipe, work, skipped, parent)


def _raise(error: Exception) -> NoReturn:
    raise error


def _not_importable(error: Exception) -> BadInput:
    return BadInput(
        "isolated: this program runs other threads, so the worker is a new process, which cannot import "
        f"the functions of a custom operator: {error}; define them in a module in an absolute folder of sys.path, "
        "or call from a single thread"
    )
