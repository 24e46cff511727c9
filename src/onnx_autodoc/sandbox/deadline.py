"""The deadline of a worker process, enforced by kernel timers: they need no thread and stop native code too.

A time limit from the user is wall-clock time. Without one the limit is processor time, since the machine may be busy,
and wall-clock time is the backstop.
"""

import math
import signal
import time
from typing import Final

from onnx_autodoc.limits import Limits, current_limits

_START_SECONDS: Final = 10.0  # until the amount of work is known; counted towards the first model
_SECONDS_PER_MODEL: Final = 18.0  # twice the time of a graph with the default node limit
_SECONDS_PER_EXTRA_NODE: Final = 0.00025  # for each node above the default limit
_WALL_CLOCK_FACTOR: Final = 4.0  # wall-clock time per processor time on a busy machine


class _Deadline:
    """The state of this process. It is set in worker processes only."""

    seconds = 0.0
    started: float | None = None
    is_fixed = False
    models = 0


def start_deadline() -> None:
    """Start the timers. A user's `--timeout` covers everything; otherwise `extend_deadline` adds time."""
    limit = current_limits().seconds
    _Deadline.is_fixed, _Deadline.seconds = limit is not None, limit or _START_SECONDS
    _Deadline.started, _Deadline.models = time.monotonic(), 0
    _set_timers(_Deadline.started)


def extend_deadline(seconds: float) -> None:
    """Add time for work whose amount is known now: nodes of a graph, bytes of weights."""
    if _Deadline.started is not None and not _Deadline.is_fixed:
        _Deadline.seconds += seconds
        _set_timers(_Deadline.started)


def extend_deadline_for_model(nodes: int) -> None:
    """Add the time for a graph of `nodes` nodes: less than 20 s of processor time within the default limits."""
    granted = 0.0 if _Deadline.models else _START_SECONDS
    _Deadline.models += 1
    extend_deadline(_SECONDS_PER_MODEL - granted + _SECONDS_PER_EXTRA_NODE * max(nodes - Limits().nodes, 0))


def seconds_left() -> float | None:
    """Return the seconds left of the user's time limit, or None if there is none."""
    if _Deadline.started is None or not _Deadline.is_fixed:
        return None
    return _Deadline.started + _Deadline.seconds - time.monotonic()


def _set_timers(started: float) -> None:
    import resource  # missing on Windows, which has no worker processes either

    wall = _Deadline.seconds * (1 if _Deadline.is_fixed else _WALL_CLOCK_FACTOR)
    signal.setitimer(signal.ITIMER_REAL, max(started + wall - time.monotonic(), 0.001))
    soft, hard = math.ceil(_Deadline.seconds) + 1, resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard < 0 else min(soft, hard), hard))
