"""One thing is changed in one layer, and the comparison names the layer and the change."""

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Card
from onnx_autodoc.compare import Diff
from tests.compare._cards import diff_of, of_proto
from tests.compare._nets import Block, Layer, convnet, encoder

PLAIN, BLOCK = Layer(), Block()


def layers(at: int = 0, other: Layer | None = None, count: int = 6) -> Card:
    """An encoder in which the layer of this number (from 1) is another one."""
    return of_proto(encoder([other if other and at == number else PLAIN for number in range(1, count + 1)]))


def blocks(at: int = 0, other: Block | None = None, count: int = 5) -> Card:
    return of_proto(convnet([other if other and at == number else BLOCK for number in range(1, count + 1)]))


def said(diff: Diff) -> list[str]:
    return [change.text for change in diff.blocks]


@pytest.mark.parametrize("at", [1, 2, 5, 6])
def test_narrower_linear_layer_is_located(at: int) -> None:
    diff = diff_of(layers(), layers(at, replace(PLAIN, inner=64)))
    assert said(diff) == [f"Encoder layer {at}, MLP: was “Relu, 48 → 96 → 48”, is “Relu, 48 → 64 → 48”"]
    assert diff.relation.kind == "variant"


@pytest.mark.parametrize("at", [1, 4, 6])
def test_removed_head_is_located(at: int) -> None:
    diff = diff_of(layers(), layers(at, replace(PLAIN, heads=3)))
    assert said(diff) == [f"Encoder layer {at}, Attention: 4 heads × 12 → 3 heads × 12"]


def test_removed_head_is_reported_without_a_box() -> None:
    diff = diff_of(layers(), layers(4, replace(PLAIN, heads=3)))
    assert any("3 heads × 12" in text for text in said(diff))
    assert diff.relation.kind == "variant"


def test_changed_activation_is_located() -> None:
    diff = diff_of(layers(), layers(3, replace(PLAIN, act="Gelu")))
    assert said(diff) == ["Encoder layer 3, MLP: was “Relu, 48 → 96 → 48”, is “gelu, 48 → 96 → 48”"]


def test_changed_activation_is_not_another_export() -> None:
    diff = diff_of(layers(), layers(3, replace(PLAIN, act="Gelu")))
    assert diff.relation.kind == "variant"


def test_removed_residual_connection_of_a_layer_is_located() -> None:
    diff = diff_of(layers(), layers(5, replace(PLAIN, skip=False)))
    assert "Add gone after Encoder layer 5, MLP" in said(diff)
    assert all("Encoder layer 5" in text for text in said(diff))


def test_removed_layer_is_counted() -> None:
    diff = diff_of(layers(), layers(count=5))
    assert said(diff) == ["Encoder layer: 6 → 5 of them"]
    assert diff.relation.text == "The same family with other sizes: layers 6 → 5."


def test_larger_kernel_is_located() -> None:
    diff = diff_of(blocks(), blocks(3, replace(BLOCK, kernel=5)))
    assert said(diff) == ["Residual block 3, Conv 1: was “3×3 16 → 16, relu”, is “5×5 16 → 16, relu”"]


def test_added_channel_gate_is_located() -> None:
    diff = diff_of(blocks(), blocks(3, replace(BLOCK, excite=True)))
    assert said(diff) == ["Squeeze-excite added after Residual block 3, Conv 2"]


def test_removed_residual_connection_of_a_block_is_located() -> None:
    diff = diff_of(blocks(), blocks(3, replace(BLOCK, skip=False)))
    assert "Add gone after Residual block 3, Conv 2" in said(diff)


def test_weights_outside_of_the_diagram_are_reported() -> None:
    diff = diff_of(blocks(), blocks(3, replace(BLOCK, excite=True)))
    assert any("Parameters differ" in text or "Squeeze-excite" in text for text in said(diff))


def test_differing_boxes_are_marked_on_both_sides() -> None:
    diff = diff_of(layers(), layers(count=5))
    assert set(diff.marks_was.values()) == set(diff.marks_is.values()) == {"changed"}
    assert diff_of(layers(), layers()).marks_was == {}
