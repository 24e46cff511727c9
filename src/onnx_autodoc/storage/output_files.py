"""Output files, written whole or not at all; of several files all or none.

The data go to a temporary file in the target's folder. When those of all files are on the disk, each one replaces its
target in one step. An existing target keeps its permissions, and its owner if possible.

A link that the user named stays a link: the file that it leads to is written. Below a folder that the user named no
link is followed: its content may be untrusted and must not choose which file is written.
"""

import contextlib
import errno
import logging
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.sandbox import defer_signals, raise_on_termination

_LOGGER: Final = logging.getLogger(__name__)
_RESOURCE_ERRORS: Final = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO),
}
_CREATE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
_FOLDER_FLAGS: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_SUBFOLDER_FLAGS: Final = _FOLDER_FLAGS | getattr(os, "O_NOFOLLOW", 0)
_NEW_FILE_MODE: Final = 0o666  # before the umask, or the folder's access list


class OutputFile(NamedTuple):
    """A file to write. `root` is the folder that the user named, unless they named the path itself."""

    path: Path
    data: bytes
    root: Path | None = None


@contextlib.contextmanager
def write_files(files: Iterable[OutputFile]) -> Iterator[None]:
    """Write all data before the block is entered; replace the targets when it has succeeded."""
    with raise_on_termination(), contextlib.ExitStack() as stack:
        temporary = [stack.enter_context(_TemporaryFile(file, stack)) for file in files]
        yield
        with defer_signals():  # a signal between two targets would leave a temporary file
            for file in temporary:
                file.replace_target()


class _TemporaryFile:
    """The data of an output file, on the disk under a hidden name. It is deleted unless it replaces its target."""

    def __init__(self, file: OutputFile, stack: contextlib.ExitStack) -> None:
        self._file, self._stack = file, stack
        self._folder = -1
        self._target_name = self._name = ""

    def __enter__(self) -> "_TemporaryFile":
        path, data, root = self._file
        try:
            with _write_errors(path):
                if root is None:
                    self._folder, self._target_name = _open_folder(path, self._stack)
                else:
                    self._folder, self._target_name = _open_subfolder(path, root, self._stack)
                replaced = _check_target(self._folder, self._target_name, path)
                name = f".onnx-autodoc.{os.urandom(8).hex()}"
                handle = os.open(name, _CREATE_FLAGS, _NEW_FILE_MODE, dir_fd=self._folder)
                self._name = name
                try:
                    _fill(handle, data, replaced)
                finally:
                    os.close(handle)
        except BaseException:
            self.__exit__()
            raise
        return self

    def replace_target(self) -> None:
        with _write_errors(self._file.path):
            os.replace(self._name, self._target_name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            self._name = ""
            _sync_folder(self._folder)
        _LOGGER.info("wrote %s, %d bytes", self._file.path, len(self._file.data))

    def __exit__(self, *_: object) -> None:
        if self._name:
            with contextlib.suppress(OSError):
                os.unlink(self._name, dir_fd=self._folder)
        if self._folder >= 0:
            os.close(self._folder)


def _fill(handle: int, data: bytes, replaced: os.stat_result | None) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
    if replaced is not None:
        with contextlib.suppress(OSError):
            os.fchown(handle, replaced.st_uid, replaced.st_gid)
        os.fchmod(handle, stat.S_IMODE(replaced.st_mode) & 0o777)
    os.fsync(handle)


def _sync_folder(folder: int) -> None:
    """Flush the new name to the disk, if the folder may be read."""
    with contextlib.suppress(OSError):
        handle = os.open(".", os.O_RDONLY, dir_fd=folder)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _check_target(folder: int, name: str, path: Path) -> os.stat_result | None:
    """Return the status of the regular file that will be replaced. A link is replaced as if it did not exist."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(status.st_mode):
        return None
    if not stat.S_ISREG(status.st_mode):
        is_folder = stat.S_ISDIR(status.st_mode)
        raise BadInput(
            f"{path}: {'a folder; name a file' if is_folder else 'a pipe or a device; for standard output use -'}"
        )
    if not os.access(name, os.W_OK, dir_fd=folder):
        raise BadInput(f"{path}: cannot be written: it is read-only")
    return status


def _open_folder(path: Path, stack: contextlib.ExitStack) -> tuple[int, str]:
    """Open the folder of a file, following links, and return it with the file's name."""
    try:
        path.stat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    if path.is_symlink():
        path = Path(os.path.realpath(path))
    else:
        _create_folder(path.parent, stack)
    return os.open(path.parent, _FOLDER_FLAGS), path.name


def _open_subfolder(path: Path, root: Path, stack: contextlib.ExitStack) -> tuple[int, str]:
    """Open the folder of a file below `root`, following no links, and return it with the file's name."""
    _create_folder(root, stack)
    handle, (*parents, name) = os.open(root, _FOLDER_FLAGS), path.relative_to(root).parts
    folder = root
    try:
        for part in parents:
            folder /= part
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=handle)
                stack.callback(_remove_if_empty, folder)
            parent, handle = handle, _enter(handle, part, folder)
            os.close(parent)
    except BaseException:
        os.close(handle)
        raise
    return handle, name


def _enter(handle: int, name: str, folder: Path) -> int:
    try:
        return os.open(name, _SUBFOLDER_FLAGS, dir_fd=handle)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise BadInput(
                f"{folder}: is a link or a file, but the pictures require a folder of this name; move it"
            ) from None
        raise


def _create_folder(folder: Path, stack: contextlib.ExitStack) -> None:
    """Create a folder and its parents; those that stay empty are removed with `stack`."""
    missing = []
    while not folder.exists() and folder != folder.parent:
        missing.append(folder)
        folder = folder.parent
    for created in reversed(missing):
        try:
            created.mkdir(exist_ok=True)
        except OSError as error:
            raise BadInput(f"{created}: cannot be created: {error.strerror}") from None
        stack.callback(_remove_if_empty, created)


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


@contextlib.contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        kind = LimitReached if error.errno in _RESOURCE_ERRORS else BadInput
        raise kind(f"{path}: cannot be written: {error.strerror}") from None
