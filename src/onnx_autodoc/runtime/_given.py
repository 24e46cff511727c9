"""What a run asks of the system besides time and memory: files, processes, a folder for what is temporary."""

import errno
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from onnx_autodoc.errors import BadInput, LimitReached

_MORE: Final = {
    errno.EMFILE: "allow more open files (ulimit -n)",
    errno.ENFILE: "close other programs",
    errno.EAGAIN: "allow more processes (ulimit -u)",
    errno.ENOMEM: "allow more memory (ulimit -v)",
    errno.ENOSPC: "make room, or name another folder in TMPDIR",
    errno.EDQUOT: "make room, or name another folder in TMPDIR",
}


@contextmanager
def given(about: str) -> Iterator[None]:
    """What it does not give is said in one line, with what helps."""
    try:
        yield
    except OSError as error:
        said = f"{about}: cannot be run here: {error.strerror or error}"
        if error.errno in _MORE:
            raise LimitReached(f"{said}; {_MORE[error.errno]}") from None
        raise BadInput(said) from None


@contextmanager
def temporary() -> Iterator[str]:
    """A folder that is gone afterwards."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="onnx-autodoc-")
    except FileNotFoundError:
        raise BadInput("no folder for temporary files can be written; name one in TMPDIR") from None
    with folder as name:
        yield name
