"""Where output goes: files that may be written, and standard output, which may be gone, full or not of our letters."""

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from onnx_autodoc.errors import BadInput, LimitReached

if TYPE_CHECKING:
    from io import TextIOWrapper

# Non-blocking, for a pipe that takes a file's place.
_BEHIND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


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


def check_once(targets: Iterable[Path | None]) -> None:
    """A report takes the place of no other one."""
    seen: set[object] = set()
    for path in targets:
        marks = {"-"} if path is None else _marks(path)
        if not seen.isdisjoint(marks):
            raise BadInput(f"-o {path or '-'}: stands twice")
        seen |= marks


def keep_apart(targets: Iterable[Path | None], sources: Iterable[str | None], unseen: Iterable[str] = ()) -> None:
    """A report takes the place of nothing that it is made from, by whatever name that goes.

    What is `unseen` is not looked at here either: whole paths that a model has, which lead wherever it likes.
    """
    written = [path for path in targets if path is not None]
    given = {*unseen, *(mark for path in sources if path and written for mark in _marks(path))}
    for path in written:
        if not given.isdisjoint(_marks(path)):
            raise BadInput(f"{path}: the report would take the place of what it is made from")


def _marks(path: str | Path) -> set[object]:
    """What tells a file from all others: where it is, and which it is on its disk; of a link also what it leads to."""
    marks: set[object] = set()
    for look in (Path.stat, Path.lstat):
        with suppress(OSError, ValueError):
            found = look(Path(path))
            marks.add((found.st_dev, found.st_ino))
    with suppress(OSError, ValueError):  # the current folder may be gone
        folder, name = os.path.split(path)
        marks |= {os.path.realpath(path), str(Path(os.path.realpath(folder), name))}
    return marks


def size_of(path: Path) -> int:
    """Of a file that something is put behind: a plain one, or not there yet. Nothing else is opened, or waited for."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return _plain(path, found)


def _plain(path: Path, found: os.stat_result) -> int:
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{path}: cannot be written: it is no regular file")
    return found.st_size


def append(path: Path, data: bytes) -> None:
    """Behind what others wrote there."""
    size_of(path)
    try:
        with os.fdopen(os.open(path, _BEHIND, 0o666), "ab") as file:
            _plain(path, os.fstat(file.fileno()))  # again: it may be another one by now
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
