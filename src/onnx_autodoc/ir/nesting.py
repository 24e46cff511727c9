"""A trampoline for walks over nested graphs.

The file decides how deep its graphs nest, and the stack of a thread may be small, so nothing here recurses. A walk over
one graph is a generator. At a subgraph it yields the walk over that subgraph and receives its result:
`result = yield walk(subgraph)`. `deeply` keeps the suspended walks in a list.
"""

from collections.abc import Generator
from typing import Any, TypeVar

Result = TypeVar("Result")
Deep = Generator[Any, Any, Result]


def deeply(walk: Deep[Result]) -> Result:
    """Run `walk` with all walks that it yields and return its result. Exceptions propagate through suspended walks."""
    suspended: list[Deep[Any]] = [walk]
    result: Any = None
    raised: BaseException | None = None
    while suspended:
        try:
            inner = suspended[-1].send(result) if raised is None else suspended[-1].throw(raised)
            suspended.append(inner)
            result = raised = None
        except StopIteration as stop:
            suspended.pop()
            result, raised = stop.value, None
        except BaseException as error:  # raised again in the walk that waits for this one, or below
            suspended.pop()
            result, raised = None, error
    if raised is not None:
        raise raised
    final: Result = result
    return final
