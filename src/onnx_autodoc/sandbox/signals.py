"""Termination signals: as exceptions that run clean-up code, or deferred until a critical section ends."""

import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

# kill, a scheduler, a closed terminal; Windows has no SIGHUP
_TERMINATION_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_VALID_SIGNALS: Final = signal.valid_signals()


@contextmanager
def raise_on_termination() -> Iterator[None]:
    """Raise `SystemExit` on a termination signal, so that processes and folders are cleaned up.

    The handler of a signal that the caller handles or ignores is not replaced.
    """
    unhandled: list[signal.Signals] = []
    if threading.current_thread() is threading.main_thread():  # only the main thread may set handlers
        unhandled = [number for number in _TERMINATION_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in unhandled:
            signal.signal(number, _exit_once)
        yield
    finally:
        for number in unhandled:
            signal.signal(number, signal.SIG_DFL)


def _exit_once(number: int, _: FrameType | None) -> None:
    for other in _TERMINATION_SIGNALS:  # a second signal would interrupt the clean-up
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)  # the status that a shell reports for a process killed by the signal


def has_default_handler(number: int) -> bool:
    """Return whether the program leaves a signal to Python or to `raise_on_termination`."""
    return signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler, _exit_once)


def reset_signals() -> None:
    """Replace the handlers, the signal mask and the wakeup descriptor that a worker process inherited.

    Ignored signals stay ignored, except those of the time limits.
    """
    signal.set_wakeup_fd(-1)  # an event loop would take the worker's signals for its program's
    handlers = {signal.SIGINT: signal.default_int_handler, **dict.fromkeys(_TERMINATION_SIGNALS, _exit_once)}
    for number in _VALID_SIGNALS:
        if number in handlers and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handlers[signal.Signals(number)])
        elif callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGALRM, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


@contextmanager
def defer_signals() -> Iterator[None]:
    """Deliver signals when the block has ended. A process started in it has them blocked.

    Blocking them is not enough: a library's thread may take a signal, and Python then runs its handler in the main
    thread. So Python's handlers are replaced too. They run in the main thread only, so other threads keep them.
    """
    handlers = _list_handlers() if threading.current_thread() is threading.main_thread() else {}
    received: list[int] = []
    mask = _change_mask("SIG_BLOCK", ())  # first, because a handler that raises discards the result
    try:
        _change_mask("SIG_BLOCK", _VALID_SIGNALS)
        for number in handlers:
            signal.signal(number, lambda number, _: received.append(number))
        yield
    finally:
        try:
            _restore_handlers(handlers, received)
        except BaseException:  # a restored handler has raised, before the others were restored
            _restore_handlers(handlers, received)
            raise
        finally:
            _change_mask("SIG_SETMASK", mask)


def _list_handlers() -> dict[int, Any]:
    """Return the handlers in Python, and the default action of the termination signals."""
    handlers = {number: signal.getsignal(number) for number in _VALID_SIGNALS}
    return {
        number: handler
        for number, handler in handlers.items()
        if callable(handler) or (handler is signal.SIG_DFL and number in _TERMINATION_SIGNALS)
    }


def _restore_handlers(handlers: Mapping[int, Any], received: Iterable[int]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
    for number in received:
        signal.raise_signal(number)


def _change_mask(how: str, signals: Iterable[int]) -> Iterable[int]:
    """Change the signal mask of this thread and return the previous one; Windows has none."""
    return signal.pthread_sigmask(getattr(signal, how), signals) if hasattr(signal, "pthread_sigmask") else ()
