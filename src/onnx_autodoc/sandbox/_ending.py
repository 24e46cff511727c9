"""Being told to end while a model runs: cleared up as after Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

# kill, a scheduler, a closed terminal; not every system has the last one
_ENDINGS: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def cleared_up() -> Iterator[None]:
    """Such a signal becomes an exception, so that processes and folders go; who handles or ignores it keeps that."""
    plain: list[signal.Signals] = []
    if threading.current_thread() is threading.main_thread():  # Python lets no other one do so
        plain = [number for number in _ENDINGS if signal.getsignal(number) is signal.SIG_DFL]
    for number in plain:
        signal.signal(number, _leave)
    try:
        yield
    finally:
        for number in plain:
            signal.signal(number, signal.SIG_DFL)


def _leave(number: int, _: FrameType | None) -> None:
    for other in _ENDINGS:  # once is enough: a second one would break into the clearing up
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)  # what a shell says of a process that died of it


@contextmanager
def undisturbed() -> Iterator[None]:
    """Who tells this process to end, or interrupts it, is heard when what is done inside is done.

    Python's own handlers wait, not the system's mask: that one holds for a thread, and any other thread of a library
    would take the signal instead. Outside the main thread none of them breaks in anyway.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    numbers = (signal.SIGINT, *_ENDINGS)
    before = {number: signal.signal(number, lambda told, _: heard.append(told)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for told in heard:
            signal.raise_signal(told)
