"""Calls of the Python interface in a worker process."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ops import Operator, custom_operators, register_operator
from onnx_autodoc.sandbox import can_isolate, has_other_threads, run_isolated

T = TypeVar("T")


def call_isolated(result_type: type[T], work: Callable[[], T], subject: str) -> T:
    """Return the result of `work`, done in a worker process within the current limits. `work` must be picklable.

    A fork is fast, but safe only in a program without other threads; with threads the worker is a new interpreter.
    """
    if not can_isolate():
        raise BadInput("isolated: this system cannot fork worker processes")
    if not has_other_threads():
        return run_isolated(result_type, work, subject)
    return run_isolated(result_type, partial(_call_with_operators, custom_operators(), work), subject, fork=False)


def _call_with_operators(operators: tuple[Operator, ...], work: Callable[[], T]) -> T:
    for operator in operators:
        register_operator(operator)
    return work()
