"""Room for what nests: subgraphs go at most as deep as the reader allows, some ten frames each."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_DEEP: Final = 20_000  # Python frames


@contextmanager
def deep_recursion() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEP))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
