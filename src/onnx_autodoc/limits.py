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

_CURRENT: Final[ContextVar[Limits]] = ContextVar("limits", default=Limits())  # noqa: B039


def current_limits() -> Limits:
    """Return the limits of the enclosing `within` block, or the defaults."""
    return _CURRENT.get()


@contextmanager
def within(limits: Limits) -> Iterator[None]:
    token = _CURRENT.set(limits)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def limit_error(name: str, message: str) -> LimitReached:
    """Return the error for a reached limit, with the option that raises it."""
    return LimitReached(f"{message}; {OPTIONS[name]} raises the limit")
