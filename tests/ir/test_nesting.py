"""The trampoline for walks over nested graphs."""

import sys

import pytest

from onnx_autodoc.ir import Deep, deeply


def count_down(number: int) -> Deep[int]:
    return 0 if number == 0 else 1 + (yield count_down(number - 1))


def fail_at(number: int) -> Deep[int]:
    if number == 0:
        raise ValueError("innermost")
    try:
        inner: int = yield fail_at(number - 1)
    except ValueError:
        return number
    return inner


def test_nesting_is_not_limited_by_the_stack() -> None:
    depth = 10 * sys.getrecursionlimit()
    assert deeply(count_down(depth)) == depth


def test_exceptions_reach_the_walk_that_waits() -> None:
    assert deeply(fail_at(3)) == 1


def test_exceptions_of_the_outermost_walk_are_raised() -> None:
    with pytest.raises(ValueError, match="innermost"):
        deeply(fail_at(0))
