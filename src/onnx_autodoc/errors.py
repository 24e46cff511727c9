"""Errors with a message of one line and the exit code of the command line."""


class AutodocError(Exception):
    """Base class. The message states the error and its location in one line."""

    exit_code = 2


class BadInput(AutodocError):
    """The file or the request is wrong."""


class LimitReached(AutodocError):
    """A named limit was reached; the message names the option that raises it."""

    exit_code = 3
