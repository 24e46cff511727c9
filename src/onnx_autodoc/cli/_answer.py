"""What a command makes of a model: documents, and the exit code. Made in a child, delivered here."""

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from onnx_autodoc.cli._places import append, keep_apart, put
from onnx_autodoc.cli._write import File, written

if TYPE_CHECKING:
    from onnx_autodoc.api import Beside


class Document(Struct, frozen=True):
    """What goes to one place: standard output, a file that it takes the place of, or one that it is put behind.

    A place that the user named may be a link, and what it leads to is meant; what lies `below` a folder that they
    named may be a stranger's.
    """

    data: bytes
    is_text: bool
    path: bytes | None = None  # as the system spells it: a file's name need not be text
    behind: bool = False
    below: bytes | None = None

    @classmethod
    def of(
        cls, made: str | bytes, path: Path | None = None, behind: bool = False, below: Path | None = None
    ) -> "Document":
        data = made.encode("utf-8", "backslashreplace") if isinstance(made, str) else made
        spelt = (None if each is None else os.fsencode(each) for each in (path, below))
        return cls(data, isinstance(made, str), next(spelt), behind, next(spelt))

    @property
    def place(self) -> Path | None:
        return _path(self.path)

    def file(self) -> File | None:
        """What is written whole, and neither printed nor put behind."""
        return None if self.behind or self.place is None else File(self.place, self.data, _path(self.below))


class Sources(Struct, frozen=True):
    """What the user named and what was looked at; and what models name besides, as whole paths."""

    seen: tuple[bytes, ...]
    unseen: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, named: Iterable[str | None], beside: "Iterable[Beside]" = ()) -> "Sources":
        files = tuple(beside)
        seen = (*named, *(file.path for file in files if file.seen))
        return cls(_spelt(seen), _spelt(file.path for file in files if not file.seen))


class Answer(Struct, frozen=True):
    """`sources`: what the documents were made from, which they take the place of by no name."""

    documents: tuple[Document, ...]
    sources: "Sources"
    status: int = 0


def deliver(answer: Answer) -> None:
    """Nothing has its name, and nothing is printed, before everything is on the disk."""
    seen, unseen = (map(os.fsdecode, paths) for paths in (answer.sources.seen, answer.sources.unseen))
    keep_apart((document.place for document in answer.documents), seen, unseen)
    files = [file for file in (document.file() for document in answer.documents) if file is not None]
    with written(files):
        for document in answer.documents:
            _told(document)
    if files and sys.stderr is not None and sys.stderr.isatty():  # tell a person, not a script
        sys.stderr.write("written: " + ", ".join(str(file.path) for file in files) + "\n")


def _spelt(paths: Iterable[str | None]) -> tuple[bytes, ...]:
    """A name inside a model may be one that no file of this system has."""
    found = []
    for path in paths:
        with suppress(UnicodeEncodeError):
            found.append(os.fsencode(path or ""))
    return tuple(path for path in found if path)


def _path(spelt: bytes | None) -> Path | None:
    return None if spelt is None else Path(os.fsdecode(spelt))


def _told(document: Document) -> None:
    if document.place is None:
        put(document.data.decode() if document.is_text else document.data)
    elif document.behind:
        append(document.place, document.data)
