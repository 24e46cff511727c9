"""A command whose work touches strangers' files: it is done apart, within the limits that the options give."""

import argparse
import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from onnx_autodoc.cli._limits import limits_of
from onnx_autodoc.errors import LimitReached
from onnx_autodoc.limits import within
from onnx_autodoc.sandbox import guarded

if TYPE_CHECKING:
    from onnx_autodoc.cli._answer import Answer


def answered(work: "Callable[[argparse.Namespace], Answer]", about: str = "") -> Callable[[argparse.Namespace], int]:
    """`about` is what messages begin with where the user named no model."""

    def run(options: argparse.Namespace) -> int:
        from onnx_autodoc.cli._answer import Answer, deliver

        named = _about(options) or about
        with within(limits_of(options)), _able(named):
            answer = guarded(Answer, lambda: _done(work, options, named), named)
            deliver(answer)
        return answer.status

    return run


def _done(work: "Callable[[argparse.Namespace], Answer]", options: argparse.Namespace, about: str) -> "Answer":
    with _able(about):
        return work(options)


@contextmanager
def _able(about: str) -> Iterator[None]:
    """Here and in the child: what no file is to blame for."""
    try:
        yield
    except (OSError, ImportError) as error:
        many = os.strerror(errno.EMFILE)
        if many not in str(error):
            raise
        raise LimitReached(f"{about}: {many}; allow more of them (ulimit -n)") from None


def _about(options: argparse.Namespace) -> str:
    return str(getattr(options, "model", None) or ", ".join(getattr(options, "models", ())))
