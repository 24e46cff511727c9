"""The file takes weights from outside of its own folder.

Why it matters: a path that is absolute or leads upwards makes a program read any file of the machine that loads the
model. onnx and onnxruntime refuse such paths; a loader that does not can be made to give files away.

What to do: do not load a file of unknown origin that does this. If it is your own, put the weights beside it and write
their name into it: model = onnx.load(path, load_external_data=False), set the value of every entry with the key
"location" in tensor.external_data of model.graph.initializer, then onnx.save(model, path).

Such a path is never followed for this card, with --follow-links neither.
"""

import posixpath
import re
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.text import named, plural

SEVERITY: Final = Severity.ERROR
_DRIVE: Final = re.compile("[A-Za-z]:")


def check(case: Case) -> Iterator[Found]:
    paths = tuple(entry.path for entry in case.model.external if escapes(entry.path))
    if paths:
        lead = plural(len(paths), "path to weights leads", "paths to weights lead")
        listed = named(paths[0], 80) + (" …" if len(paths) > 1 else "")
        yield Found(f"{lead} out of the model's folder: {listed}", paths)


def escapes(path: str) -> bool:
    """Whether a path is absolute or ends above where it began, read as Windows does too, where a drive is absolute."""
    slashed = posixpath.normpath(path.replace("\\", "/"))
    return slashed.startswith(("/", "../")) or slashed == ".." or bool(_DRIVE.match(path))
