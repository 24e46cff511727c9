"""The file's metadata says something that its graph does not bear out.

Why it matters: programs read class names, image sizes and alphabets from the metadata. Where these do not fit the
outputs, results get wrong labels or the program fails.

What to do: find out which of the two is right (the graph is what runs), and correct the entry:
onnx.helper.set_model_props(model, {**{p.key: p.value for p in model.metadata_props}, "names": "…"}).

Compared only where the exporter's own word for the task tells how its outputs are laid out, or where the graph leaves
no doubt what it is for. A key that is there twice with two values contradicts itself.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import Model
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.text import clean

SEVERITY: Final = Severity.WARNING
_MOST: Final = 3  # that are told in the sentence
_LONGEST: Final = 300
_METADATA: Final = "the metadata "  # how the reader begins to speak of a key that is there twice


def check(case: Case) -> Iterator[Found]:
    wrong = tuple(
        dict.fromkeys((*_twice(case.model), *case.structure.contradictions, *case.structure.dataset.problems))
    )
    if wrong:
        more = f"; and {len(wrong) - _MOST} more" if len(wrong) > _MOST else ""
        yield Found("; ".join(clean(text, _LONGEST) for text in wrong[:_MOST]) + more)


def _twice(model: Model) -> Iterator[str]:
    """Keys that the file gives two values."""
    return (text for text in model.flaws if text.startswith(_METADATA))
