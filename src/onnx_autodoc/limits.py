"""How much a file may ask for: named limits, each with the option that raises it.

They hold for everything that is done inside `within`, so that no function has to hand them on. Reached limits are
`LimitReached`, exit 3, and the line names the option.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple

from onnx_autodoc.errors import LimitReached


class Limits(NamedTuple):
    """Each is far above what real models need, and far below what fills a machine."""

    nodes: int = 70_000  # in the file, with subgraphs and functions
    depth: int = 64  # graphs inside graphs, functions inside functions
    steps: int = 150_000  # rules applied to find shapes; `EACH` more for each node of the file
    rows: int | None = None  # nodes listed, a function's at each of its calls; None: by the nodes of the file
    string: int = 1 << 24  # bytes of a name or a note: 16 MiB is no name
    text: int | None = None  # bytes of a JSON card, a policy, figures, prices, devices; None: by the notation
    memory: int = 1_000_000_000  # bytes, of each process
    seconds: float | None = None  # for everything together; None: by what there is to do
    follow_links: bool = False  # whether external data may lie behind links


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

_NOW: Final[ContextVar[Limits]] = ContextVar("limits", default=Limits())  # noqa: B039


def limits() -> Limits:
    """Those that hold here."""
    return _NOW.get()


@contextmanager
def within(chosen: Limits) -> Iterator[None]:
    token = _NOW.set(chosen)
    try:
        yield
    finally:
        _NOW.reset(token)


def reached(name: str, said: str) -> LimitReached:
    """The error of a limit, with the option that raises it."""
    return LimitReached(f"{said}; {OPTIONS[name]} raises the limit")
