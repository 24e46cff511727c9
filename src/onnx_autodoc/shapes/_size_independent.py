"""What contradicts itself at any size, and what only at the sizes that were bound.

The sizes of a card are mostly assumed. A node that cannot run at them says nothing against the file, unless it cannot
run with the open dimensions left open either.
"""

import re
from typing import Final

from onnx_autodoc.ir import Model
from onnx_autodoc.shapes._bind import Binding
from onnx_autodoc.shapes._pass import resolve
from onnx_autodoc.shapes._shapes import Shapes

_NODE: Final = re.compile("(“[^”]*”|[^ ]+): ")  # what a sentence about a node begins with
_DECLARED: Final = ", its nodes give "


def at_any_size(model: Model, binding: Binding, shapes: Shapes) -> Shapes:
    """Resolved once more without sizes, where there is anything to say and sizes or values were given."""
    if not (shapes.contradictions or shapes.misdeclared) or not (binding.axes or binding.values):
        return shapes
    empty = {place: 0 for place, size in binding.axes.items() if size == 0}  # borne out, or the user's word
    return resolve(model, Binding({}, empty, {}, {}, {}))


def only_here(shapes: Shapes, lasting: Shapes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of what contradicts itself at the card's sizes, what does not at all others: nodes, and declared shapes."""
    pairs = (shapes.contradictions, lasting.contradictions), (shapes.misdeclared, lasting.misdeclared)
    nodes, declared = (_apart(here, everywhere) for here, everywhere in pairs)
    return nodes, declared


def _apart(here: tuple[str, ...], everywhere: tuple[str, ...]) -> tuple[str, ...]:
    """The reasons may name other sizes: a sentence is the same as one about the same node or value."""
    subjects = set(map(subject, everywhere))
    return tuple(text for text in here if subject(text) not in subjects)


def subject(text: str) -> str:
    """The node, or the value, that a sentence of the walk speaks of."""
    if _DECLARED in text:
        return text.removeprefix("the file declares ").rpartition(_DECLARED)[0].rpartition(" as ")[0]
    node = _NODE.match(text)
    return node[1] if node else text
