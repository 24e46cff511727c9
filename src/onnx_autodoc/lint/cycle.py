"""Nodes wait for each other.

Why it matters: each needs what another one makes, so that none of them can be the first to run. No runtime loads such a
graph, and nothing can be said of the shapes, the work and the memory of these nodes and of all that come after them.

What to do: look at the last step that changed the file, mostly one that renamed values or joined two models, and do it
again. A loop over data is written with the operator Loop or Scan.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import turning
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.text import named, plural

SEVERITY: Final = Severity.ERROR
_MOST: Final = 4  # nodes that are listed in the sentence


def check(case: Case) -> Iterator[Found]:
    spots = [each.name(at) for each in case.written for at in turning(each.graph)]
    if spots:
        listed = ", ".join(named(spot, 40) for spot in spots[:_MOST]) + (" …" if len(spots) > _MOST else "")
        some = "a node needs what it makes itself" if len(spots) == 1 else f"{plural(len(spots), 'node')} form a cycle"
        yield Found(f"{some}: {listed}", tuple(spots))
