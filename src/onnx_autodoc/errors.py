"""The two ways a request can fail. Each is one line for the reader; the command line turns them into exit codes."""


class AutodocError(Exception):
    """A failure that is said in one line. Its message names what is wrong and where."""

    exit_code = 2


class BadInput(AutodocError):
    """The file or the request is wrong."""


class LimitReached(AutodocError):
    """A named limit was reached; the message names the option that raises it."""

    exit_code = 3
