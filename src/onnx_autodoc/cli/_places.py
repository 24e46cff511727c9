"""Where output goes: files that may be written, and standard output, which may be gone, full or not of our letters."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from onnx_autodoc.errors import BadInput, LimitReached

if TYPE_CHECKING:
    from io import TextIOWrapper


def checked(output: str) -> Path:
    """A path that the system can look for at all."""
    path = Path(output)
    try:
        if not output:
            raise ValueError("the name of the file is empty")
        path.stat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise BadInput(f"-o {output}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return path


def file_at(output: str) -> Path:
    """A file that can take a report, known before any work is done."""
    path = checked(output)
    if output.endswith(os.sep) or path.is_dir():
        raise BadInput(f"-o {output}: a folder; name a file")
    if path.exists() and not path.is_file():
        raise BadInput(f"-o {output}: a pipe or a device; for standard output use -o -")
    if not path.parent.is_dir():
        raise BadInput(f"-o {output}: there is no folder {path.parent}")
    return path


def keep_apart(targets: Iterable[Path | None], sources: Iterable[str | None]) -> None:
    """A report takes the place of no other one, and of nothing that it is made from."""
    given = {os.path.realpath(path) for path in sources if path}
    seen: set[str] = set()
    for path in targets:
        place = "-" if path is None else os.path.realpath(path)
        if place in seen:
            raise BadInput(f"-o {path or '-'}: stands twice")
        if place in given:
            raise BadInput(f"-o {path}: the report would take the place of what it is made from")
        seen.add(place)


def make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be made: {error.strerror}") from None


def append(path: Path, data: bytes) -> None:
    """Behind what others wrote there."""
    try:
        with path.open("ab") as file:
            file.write(data)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


def is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def has_color() -> bool:
    return is_terminal() and "NO_COLOR" not in os.environ


def put(made: str | bytes) -> None:
    """To standard output. That its reader has gone (`| head`) changes no verdict, so it is no error."""
    if sys.stdout is None:
        raise BadInput("standard output is closed; write to a file with -o")
    try:
        _written(made)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is not written at exit, either
        if not isinstance(error, BrokenPipeError):
            raise LimitReached(f"standard output: could not be written: {error.strerror}") from None


def _written(made: str | bytes) -> None:
    if isinstance(made, bytes):
        sys.stdout.buffer.write(made)
        return
    try:
        made.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        cast("TextIOWrapper", sys.stdout).reconfigure(encoding="utf-8")  # as files are
    sys.stdout.write(made)
