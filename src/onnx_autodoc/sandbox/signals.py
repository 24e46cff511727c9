"""Termination signals: as exceptions that run clean-up code, or deferred until a critical section ends."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

# kill, a scheduler, a closed terminal; Windows has no SIGHUP
_TERMINATION_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def raise_on_termination() -> Iterator[None]:
    """Raise `SystemExit` on a termination signal, so that processes and folders are cleaned up.

    The handler of a signal that the caller handles or ignores is not replaced.
    """
    unhandled: list[signal.Signals] = []
    if threading.current_thread() is threading.main_thread():  # only the main thread may set handlers
        unhandled = [number for number in _TERMINATION_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in unhandled:
        signal.signal(number, _exit_once)
    try:
        yield
    finally:
        for number in unhandled:
            signal.signal(number, signal.SIG_DFL)


def _exit_once(number: int, _: FrameType | None) -> None:
    for other in _TERMINATION_SIGNALS:  # a second signal would interrupt the clean-up
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)  # the status that a shell reports for a process killed by the signal


@contextmanager
def defer_signals() -> Iterator[None]:
    """Deliver interrupts and termination signals when the block has ended.

    Python's handlers are replaced, not the signal mask: a mask holds for one thread, and a library's other thread would
    take the signal. Python runs handlers in the main thread only, so other threads need nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    numbers = (signal.SIGINT, *_TERMINATION_SIGNALS)
    before = {number: signal.signal(number, lambda number, _: received.append(number)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for number in received:
            signal.raise_signal(number)
