"""The clock of the whole command rings while a model runs: folders and processes go first, then it rings as before."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class _Late(BaseException):
    """Not an error that anybody on the way may take for one of the model."""


@contextmanager
def cleared_when_late() -> Iterator[None]:
    """The kernel's alarm would end this process where it stands. Who handles it otherwise keeps that."""
    if not _is_ours():
        yield
        return
    signal.signal(signal.SIGALRM, _raise)
    try:
        yield
    except _Late:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGALRM)  # the parent reads off this what there was too little of
        raise
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _is_ours() -> bool:
    """Python lets the main thread alone handle signals; not every system has this one."""
    alarm = getattr(signal, "SIGALRM", None)
    return (
        alarm is not None
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(alarm) is signal.SIG_DFL
    )


def _raise(_number: int, _frame: FrameType | None) -> None:
    raise _Late
