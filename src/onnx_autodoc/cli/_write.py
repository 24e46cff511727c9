"""Files written whole or not at all, whenever the program is killed; and of several all, or none.

The bytes go into a file that has no name yet, in the target's folder. Only when they are on the disk, those of all the
others too, does it get one: the target's if there is no such file, else a hidden one that takes the target's place in
one step. Where a file system has no files without a name, the hidden name is there while it is written.

A target that exists keeps its permissions, and its owner where we may give it to them. A link that the user named stays
a link: what it leads to is written, as by every other program. Below a folder that the user named nothing is followed:
what lies there may be a stranger's.
"""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from onnx_autodoc.cli._folders import beneath, named, replaced
from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.sandbox import cleared_up, undisturbed

_FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO}
_UNABLE: Final = {errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL, errno.EPERM, errno.EXDEV, errno.ENOSYS}
_NAMELESS: Final = getattr(os, "O_TMPFILE", 0)
_NEW: Final = os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)
_MODE: Final = 0o666  # less the umask, or what the folder's access list says


class File(NamedTuple):
    path: Path
    data: bytes
    below: Path | None = None  # the folder that the user named, where the path itself is not theirs


@contextlib.contextmanager
def written(files: Iterable[File]) -> Iterator[None]:
    """All of them are on the disk when what is done inside begins, and get their names when it has ended well."""
    with cleared_up(), contextlib.ExitStack() as stack:
        whole = [stack.enter_context(_Nameless(file, stack)) for file in files]
        yield
        with undisturbed():  # between two names a file would be left behind
            for each in whole:
                each.name()


class _Nameless:
    """A file whose bytes are on the disk: without a name, or with a hidden one. Not named, it is gone."""

    def __init__(self, file: File, stack: contextlib.ExitStack) -> None:
        self._file, self._stack = file, stack
        self._handle = self._folder = -1
        self._name = self._hidden = ""
        self._old: os.stat_result | None = None

    def __enter__(self) -> "_Nameless":
        path, data, below = self._file
        try:
            with _said(path):
                self._folder, self._name = beneath(path, below, self._stack) if below else named(path, self._stack)
                self._old = replaced(self._folder, self._name, path)
                self._handle = _opened(self._folder)
                if self._handle < 0:
                    self._hide()
                else:
                    _fill(self._handle, data, self._old)
        except BaseException:
            self._close()
            raise
        return self

    def _hide(self) -> None:
        self._hidden = _hidden()
        handle = os.open(self._hidden, _NEW | os.O_CREAT | os.O_EXCL, _MODE, dir_fd=self._folder)
        try:
            _fill(handle, self._file.data, self._old)
        finally:
            os.close(handle)

    def name(self) -> None:
        """Whoever looks sees the old file or the new one, never a part."""
        with _said(self._file.path):
            if not self._linked():
                os.rename(self._hidden, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
                self._hidden = ""
            _settle(self._folder)

    def _linked(self) -> bool:
        """Whether the file has its name by now, and not a hidden one."""
        if self._hidden:
            return False
        if self._old is None:
            with contextlib.suppress(FileExistsError):  # or a link to nowhere, or it has come meanwhile
                if _link(self._handle, self._folder, self._name):
                    return True
        hidden = _hidden()
        if _link(self._handle, self._folder, hidden):
            self._hidden = hidden
        else:
            os.close(self._handle)  # its bytes may be all that there is room for
            self._handle = -1
            self._hide()
        return False

    def _close(self) -> None:
        if self._hidden:
            with contextlib.suppress(OSError):
                os.unlink(self._hidden, dir_fd=self._folder)
        for handle in (self._handle, self._folder):
            if handle >= 0:
                os.close(handle)

    def __exit__(self, *_: object) -> None:
        self._close()


def _opened(folder: int) -> int:
    """A new file without a name; -1 where there is no such thing."""
    if not _NAMELESS:
        return -1
    try:
        handle = os.open(".", _NEW | _NAMELESS, _MODE, dir_fd=folder)
    except OSError as error:
        if error.errno in _UNABLE:
            return -1
        raise
    if not Path(f"/proc/self/fd/{handle}").exists():  # by which alone it could get a name
        os.close(handle)
        return -1
    return handle


def _link(handle: int, folder: int, name: str) -> bool:
    """Give a whole file its name; False where this system cannot."""
    try:  # without a folder's descriptor Python would make a link to the link in /proc
        os.link(f"/proc/self/fd/{handle}", name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
    except OSError as error:
        if error.errno in _UNABLE:
            return False
        raise
    return True


def _fill(handle: int, data: bytes, old: os.stat_result | None) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]
    if old is not None:
        with contextlib.suppress(OSError):
            os.fchown(handle, old.st_uid, old.st_gid)
        os.fchmod(handle, stat.S_IMODE(old.st_mode) & 0o777)
    os.fsync(handle)


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


@contextlib.contextmanager
def _said(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        kind = LimitReached if error.errno in _FULL else BadInput
        raise kind(f"{path}: could not be written: {error.strerror}") from None
