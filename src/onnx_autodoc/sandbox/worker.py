"""The worker process: sets its limits, does the work, and sends frames of a kind, a length and data."""

import errno
import faulthandler
import gc
import logging
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
from onnx_autodoc.limits import current_limits
from onnx_autodoc.sandbox.deadline import start_deadline
from onnx_autodoc.sandbox.isolation import INTERRUPTED_STATUS, OUT_OF_MEMORY_STATUS
from onnx_autodoc.sandbox.optional import internal_error, set_up_worker
from onnx_autodoc.sandbox.signals import reset_signals

FRAME_HEADER: Final = struct.Struct("<cQ")
_STEP, _DONE, _DONE_JSON, _BAD_INPUT, _LIMIT, _BUG = b"p", b"d", b"j", b"w", b"l", b"m"
_LOGGER: Final = logging.getLogger(__name__)
_PARENT_POLL_SECONDS: Final = 0.5
_SHUTDOWN_SECONDS: Final = 5.0
_BASELINE_BYTES: Final = 1 << 27  # address space of a fresh command
_LONE_SURROGATES: Final = frozenset(map(chr, (*range(0xD800, 0xDC80), *range(0xDD00, 0xE000))))
# Messages of a loader without memory for a library.
_NO_MEMORY_TEXTS: Final = (
    *("cannot allocate memory", "failed to map segment"),
    *("out of memory", "cannot apply additional memory"),
)


def run_worker(pipe: int, work: Callable[[], Any], skipped: Mapping[str, str], parent: int) -> NoReturn:
    """Do the work, send its outcome and exit. No clean-up of the parent process runs here."""
    status = 1
    try:
        reset_signals()
        _redirect_output(pipe)
        threading.Thread(target=_exit_with_parent, args=(parent,), daemon=True).start()
        set_up_worker(skipped, lambda step: _send(pipe, _STEP, step.encode("utf-8", "surrogateescape")))
        _send(pipe, *_outcome(work))
        status = 0
    except KeyboardInterrupt:
        status = INTERRUPTED_STATUS
    except MemoryError:
        status = OUT_OF_MEMORY_STATUS
    except SystemExit as terminated:
        status = terminated.code if isinstance(terminated.code, int) else 1
    finally:
        os._exit(status)


def _exit_with_parent(parent: int) -> None:
    """Terminate when the parent process is gone: a killed parent cannot send a signal."""
    while os.getppid() == parent:
        time.sleep(_PARENT_POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_SHUTDOWN_SECONDS)
    os._exit(1)


def _outcome(work: Callable[[], Any]) -> tuple[bytes, bytes | bytearray]:
    """Return the kind and data of the last frame."""
    try:
        _set_limits()
        return _encode_result(work())
    except AutodocError as error:
        _LOGGER.debug("refused", exc_info=True)
        return (_LIMIT if error.exit_code == 3 else _BAD_INPUT), _encode_message(str(error))
    except MemoryError:
        _lift_memory_limit()
        return _LIMIT, b""
    except Exception as error:  # a bug that this file triggers
        _LOGGER.debug("failed", exc_info=True)
        if isinstance(error, ImportError | OSError) and _is_out_of_memory(error):
            return _LIMIT, b""
        return _BUG, internal_error(error).encode("utf-8", "replace")


def _encode_result(result: Any) -> tuple[bytes, bytes | bytearray]:
    encoded = bytearray()
    try:
        msgspec.msgpack.Encoder().encode_into(result, encoded)  # `encode` crashes if its buffer cannot grow
    except UnicodeEncodeError:  # a path that is not UTF-8; only Python's JSON escapes its surrogates
        import json

        return _DONE_JSON, json.dumps(msgspec.to_builtins(result)).encode()
    return _DONE, encoded


def _encode_message(text: str) -> bytes:
    """Encode a message with the undecodable bytes of file names; escape lone surrogates, which JSON may contain."""
    escaped = (rf"\u{ord(char):04x}" if char in _LONE_SURROGATES else char for char in text)
    return "".join(escaped).encode("utf-8", "surrogateescape")


def _is_out_of_memory(error: ImportError | OSError) -> bool:
    return getattr(error, "errno", None) == errno.ENOMEM or any(text in str(error).lower() for text in _NO_MEMORY_TEXTS)


def _set_limits() -> None:
    """Limit memory and time, write no core dump, and disable Python's output after the one line of an error."""
    faulthandler.disable()
    gc.freeze()  # little of a graph becomes garbage: collecting takes up to a fifth of the time
    gc.set_threshold(2_000_000, 2, 100)
    warnings.simplefilter("ignore")
    sys.set_int_max_str_digits(0)  # products of sizes up to 2^62 in 60 dimensions are exact; their number is bounded
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = current_limits().memory + max(_mapped_bytes() - _BASELINE_BYTES, 0)
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))
    start_deadline()


def _lift_memory_limit() -> None:
    """Allow the memory for an error message."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _mapped_bytes() -> int:
    """Return the address space inherited from the parent, which may be a large program."""
    try:
        with Path("/proc/self/statm").open(encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:  # no /proc
        return 0


def _redirect_output(pipe: int) -> None:
    """Discard output of libraries, except to a terminal (progress). The parent writes the documents."""
    for stream in (1, 2):
        if stream != pipe and not os.isatty(stream):  # if a stream was closed, the pipe may have its number
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream)
            if null != stream:
                os.close(null)


def _send(pipe: int, kind: bytes, data: bytes | bytearray) -> None:
    for piece in (FRAME_HEADER.pack(kind, len(data)), data):
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(pipe, rest) :]
