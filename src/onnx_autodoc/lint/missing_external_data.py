"""A file that holds the model's weights is not there, ends too early, or was not looked at.

Why it matters: without it the model cannot be loaded.

What to do: put the file beside the model under the name that the model has for it, which is written inside and does not
follow when files are renamed; fetch it again if it is too short. From Git LFS: git lfs pull.

Files behind links are not looked at, since a link can lead anywhere: --follow-links allows it, for a download cache for
instance, whose files are links. onnx refuses them, too; then put the files themselves beside the model. Pipes, devices
and folders are never opened. Paths that lead out of the model's folder are not looked at: escaping-external-data speaks
of them.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import External
from onnx_autodoc.limits import OPTIONS
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint.escaping_external_data import escapes
from onnx_autodoc.text import count, named, plural

SEVERITY: Final = Severity.ERROR
_MOST: Final = 3  # that are listed in the sentence
_LINKS: Final = OPTIONS["follow_links"]
_FOLLOW: Final = (
    f"Run again with {_LINKS} if you trust where the links lead, or put the files themselves beside the model"
)
_PLAIN: Final = "Put a plain file beside the model under the name that the model has for it"


def check(case: Case) -> Iterator[Found]:
    files = [entry for entry in case.model.external if not escapes(entry.path)]
    absent = tuple(entry.path for entry in files if entry.nbytes is None and not entry.reason)
    if absent:
        listed = ", ".join(named(path, 60) if path else "one without a name" for path in absent[:_MOST])
        are = plural(len(absent), "file with weights is", "files with weights are")
        yield Found(f"{are} not there: {listed}" + (" …" if len(absent) > _MOST else ""), absent, about="absent")
    short = [entry for entry in files if entry.nbytes is not None and entry.nbytes < entry.needed]
    if short:
        yield Found(_shortness(short), tuple(entry.path for entry in short), about="too short")
    yield from _refused([entry for entry in files if entry.reason])


def _refused(files: list[External]) -> Iterator[Found]:
    """Behind links they may well be there; what else is not looked at will not load."""
    linked = [entry for entry in files if _LINKS in entry.reason]
    others = [entry for entry in files if _LINKS not in entry.reason]
    if linked:
        yield _unseen(linked, "linked", Severity.WARNING, _FOLLOW)
    if others:
        yield _unseen(others, "refused", SEVERITY, _PLAIN)


def _unseen(files: list[External], about: str, severity: Severity, do: str) -> Found:
    first = files[0]
    were = plural(len(files), "file with weights was", "files with weights were")
    listed = f"{named(first.path, 60) if first.path else 'one of them'} {first.reason}" + (
        " …" if len(files) > 1 else ""
    )
    return Found(f"{were} not looked at: {listed}", tuple(entry.path for entry in files), do, severity, about=about)


def _shortness(short: list[External]) -> str:
    first = short[0]
    ends = f"{named(first.path, 60)} ends after {plural(first.nbytes or 0, 'byte')}"
    more = f"; so do {count(len(short) - 1)} more" if len(short) > 1 else ""
    return f"{ends}, its weights need {count(first.needed)}{more}"
