"""The child: its limits, its work, and what it says of it, as frames of a kind, a length and bytes."""

import errno
import faulthandler
import gc
import os
import resource
import signal
import struct
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

import msgspec

from onnx_autodoc.errors import AutodocError
from onnx_autodoc.limits import limits
from onnx_autodoc.sandbox._clock import start
from onnx_autodoc.sandbox._guard import INTERRUPTED, NO_MEMORY
from onnx_autodoc.sandbox._parts import in_child, internal

HEAD: Final = struct.Struct("<cQ")
PART, DONE, WRONG, LIMIT, MISTAKE = b"p", b"d", b"w", b"l", b"m"
_LOOKED, _PATIENCE = 0.5, 5.0  # seconds
_FRESH: Final = 1 << 27  # bytes that a command has mapped when it begins
_HALVES: Final = frozenset(map(chr, (*range(0xD800, 0xDC80), *range(0xDD00, 0xE000))))
# What loading a library says where there is no memory for it.
_NO_ROOM: Final = ("cannot allocate memory", "failed to map segment", "out of memory", "cannot apply additional memory")


def live(pipe: int, work: Callable[[], Any], left_out: Mapping[str, str]) -> NoReturn:
    """Does the work, says how it ended, and ends: nothing of the parent's is run or flushed here."""
    status = 1  # the parent has gone
    try:
        _hush(pipe)
        threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()
        in_child(left_out, lambda name: send(pipe, PART, name.encode("utf-8", "surrogateescape")))
        send(pipe, *_ended(work))
        status = 0
    except KeyboardInterrupt:
        status = INTERRUPTED
    except MemoryError:
        status = NO_MEMORY
    except SystemExit as told:  # to end, by a signal
        status = told.code if isinstance(told.code, int) else 1
    finally:
        os._exit(status)


def _follow(parent: int) -> None:
    """A parent that was killed can tell nobody: what it asked for is cleared up, and not gone on with."""
    while os.getppid() == parent:
        time.sleep(_LOOKED)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PATIENCE)
    os._exit(1)


def _ended(work: Callable[[], Any]) -> tuple[bytes, bytes | bytearray]:
    try:
        _bound()
        made = bytearray()
        msgspec.msgpack.Encoder().encode_into(work(), made)  # `encode` dies where its buffer cannot grow
        return DONE, made
    except AutodocError as error:
        return (LIMIT if error.exit_code == 3 else WRONG), _spelt(str(error))
    except MemoryError:
        _lift()
        return LIMIT, b""
    except (ImportError, OSError) as error:
        return (LIMIT, b"") if _is_full(error) else (MISTAKE, internal(error).encode("utf-8", "replace"))
    except Exception as mistake:  # our own: said in one line, whatever a file makes of it
        return MISTAKE, internal(mistake).encode("utf-8", "replace")


def _spelt(text: str) -> bytes:
    """As the parent reads it: the bytes of a file's name that is no text stay, half a letter of JSON is told."""
    told = (rf"\u{ord(each):04x}" if each in _HALVES else each for each in text)
    return "".join(told).encode("utf-8", "surrogateescape")


def _is_full(error: ImportError | OSError) -> bool:
    return getattr(error, "errno", None) == errno.ENOMEM or any(word in str(error).lower() for word in _NO_ROOM)


def _bound() -> None:
    """Memory and time; no core dump beside the model; nothing of Python's own behind our one line."""
    faulthandler.disable()
    gc.freeze()  # of what a graph is made into, little is garbage: looking for it took a fifth of the time
    gc.set_threshold(50_000, 20, 100)
    warnings.simplefilter("ignore")
    sys.set_int_max_str_digits(0)  # sizes of 2^62 in 60 dimensions are exact; how many there are is bounded
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = limits().memory + max(_mapped() - _FRESH, 0)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))
    start()


def _lift() -> None:
    """Enough to say so, and to end."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _mapped() -> int:
    """Bytes that this process has of its parent: a program that calls the tool may have mapped much already."""
    try:
        with Path("/proc/self/statm").open(encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:  # not on this system
        return 0


def _hush(pipe: int) -> None:
    """What a library prints is in no document: the parent writes those. Progress is for terminals alone."""
    for stream in (1, 2):
        if stream != pipe and not os.isatty(stream):  # where a stream was closed, the pipe may have got its number
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream)
            if nowhere != stream:
                os.close(nowhere)


def send(pipe: int, kind: bytes, data: bytes | bytearray) -> None:
    for piece in (HEAD.pack(kind, len(data)), data):
        left = memoryview(piece)
        while left:
            left = left[os.write(pipe, left) :]
