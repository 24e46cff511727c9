"""The command line: parses the arguments, calls one function per command, reports errors as one line and an exit code.

Nothing heavy is imported before a command needs it.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from onnx_autodoc.cli.options import check_memory
from onnx_autodoc.cli.parser import parse
from onnx_autodoc.errors import AutodocError

_MAX_ERROR_CHARS = 1_000


def main(argv: Sequence[str] | None = None) -> int:
    # numpy's linear algebra, which is not used, would start a thread per core and reserve memory for each.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        options = parse(sys.argv[1:] if argv is None else argv)
        check_memory()
        status: int = options.run(options)
        return status
    except AutodocError as error:
        return _report_error(str(error), error.exit_code)
    except BrokenPipeError:
        # The reader of the output is gone (`| head`): discard the rest, including the data that Python flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _report_error("out of memory", 3)
    except Exception as error:  # a bug of the tool
        from onnx_autodoc.sandbox import internal_error

        return _report_error(internal_error(error), 2)
    except KeyboardInterrupt:
        return _report_error("interrupted", 130)


def _report_error(message: str, exit_code: int) -> int:
    from onnx_autodoc.text import sanitize

    if sys.stderr is not None:
        with suppress(OSError):  # standard error is closed; the exit code remains
            sys.stderr.write(f"onnx-autodoc: error: {sanitize(message, _MAX_ERROR_CHARS)}\n")
            sys.stderr.flush()
    return exit_code
