"""Commands that work on untrusted files: run in a worker process, within the limits of the options."""

import argparse
import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from onnx_autodoc.cli.options import build_limits
from onnx_autodoc.errors import LimitReached
from onnx_autodoc.limits import within

if TYPE_CHECKING:
    from onnx_autodoc.cli.result import CommandResult


def isolate(
    work: "Callable[[argparse.Namespace], CommandResult]", default_subject: str = ""
) -> Callable[[argparse.Namespace], int]:
    """Return a command that does `work` in a worker process, delivers its documents and returns the exit code.

    `default_subject` begins error messages if the user named no model.
    """

    def run(options: argparse.Namespace) -> int:
        from onnx_autodoc.cli.result import CommandResult, deliver
        from onnx_autodoc.sandbox import run_isolated

        models = getattr(options, "model", None) or ", ".join(getattr(options, "models", ()))
        subject = str(models or default_subject)

        def work_with_file_errors() -> "CommandResult":
            with _explain_file_limit(subject):
                return work(options)

        with _log_to_stderr(options), within(build_limits(options)), _explain_file_limit(subject):
            result = run_isolated(CommandResult, work_with_file_errors, subject)
            deliver(result)
        return result.status

    return run


@contextmanager
def _explain_file_limit(subject: str) -> Iterator[None]:
    """Turn "too many open files", here and in the worker, into an error that names the limit."""
    try:
        yield
    except (OSError, ImportError) as error:
        too_many = os.strerror(errno.EMFILE)
        if too_many not in str(error):
            raise
        raise LimitReached(f"{subject}: {too_many}; raise the limit (ulimit -n)") from None


@contextmanager
def _log_to_stderr(options: argparse.Namespace) -> Iterator[None]:
    """Log steps to standard error with --verbose; with --debug also their times and the traceback of an error.

    The handler has a duplicate of the stream, because a worker process closes its standard error. Messages contain
    names from files, so they are escaped.
    """
    if not (options.verbose or options.debug) or sys.stderr is None:
        yield
        return
    import logging

    from onnx_autodoc.text import sanitize_text

    class SanitizingFormatter(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return sanitize_text(super().format(record))

    logger = logging.getLogger("onnx_autodoc")
    with os.fdopen(os.dup(2), "w", encoding="utf-8", errors="backslashreplace") as stream:
        handler, level = logging.StreamHandler(stream), logger.level
        handler.setFormatter(SanitizingFormatter("onnx-autodoc: %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG if options.debug else logging.INFO)
        try:
            yield
        except Exception:
            logger.debug("failed", exc_info=True)
            raise
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
