"""Where each node of the file stands in the model: its layer and its block."""

from onnx_autodoc.architecture._diagram_groups import Sketch
from onnx_autodoc.patterns import Net, Term


def places(net: Net, sketch: Sketch) -> dict[int, str]:
    """By row: "encoder-layer[3]/attention". Nodes that only pass something on stand where it was made."""
    layers = {
        term: f"{group.kind}[{at}]"
        for group in sketch.groups
        for at, turn in enumerate(group.turns)
        for term in turn
        if group.children
    }
    found = {row: name for term in net if (name := _name(term, layers)) for row in term.rows}
    for row, value in net.aside.items():
        maker = net.makers[value]
        home = next((found[each] for each in maker.rows if each in found), None) if maker is not None else None
        if home is not None:
            found[row] = home
    return found


def _name(term: Term, layers: dict[Term, str]) -> str:
    block = term.op if term.op == term.op.lower() else ""
    return "/".join(filter(None, (layers.get(term, ""), block)))
