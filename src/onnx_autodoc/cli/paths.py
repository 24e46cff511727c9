"""Checks of output paths before any work is done."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from onnx_autodoc.errors import BadInput

# Non-blocking, in case a pipe replaces the file.
_APPEND_FLAGS: Final = (
    os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
)


def check_path(output: str) -> Path:
    """Return the path of `-o` if the system can look it up."""
    path = Path(output)
    try:
        if not output:
            raise ValueError("the file name is empty")
        path.stat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise BadInput(f"-o {output}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return path


def check_file(output: str) -> Path:
    """Return the path of `-o` if a file can be written there."""
    path = check_path(output)
    if output.endswith(os.sep) or path.is_dir():
        raise BadInput(f"-o {output}: is a folder; name a file")
    if path.exists() and not path.is_file():
        raise BadInput(f"-o {output}: is a pipe or a device; use -o - for standard output")
    if not path.parent.is_dir():
        raise BadInput(f"-o {output}: folder not found: {path.parent}")
    return path


def check_distinct(targets: Iterable[Path | None]) -> None:
    """Refuse two outputs to one file."""
    used: set[object] = set()
    for path in targets:
        identities = {"-"} if path is None else _identities(path)
        if not used.isdisjoint(identities):
            raise BadInput(f"-o {path or '-'}: given twice")
        used |= identities


def check_not_source(
    targets: Iterable[Path | None], sources: Iterable[str | None], uninspected: Iterable[str] = ()
) -> None:
    """Refuse to overwrite a source file, under any of its names.

    `uninspected` are absolute paths from a model, which may lead anywhere: they are compared, not looked up.
    """
    written = [path for path in targets if path is not None]
    if not written:
        return
    protected: set[object] = {*uninspected}
    for source in filter(None, sources):
        protected |= _identities(source)
    for path in written:
        if not protected.isdisjoint(_identities(path)):
            raise BadInput(f"{path}: the output would overwrite a source file")


def _identities(path: str | Path) -> set[object]:
    """Return a file's device, inode and real paths; for a link also those of its target."""
    identities: set[object] = set()
    for look_up in (Path.stat, Path.lstat):
        with suppress(OSError, ValueError):
            status = look_up(Path(path))
            identities.add((status.st_dev, status.st_ino))
    with suppress(OSError, ValueError):  # the current folder may be deleted
        folder, name = os.path.split(path)
        identities |= {os.path.realpath(path), str(Path(os.path.realpath(folder), name))}
    return identities


def appendable_size(path: Path) -> int:
    """Return the size of a file to append to, 0 if it does not exist. Refuses anything but a regular file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return _regular_size(path, status)


def _regular_size(path: Path, status: os.stat_result) -> int:
    if not stat.S_ISREG(status.st_mode):
        raise BadInput(f"{path}: cannot be written: not a regular file")
    return status.st_size


def append_to_file(path: Path, data: bytes) -> None:
    appendable_size(path)
    try:
        with os.fdopen(os.open(path, _APPEND_FLAGS, 0o666), "ab") as file:
            _regular_size(path, os.fstat(file.fileno()))  # it may have been replaced since
            file.write(data)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
