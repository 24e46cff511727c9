"""Limits on the resources that a file may use, each with its command-line option.

`within` sets them for a block of code, so that functions need not pass them on.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple

from onnx_autodoc.errors import LimitReached


class Limits(NamedTuple):
    """Each default is far above the needs of real models, and far below the capacity of a machine."""

    nodes: int = 70_000  # in the file, with subgraphs and functions
    depth: int = 64  # graphs inside graphs, functions inside functions
    steps: int = 150_000  # rules applied to find shapes; `EACH` more for each node of the file
    rows: int | None = None  # nodes listed, a function's at each of its calls; None: by the nodes of the file
    string: int = 1 << 24  # bytes of a name or a documentation string
    text: int | None = None  # bytes of a JSON card, a policy, figures, prices, devices; None: by the notation
    memory: int = 1_000_000_000  # bytes, of each process
    seconds: float | None = None  # for the whole command; None: by the amount of work
    follow_links: bool = False  # whether external data may be behind links


OPTIONS: Final = {
    "nodes": "--max-nodes",
    "depth": "--max-depth",
    "steps": "--max-steps",
    "rows": "--max-rows",
    "string": "--max-string",
    "text": "--max-text",
    "memory": "--max-memory",
    "seconds": "--timeout",
    "follow_links": "--follow-links",
}

MAX_DEPTH: Final = 200
MAX_BYTES: Final = 1 << 62  # the system counts in 64 bits
MIN_MEMORY_BYTES: Final = 200_000_000  # of Python and the libraries
_RANGES: Final[dict[str, tuple[float, float]]] = {  # of others: from 1 to MAX_BYTES
    "depth": (1, MAX_DEPTH),
    "memory": (MIN_MEMORY_BYTES, MAX_BYTES),
    "seconds": (0.001, 999_999_999.999),
    "follow_links": (False, True),
}

_CURRENT: Final[ContextVar[Limits]] = ContextVar("limits", default=Limits())  # noqa: B039


def current_limits() -> Limits:
    """Return the limits of the enclosing `within` block, or the defaults."""
    return _CURRENT.get()


@contextmanager
def within(limits: Limits) -> Iterator[None]:
    """Set the limits for a block, in this thread or task only. Raises `ValueError` if one is out of range."""
    _check(limits)
    token = _CURRENT.set(limits)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def _check(limits: Limits) -> None:
    for name, number in limits._asdict().items():
        least, most = _RANGES.get(name, (1, MAX_BYTES))
        is_number = isinstance(number, int | float) and (name == "seconds" or isinstance(number, int))
        if number is None and Limits._field_defaults[name] is None:
            continue
        if not is_number or not least <= number <= most:
            raise ValueError(f"Limits.{name}: {number!r} is not a number from {least:,} to {most:,}")


def limit_error(name: str, message: str) -> LimitReached:
    """Return the error for a reached limit, with the option that raises it."""
    return LimitReached(f"{message}; {OPTIONS[name]} raises the limit")
