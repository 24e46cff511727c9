"""The command line: parses, calls one function per command, turns failures into one line and an exit code.

Nothing heavy is imported before a command needs it.
"""

import os
import sys
from collections.abc import Sequence

from onnx_autodoc.cli._parser import parse
from onnx_autodoc.errors import AutodocError


def main(argv: Sequence[str] | None = None) -> int:
    # numpy's linear algebra would start a thread per core and reserve memory for each; nothing here uses it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        options = parse(sys.argv[1:] if argv is None else argv)
        status: int = options.run(options)
        return status
    except AutodocError as error:
        return _fail(str(error), error.exit_code)
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): nothing more to say, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _fail("out of memory", 3)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)


def _fail(message: str, code: int) -> int:
    line = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in message)
    print(f"onnx-autodoc: error: {line}", file=sys.stderr)  # noqa: T201
    return code
