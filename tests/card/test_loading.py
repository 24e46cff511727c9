"""Untrusted JSON cards are loaded within limits."""

import msgspec
import pytest

from onnx_autodoc.api import card
from onnx_autodoc.card import Card, load
from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.limits import Limits, within
from onnx_autodoc.render import FORMATS, Report
from tests._corpus import graph


def _nest_boxes(levels: int) -> bytes:
    """Return a card whose diagram has `levels` nested boxes below the root."""
    model_card: Card = card(graph("resnet50-ts-op17"))
    assert model_card.structure.tree is not None
    box = msgspec.structs.replace(model_card.structure.tree, children=(), edges=())
    for _ in range(levels):
        box = msgspec.structs.replace(box, children=(box,))
    structure = msgspec.structs.replace(model_card.structure, tree=box)
    return msgspec.json.encode(msgspec.structs.replace(model_card, structure=structure))


@pytest.mark.parametrize("levels", [5, 64])
def test_nested_boxes_are_loaded_up_to_the_depth_limit(levels: int) -> None:
    with within(Limits(depth=levels)):
        loaded = load(_nest_boxes(levels), "a.json")
        assert all(FORMATS[name].render(Report(loaded, tuple)) for name in ("markdown", "html"))
        with pytest.raises(LimitReached, match=r"a\.json: .* more than \d+ levels deep; --max-depth raises"):
            load(_nest_boxes(levels + 1), "a.json")


@pytest.mark.parametrize("share", [-0.1, 1.5, 1.7e308])
def test_share_outside_zero_to_one_is_rejected(share: float) -> None:
    model_card = card(graph("resnet50-ts-op17"))
    precision = msgspec.structs.replace(model_card.model.precision, weights={"float32": share})
    model = msgspec.structs.replace(model_card.model, precision=precision)
    with pytest.raises(BadInput, match=r"^a\.json: not a JSON card: .* is not a share between 0 and 1$"):
        load(msgspec.json.encode(msgspec.structs.replace(model_card, model=model)), "a.json")
