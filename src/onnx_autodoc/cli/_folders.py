"""The folders that reports go into, held open, and what is there already.

A path that the user named is followed wherever it leads. Below a folder that the user named nothing is: what lies there
may be a stranger's, and must not choose which file is written.
"""

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import Final

from onnx_autodoc.errors import BadInput

_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_INNER: Final = _FOLDER | getattr(os, "O_NOFOLLOW", 0)


def named(path: Path, stack: contextlib.ExitStack) -> tuple[int, str]:
    """The folder of a file, links followed, and its name there."""
    try:
        path.stat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if target is path:
        _make(path.parent, stack)
    return os.open(target.parent, _FOLDER), target.name


def beneath(path: Path, below: Path, stack: contextlib.ExitStack) -> tuple[int, str]:
    """The same of one below a folder, through no link."""
    _make(below, stack)
    here, (*parents, name) = os.open(below, _FOLDER), path.relative_to(below).parts
    try:
        for at, part in enumerate(parents, 1):
            where = below.joinpath(*parents[:at])
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=here)
                stack.callback(_drop, where)
            old, here = here, _entered(here, part, where)
            os.close(old)
    except BaseException:
        os.close(here)
        raise
    return here, name


def _entered(here: int, part: str, where: Path) -> int:
    try:
        return os.open(part, _INNER, dir_fd=here)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise BadInput(f"{where}: is a link or a file, and pictures need a folder of this name; move it") from None
        raise


def _make(folder: Path, stack: contextlib.ExitStack) -> None:
    """A folder that nothing came into is gone again."""
    missing = []
    while not folder.exists() and folder != folder.parent:
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        try:
            each.mkdir(exist_ok=True)
        except OSError as error:
            raise BadInput(f"{each}: cannot be made: {error.strerror}") from None
        stack.callback(_drop, each)


def _drop(folder: Path) -> None:
    with contextlib.suppress(OSError):  # there is something in it
        folder.rmdir()


def replaced(folder: int, name: str, path: Path) -> os.stat_result | None:
    """What is there now, and can be replaced. A link below a folder is as good as nothing."""
    try:
        old = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(old.st_mode):
        return None
    if not stat.S_ISREG(old.st_mode):
        kind = "a folder; name a file" if stat.S_ISDIR(old.st_mode) else "a pipe or a device; for standard output use -"
        raise BadInput(f"{path}: {kind}")
    if not os.access(name, os.W_OK, dir_fd=folder):
        raise BadInput(f"{path}: cannot be written: it is read-only")
    return old
