"""The command line: parses, calls one function per command, turns failures into one line and an exit code.

Nothing heavy is imported before a command needs it.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from onnx_autodoc.cli._limits import check_memory
from onnx_autodoc.cli._parser import parse
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.sandbox import internal

_LONGEST = 1_000  # letters of a failure


def main(argv: Sequence[str] | None = None) -> int:
    # numpy's linear algebra would start a thread per core and reserve memory for each; nothing here uses it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        options = parse(sys.argv[1:] if argv is None else argv)
        check_memory()
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
    except Exception as mistake:  # our own: one line, not a traceback
        return _fail(internal(mistake), 2)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)


def _fail(message: str, code: int) -> int:
    from onnx_autodoc.text import clean

    if sys.stderr is not None:
        with suppress(OSError):  # nobody listens; the code says it
            sys.stderr.write(f"onnx-autodoc: error: {clean(message, _LONGEST)}\n")
            sys.stderr.flush()
    return code
