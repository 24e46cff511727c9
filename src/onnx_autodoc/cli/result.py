"""The result of a command: documents and an exit code, created in a worker process and delivered by its parent."""

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from onnx_autodoc.cli.paths import append_to_file, check_not_source
from onnx_autodoc.cli.stdout import write_stdout
from onnx_autodoc.storage import OutputFile, write_files

if TYPE_CHECKING:
    from onnx_autodoc.api import ExternalPath


class OutputDocument(Struct, frozen=True):
    """The data for one destination: standard output, a file to replace, or a file to append to.

    Paths are bytes, because a file name need not be text. `root` is the folder that the user named, if they did not
    name the path itself (see `storage.output_files`).
    """

    data: bytes
    is_text: bool
    encoded_path: bytes | None = None
    append: bool = False
    encoded_root: bytes | None = None

    @classmethod
    def of(
        cls, content: str | bytes, path: Path | None = None, append: bool = False, root: Path | None = None
    ) -> "OutputDocument":
        data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
        encoded_path, encoded_root = (None if item is None else os.fsencode(item) for item in (path, root))
        return cls(data, isinstance(content, str), encoded_path, append, encoded_root)

    @property
    def path(self) -> Path | None:
        return None if self.encoded_path is None else Path(os.fsdecode(self.encoded_path))

    @property
    def root(self) -> Path | None:
        return None if self.encoded_root is None else Path(os.fsdecode(self.encoded_root))


class SourceFiles(Struct, frozen=True):
    """The sources of documents: files that were inspected, and absolute paths in models that were not."""

    inspected: tuple[bytes, ...]
    uninspected: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, named: Iterable[str | None], external: "Iterable[ExternalPath]" = ()) -> "SourceFiles":
        files = tuple(external)
        inspected = (*named, *(file.path for file in files if file.inspected))
        return cls(_encode_paths(inspected), _encode_paths(file.path for file in files if not file.inspected))


class CommandResult(Struct, frozen=True):
    """Documents, the files that they must not overwrite, and the exit code."""

    documents: tuple[OutputDocument, ...]
    sources: SourceFiles
    status: int = 0


def deliver(result: CommandResult) -> None:
    """Write and print the documents. All files are on the disk before anything is printed or replaced."""
    inspected, uninspected = (
        map(os.fsdecode, paths) for paths in (result.sources.inspected, result.sources.uninspected)
    )
    check_not_source((document.path for document in result.documents), inspected, uninspected)
    files = [
        OutputFile(document.path, document.data, document.root)
        for document in result.documents
        if document.path is not None and not document.append
    ]
    with write_files(files):
        for document in result.documents:
            if document.path is None:
                write_stdout(document.data.decode() if document.is_text else document.data)
            elif document.append:
                append_to_file(document.path, document.data)
    if files and sys.stderr is not None and sys.stderr.isatty():  # status is for people, not for scripts
        sys.stderr.write("written: " + ", ".join(str(file.path) for file in files) + "\n")


def _encode_paths(paths: Iterable[str | None]) -> tuple[bytes, ...]:
    """Leave out names in a model that no file of this system can have."""
    encoded = []
    for path in filter(None, paths):
        with suppress(UnicodeEncodeError):
            encoded.append(os.fsencode(path))
    return tuple(encoded)
