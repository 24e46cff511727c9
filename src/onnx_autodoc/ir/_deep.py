"""What nests is walked without Python's own stack: its depth is the file's, and a thread's stack may be small.

A walk over one graph is a generator. Where it comes to a graph inside, it yields the walk over that one and is sent
what it returns: `found = yield walk(inner)`. `deeply` keeps those that wait in a list.
"""

from collections.abc import Generator
from typing import Any, TypeVar

Result = TypeVar("Result")
Deep = Generator[Any, Any, Result]


def deeply(walk: Deep[Result]) -> Result:
    """What a walk returns, after all walks inside it. What one of them raises goes through those that wait for it."""
    waiting: list[Deep[Any]] = [walk]
    found: Any = None
    raised: BaseException | None = None
    while waiting:
        try:
            inner = waiting[-1].send(found) if raised is None else waiting[-1].throw(raised)
            waiting.append(inner)
            found = raised = None
        except StopIteration as stop:
            waiting.pop()
            found, raised = stop.value, None
        except BaseException as error:  # it is raised again below, at the latest
            waiting.pop()
            found, raised = None, error
    if raised is not None:
        raise raised
    result: Result = found
    return result
