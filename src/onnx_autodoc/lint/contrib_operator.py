"""Nodes are of onnxruntime's own domain, which is not part of ONNX.

Why it matters: onnxruntime and what builds on it take them, other runtimes and tools mostly do not, and onnxruntime
does not promise to keep them from release to release. Usually they came from its optimizer, which also chose them for
one kind of device.

What to do: keep the model as it was before onnxruntime's optimizer (or quantizer) and give that file to other
runtimes; for onnxruntime itself there is nothing to do.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._uses import Key
from onnx_autodoc.lint.custom_domain import is_stock
from onnx_autodoc.ops import specified
from onnx_autodoc.text import named, plural

SEVERITY: Final = Severity.INFO
_MOST: Final = 4  # operators that are listed in the sentence


def check(case: Case) -> Iterator[Found]:
    found: dict[Key, list[str]] = {}
    for use in case.uses:
        if not use.local and use.key[0].startswith(specified.CONTRIB_FAMILIES) and is_stock(use.key[0]):
            found.setdefault(use.key, []).extend(spot.path for spot in (*use.spots, *use.aside))
    if found:
        rows = sorted(found.items(), key=lambda row: -len(row[1]))
        listed = ", ".join(f"{named(op, 40)} ({plural(len(paths), 'node')})" for (_, op), paths in rows[:_MOST])
        more = " …" if len(rows) > _MOST else ""
        count = plural(len(rows), "operator")
        evidence = tuple(path for _, paths in rows for path in paths)
        domains = " and ".join(sorted({named(domain, 40) for domain, _ in found}))
        yield Found(f"{count} of {domains} {_are(rows)} not part of ONNX: {listed}{more}", evidence)


def _are(rows: list[tuple[Key, list[str]]]) -> str:
    return "is" if len(rows) == 1 else "are"
