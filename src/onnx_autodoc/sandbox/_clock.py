"""How long a child may take. It ends itself: the kernel's timers need nobody who watches, and stop native code too.

A time that the user gives is on the wall. Without one the processor's time decides, since a machine may be busy with
other things; the wall is the backstop.
"""

import math
import signal
import time
from typing import Final

from onnx_autodoc.limits import Limits, limits

_FIRST: Final = 10.0  # seconds, before it is known how much there is to do: some of those for the first model
_EACH_MODEL: Final = 18.0  # seconds: twice what as many nodes take as may be without a word
_EACH_BEYOND: Final = 0.00025  # seconds, for each node beyond these
_BUSY: Final = 4.0  # times as long on the wall, where others want the processor too


class _Clock:
    """The one clock of this process. It runs in children alone."""

    seconds = 0.0
    started: float | None = None
    fixed = False
    models = 0


def start() -> None:
    """For everything together. With --timeout that is all; else `allow` gives more."""
    given = limits().seconds
    _Clock.fixed, _Clock.seconds, _Clock.started = given is not None, given or _FIRST, time.monotonic()
    _Clock.models = 0
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    _arm(_Clock.started)


def allow(seconds: float) -> None:
    """So much longer, for work that is known by now: a graph of so many nodes, weights of so many bytes."""
    if _Clock.started is not None and not _Clock.fixed:
        _Clock.seconds += seconds
        _arm(_Clock.started)


def allow_model(nodes: int) -> None:
    """For a graph of so many nodes. Whatever a file within the usual limits holds, it is over within 20 seconds."""
    begun = 0.0 if _Clock.models else _FIRST
    _Clock.models += 1
    allow(_EACH_MODEL - begun + _EACH_BEYOND * max(nodes - Limits().nodes, 0))


def left() -> float | None:
    """Seconds until the time that the user gave is over; None where there is none."""
    if _Clock.started is None or not _Clock.fixed:
        return None
    return _Clock.started + _Clock.seconds - time.monotonic()


def _arm(started: float) -> None:
    import resource  # not on every system; children are not, either

    wall = _Clock.seconds * (1 if _Clock.fixed else _BUSY)
    signal.setitimer(signal.ITIMER_REAL, max(started + wall - time.monotonic(), 0.001))
    soft, hard = math.ceil(_Clock.seconds) + 1, resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard < 0 else min(soft, hard), hard))
