"""What the page's scripts work with, as data: the formulas, the boxes, the nodes. No script is made of any of it."""

from typing import Any, Final

from msgspec import Struct

from onnx_autodoc.card import Box, Card, Edge
from onnx_autodoc.render._palette import COLOURS, TEXT, family
from onnx_autodoc.render._within import whole as whole_json
from onnx_autodoc.render.html._rows import whole
from onnx_autodoc.text import clean, quiet_json

_LARGEST_BATCH: Final = 128
_LONGEST: Final = 4096
_FOLD: Final = 4  # a slider goes this much beyond the card's size
# Inside of an element these could end it or start a comment; a script reads the escapes back.
_ESCAPES: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


class Slider(Struct, frozen=True):
    """A variable of the formulas: where it stands, and the sizes that can be asked for, `step` apart."""

    name: str
    dims: tuple[str, ...]
    at: int
    low: int
    high: int  # where the slider ends
    step: int
    most: int | None  # beyond which the model does not run, where that is known


def as_json(data: object) -> str:
    text = quiet_json(whole_json(data).decode())
    for sign, escape in _ESCAPES.items():
        text = text.replace(sign, escape)
    return text


def sliders(card: Card) -> tuple[Slider, ...]:
    formula, dims = card.compute.formula, card.assumptions.dims
    found = []
    for name in formula.variables:
        at = next((dims[dim] for dim in formula.dims.get(name, ()) if dim in dims), None)
        if at is None:
            return ()
        found.append(_slider(card, name, at))
    return tuple(found) if formula.terms else ()


def _slider(card: Card, name: str, at: int) -> Slider:
    formula = card.compute.formula
    step, dims = max(1, formula.steps.get(name, 1)), formula.dims[name]
    most = formula.most.get(name)
    far = _LARGEST_BATCH if at == 1 else _FOLD * at if _of_images(card, dims) else max(_LONGEST, _FOLD * at)
    least = max(1, formula.least.get(name, 1))
    low = at - (at - least) // step * step if at >= least else at  # whole steps away, and the model runs
    return Slider(
        clean(name, 60), tuple(clean(dim, 60) for dim in dims), at, low, far if most is None else most, step, most
    )


def _of_images(card: Card, dims: tuple[str, ...]) -> bool:
    ports = (port for port in card.interface.inputs if port.role is not None and "image" in port.role)
    return any(dim in dims for port in ports for dim in port.shape or ())


def formulas(card: Card) -> dict[str, Any]:
    """Sums of terms for each quantity, of which the largest holds, their divisors, and what derived ones need."""
    formula = card.compute.formula
    return {
        "sliders": sliders(card),
        "terms": {
            name: [[[str(term.factor), term.powers] for term in branch] for branch in branches]
            for name, branches in formula.terms.items()
        },
        "divisors": {name: str(number) for name, number in formula.divisors.items()},
        "weights": str(card.memory.weights_bytes),
    }


def boxes(tree: Box) -> dict[str, Any]:
    colours = {name: [colour.fill, colour.border] for name, colour in COLOURS.items()}
    return {"tree": _box(tree), "colours": colours, "text": TEXT}


def _box(box: Box) -> dict[str, Any]:
    places = {child.id: at for at, child in enumerate(box.children)}
    edges = [_edge(edge, places) for edge in box.edges if edge.source in places and edge.target in places]
    return {
        "kind": clean(box.kind, 60),
        "family": family(box.kind),
        "label": clean(box.label.strip() or box.kind, 120),
        "detail": clean(box.detail or "", 160),
        "count": box.count,
        "params": whole(box.params),
        "bytes": whole(box.weight_bytes),
        "macs": whole(box.macs),
        "time": None if box.seconds is None else whole(round(box.seconds * 1e9)),
        "share": box.share,
        "nodes": box.nodes,
        "repeats": box.repeats,
        "children": [_box(child) for child in box.children],
        "edges": [edge for edge in edges if edge[0] != edge[1]],
    }


def _edge(edge: Edge, places: dict[str, int]) -> tuple[int, int, str, bool]:
    """From, to, what flows, whether it passes boxes by."""
    return places[edge.source], places[edge.target], flow(edge), edge.kind == "skip"


def flow(edge: Edge) -> str:
    """The shape, and the element type where it is not the usual one."""
    shape = "" if edge.shape is None else "×".join(map(str, edge.shape)) or "scalar"
    dtype = clean(edge.dtype, 16) if edge.dtype not in (None, "float32") and edge.dtype else ""
    return " ".join(filter(None, (shape, dtype)))
