"""Optional steps: a failed step leaves out its section of the card."""

import logging
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Final, TypeVar

from onnx_autodoc.errors import AutodocError

T = TypeVar("T")

_LOGGER: Final = logging.getLogger(__name__)
_SKIPPED: Final[ContextVar[Mapping[str, str] | None]] = ContextVar("skipped", default=None)  # step -> reason
_ANNOUNCE: Final[ContextVar[Callable[[str], None] | None]] = ContextVar("announce", default=None)
_MAX_MESSAGE_CHARS: Final = 200


def run_optional(name: str, path: str, work: Callable[[], T], fallback: Callable[[str], T]) -> T:
    """Return the result of `work`, or `fallback(reason)` if it fails or has crashed an earlier worker process.

    `path` is the file that the step works on: a step that fails for one model still runs for another.
    """
    step = f"{name} of {path}"
    reason = (_SKIPPED.get() or {}).get(step)
    if reason is not None:
        return fallback(reason)
    announce = _ANNOUNCE.get() or (lambda _: None)
    announce(step)
    _LOGGER.info("%s", step)
    started = time.perf_counter()
    try:
        return work()
    except (AutodocError, MemoryError):
        raise
    except Exception as error:  # a bug that this file triggers
        _LOGGER.debug("%s failed", step, exc_info=True)
        return fallback(f"{internal_error(error)}; the rest of the card is valid")
    finally:
        _LOGGER.debug("%s: %.1f ms", step, 1e3 * (time.perf_counter() - started))
        announce("")


def internal_error(error: BaseException) -> str:
    """Return the one-line message for a bug of the tool."""
    return f"internal error: {type(error).__name__}: {str(error)[:_MAX_MESSAGE_CHARS]}"


def set_up_worker(skipped: Mapping[str, str], announce: Callable[[str], None]) -> None:
    """Set, for the rest of this worker process, the steps to skip and where to announce the running step."""
    _SKIPPED.set(skipped)
    _ANNOUNCE.set(announce)
