"""A file that holds the model's weights is not there, or ends too early.

Why it matters: without it the model cannot be loaded.

What to do: put the file beside the model under the name that the model has for it, which is written inside and does not
follow when files are renamed; fetch it again if it is too short. From Git LFS: git lfs pull.

Paths that lead out of the model's folder are not looked at: escaping-external-data speaks of them.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from onnx_autodoc.graph import External
from onnx_autodoc.rules._case import Case
from onnx_autodoc.rules._finding import Found, Severity
from onnx_autodoc.rules.escaping_external_data import escapes
from onnx_autodoc.say import clean, count, plural

SEVERITY: Final = Severity.ERROR
_MOST: Final = 3  # that are named in the sentence


def check(case: Case) -> Iterator[Found]:
    files = [entry for entry in case.model.external if _is_looked_at(entry.path)]
    absent = tuple(entry.path for entry in files if entry.nbytes is None)
    if absent:
        named = ", ".join(clean(path, 60) or "one without a name" for path in absent[:_MOST])
        are = plural(len(absent), "file with weights is", "files with weights are")
        yield Found(f"{are} not there: {named}" + (" …" if len(absent) > _MOST else ""), absent, about="absent")
    short = [entry for entry in files if entry.nbytes is not None and entry.nbytes < entry.needed]
    if short:
        yield Found(_shortness(short), tuple(entry.path for entry in short), about="too short")


def _is_looked_at(path: str) -> bool:
    return not escapes(path) and ".." not in PurePosixPath(path).parts


def _shortness(short: list[External]) -> str:
    first = short[0]
    ends = f"{clean(first.path, 60)} ends after {plural(first.nbytes or 0, 'byte')}"
    more = f"; so do {count(len(short) - 1)} more" if len(short) > 1 else ""
    return f"{ends}, its weights need {count(first.needed)}{more}"
