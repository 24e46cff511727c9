"""Changes of one layer are located in the diagram."""

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Card
from onnx_autodoc.compare import Diff
from tests.compare._cards import compare_cards, of_proto
from tests.compare._nets import Block, Layer, convnet, encoder

PLAIN, BLOCK = Layer(), Block()


def make_encoder_card(position: int = 0, replacement: Layer | None = None, count: int = 6) -> Card:
    """Return the card of an encoder whose layer number `position` (from 1) is replaced."""
    return of_proto(
        encoder([replacement if replacement and position == number else PLAIN for number in range(1, count + 1)])
    )


def make_convnet_card(position: int = 0, replacement: Block | None = None, count: int = 5) -> Card:
    return of_proto(
        convnet([replacement if replacement and position == number else BLOCK for number in range(1, count + 1)])
    )


def list_texts(diff: Diff) -> list[str]:
    return [change.text for change in diff.blocks]


@pytest.mark.parametrize("position", [1, 2, 5, 6])
def test_narrower_linear_layer_is_located(position: int) -> None:
    diff = compare_cards(make_encoder_card(), make_encoder_card(position, replace(PLAIN, inner=64)))
    assert list_texts(diff) == [f"Encoder layer {position}, MLP: “Relu, 48 → 96 → 48” changed to “Relu, 48 → 64 → 48”"]
    assert diff.relation.kind == "variant"


@pytest.mark.parametrize("position", [1, 4, 6])
def test_removed_head_is_located(position: int) -> None:
    diff = compare_cards(make_encoder_card(), make_encoder_card(position, replace(PLAIN, heads=3)))
    assert list_texts(diff) == [f"Encoder layer {position}, Attention: 4 heads × 12 → 3 heads × 12"]


def test_removed_head_is_reported_without_a_box() -> None:
    diff = compare_cards(make_encoder_card(), make_encoder_card(4, replace(PLAIN, heads=3)))
    assert any("3 heads × 12" in text for text in list_texts(diff))
    assert diff.relation.kind == "variant"


def test_changed_activation_is_located() -> None:
    diff = compare_cards(make_encoder_card(), make_encoder_card(3, replace(PLAIN, act="Gelu")))
    assert list_texts(diff) == ["Encoder layer 3, MLP: “Relu, 48 → 96 → 48” changed to “gelu, 48 → 96 → 48”"]


def test_changed_activation_is_not_another_export() -> None:
    diff = compare_cards(make_encoder_card(), make_encoder_card(3, replace(PLAIN, act="Gelu")))
    assert diff.relation.kind == "variant"


def test_removed_residual_connection_of_a_layer_is_located() -> None:
    diff = compare_cards(make_encoder_card(), make_encoder_card(5, replace(PLAIN, skip=False)))
    assert "Add removed after Encoder layer 5, MLP" in list_texts(diff)
    assert all("Encoder layer 5" in text for text in list_texts(diff))


def test_removed_layer_is_counted() -> None:
    diff = compare_cards(make_encoder_card(), make_encoder_card(count=5))
    assert list_texts(diff) == ["Encoder layer: count 6 → 5"]
    assert diff.relation.text == "The same family with different sizes: layers 6 → 5."


def test_larger_kernel_is_located() -> None:
    diff = compare_cards(make_convnet_card(), make_convnet_card(3, replace(BLOCK, kernel=5)))
    assert list_texts(diff) == ["Residual block 3, Conv 1: “3×3 16 → 16, relu” changed to “5×5 16 → 16, relu”"]


def test_added_channel_gate_is_located() -> None:
    diff = compare_cards(make_convnet_card(), make_convnet_card(3, replace(BLOCK, excite=True)))
    assert list_texts(diff) == ["Squeeze-excite added after Residual block 3, Conv 2"]


def test_removed_residual_connection_of_a_block_is_located() -> None:
    diff = compare_cards(make_convnet_card(), make_convnet_card(3, replace(BLOCK, skip=False)))
    assert "Add removed after Residual block 3, Conv 2" in list_texts(diff)


def test_weights_outside_of_the_diagram_are_reported() -> None:
    diff = compare_cards(make_convnet_card(), make_convnet_card(3, replace(BLOCK, excite=True)))
    assert any("Parameters differ" in text or "Squeeze-excite" in text for text in list_texts(diff))


def test_differing_boxes_are_marked_on_both_sides() -> None:
    diff = compare_cards(make_encoder_card(), make_encoder_card(count=5))
    assert set(diff.marks_was.values()) == set(diff.marks_is.values()) == {"changed"}
    assert compare_cards(make_encoder_card(), make_encoder_card()).marks_was == {}
