"""A file written whole or not at all, whenever the program is killed.

The bytes go into a file that has no name yet, in the target's folder. Only when they are on the disk does it get one:
the target's if there is no such file, else a hidden one that takes the target's place in one step. Where a file system
has no files without a name, the hidden name is there while it is written.

A target that exists keeps its permissions, and its owner where we may give it to them. A link to a file stays a link:
what it leads to is written, as by every other program.
"""

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from onnx_autodoc.errors import AutodocError, BadInput, LimitReached

_FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO}
_UNABLE: Final = {errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL, errno.EPERM, errno.EXDEV, errno.ENOSYS}
_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NAMELESS: Final = getattr(os, "O_TMPFILE", 0)
_NEW: Final = os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)
_MODE: Final = 0o666  # less the umask, or what the folder's access list says


def write(path: Path, data: bytes, through: bool = True) -> None:
    """Whoever looks sees the old file or the new one, never a part. Without `through`, a link is replaced."""
    target, old = _target(path, through)
    try:
        folder = os.open(target.parent, _FOLDER)
        try:
            if not _without_name(folder, target.name, data, old):
                _with_name(folder, target.name, data, old)
            _settle(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise _said(path, error) from None


def _target(path: Path, through: bool) -> tuple[Path, os.stat_result | None]:
    """The file itself, links followed, and what is there now."""
    try:
        old = path.stat() if through or not path.is_symlink() else None
    except FileNotFoundError:
        old = None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    if old is not None and not stat.S_ISREG(old.st_mode):
        kind = "a folder; name a file" if stat.S_ISDIR(old.st_mode) else "a pipe or a device; for standard output use -"
        raise BadInput(f"{path}: {kind}")
    if old is not None and not os.access(path, os.W_OK):
        raise BadInput(f"{path}: cannot be written: it is read-only")
    return Path(os.path.realpath(path)) if through and path.is_symlink() else path, old


def _without_name(folder: int, name: str, data: bytes, old: os.stat_result | None) -> bool:
    """Whether it could be done so."""
    if not _NAMELESS:
        return False
    try:
        handle = os.open(".", _NEW | _NAMELESS, _MODE, dir_fd=folder)
    except OSError as error:
        if error.errno in _UNABLE:
            return False
        raise
    try:
        _fill(handle, data, old)
        return _name(handle, folder, name, old is None)
    finally:
        os.close(handle)


def _name(handle: int, folder: int, name: str, new: bool) -> bool:
    """Give a whole file its name; False where this system cannot."""
    if new:
        with contextlib.suppress(FileExistsError):  # or a link to nowhere, or it has come meanwhile
            return _linked(handle, folder, name)
    hidden = _hidden()
    if not _linked(handle, folder, hidden):
        return False
    _rename(folder, hidden, name)
    return True


def _linked(handle: int, folder: int, name: str) -> bool:
    try:  # without a folder's descriptor Python would make a link to the link in /proc
        os.link(f"/proc/self/fd/{handle}", name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
    except OSError as error:
        if error.errno in _UNABLE:
            return False
        raise
    return True


def _with_name(folder: int, name: str, data: bytes, old: os.stat_result | None) -> None:
    hidden = _hidden()
    handle = os.open(hidden, _NEW | os.O_CREAT | os.O_EXCL, _MODE, dir_fd=folder)
    try:
        try:
            _fill(handle, data, old)
        finally:
            os.close(handle)
    except BaseException:
        _drop(folder, hidden)
        raise
    _rename(folder, hidden, name)


def _fill(handle: int, data: bytes, old: os.stat_result | None) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]
    if old is not None:
        with contextlib.suppress(OSError):
            os.fchown(handle, old.st_uid, old.st_gid)
        os.fchmod(handle, stat.S_IMODE(old.st_mode) & 0o777)
    os.fsync(handle)


def _rename(folder: int, hidden: str, name: str) -> None:
    try:
        os.rename(hidden, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        _drop(folder, hidden)
        raise


def _drop(folder: int, hidden: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(hidden, dir_fd=folder)


def _settle(folder: int) -> None:
    """The new name on the disk, too. A folder that may not be read has it there a little later."""
    with contextlib.suppress(OSError):
        handle = os.open(".", os.O_RDONLY, dir_fd=folder)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _hidden() -> str:
    return f".onnx-autodoc.{secrets.token_hex(8)}"


def _said(path: Path, error: OSError) -> AutodocError:
    kind = LimitReached if error.errno in _FULL else BadInput
    return kind(f"{path}: could not be written: {error.strerror}")
