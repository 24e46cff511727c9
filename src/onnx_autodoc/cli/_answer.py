"""What a command makes of a model: documents, and the exit code. Made in a child, delivered here."""

import os
import sys
from pathlib import Path

from msgspec import Struct

from onnx_autodoc.cli._places import append, make, put


class Document(Struct, frozen=True):
    """What goes to one place: standard output, a file that it takes the place of, or one that it is put behind."""

    data: bytes
    is_text: bool
    path: bytes | None = None  # as the system spells it: a file's name need not be text
    behind: bool = False
    named: bool = True  # by the user, who may mean what a link leads to; what lies in a folder may be a stranger's

    @classmethod
    def of(cls, made: str | bytes, path: Path | None = None, behind: bool = False, named: bool = True) -> "Document":
        data = made.encode("utf-8", "backslashreplace") if isinstance(made, str) else made
        return cls(data, isinstance(made, str), None if path is None else os.fsencode(path), behind, named)


class Answer(Struct, frozen=True):
    documents: tuple[Document, ...]
    status: int = 0


def deliver(documents: tuple[Document, ...]) -> None:
    from onnx_autodoc.cli._write import write

    written = []
    for document in documents:
        if document.path is None:
            put(document.data.decode() if document.is_text else document.data)
            continue
        path = Path(os.fsdecode(document.path))
        if document.behind:
            append(path, document.data)
            continue
        make(path.parent)
        write(path, document.data, through=document.named)
        written.append(str(path))
    if written and sys.stderr is not None and sys.stderr.isatty():  # tell a person, not a script
        sys.stderr.write("written: " + ", ".join(written) + "\n")
