"""The summary is plain English for every kind of model."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from onnx_autodoc.api import make_card
from onnx_autodoc.card import Card, Gap
from onnx_autodoc.card.summary import summarize
from onnx_autodoc.shapes import Request
from tests._text import proto

_PRODUCTS = "g (float[2,3] a, float[3,4] b, float[4,5] c) => (float[2,5] y) { t = MatMul(a, b) y = MatMul(t, c) }"


def make_text_card(folder: Path, text: str) -> Card:
    path = folder / "model.onnx"
    path.write_bytes(proto(text).SerializeToString())
    return make_card(path, Request()).card


def summarize_text(folder: Path, text: str) -> str:
    return make_text_card(folder, text).summary.text


def test_single_node_is_singular(tmp_path: Path) -> None:
    assert "The graph has 1 node; blocks: Sqrt." in summarize_text(
        tmp_path, "g (float[2,3] x) => (float[2,3] y) { y = Sqrt(x) }"
    )


def test_single_parameter_is_singular(tmp_path: Path) -> None:
    card = make_text_card(tmp_path, "g (float[2] x) => (float[2] y) <float[1] w = {3}> { y = PRelu(x, w) }")
    assert "1 parameter (fp32, " in card.summary.tldr


def test_numeric_name_is_quoted(tmp_path: Path) -> None:
    model = proto("g (float[2,3] x) => (float[2,3] y) { y = Sqrt(x) }")
    model.graph.input[0].name = model.graph.node[0].input[0] = "0"
    model.graph.output[0].name = model.graph.node[0].output[0] = "1"
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    assert "Input: “0”. Output: “1”." in make_card(path, Request()).card.summary.text


def test_missing_inputs_are_stated(tmp_path: Path) -> None:
    text = summarize_text(tmp_path, "g () => (float[1] y) { y = Constant <value = float[1] {2}> () }")
    assert "Inputs: none. Output: y." in text


def test_work_outside_of_blocks_has_no_sentence(tmp_path: Path) -> None:
    card = make_text_card(tmp_path, _PRODUCTS)
    assert [part.part for part in card.structure.work] == ["other"]
    assert "MACs are in" not in card.summary.text


@pytest.mark.parametrize("kinds", [5, 6, 7])
def test_every_kind_of_block_is_listed_or_counted(kinds: int, tmp_path: Path) -> None:
    card = make_text_card(tmp_path, _PRODUCTS)
    tree = card.structure.tree
    assert tree is not None
    box = next(box for box in tree.children if box.kind not in ("input", "output"))
    boxes = tuple(replace(box, label=f"Kind{at}", count=1) for at in range(kinds))
    drawn_card = replace(card, structure=replace(card.structure, tree=replace(tree, children=boxes)))
    text = summarize(drawn_card).text
    listed = sum(f"Kind{at}" in text for at in range(kinds))
    assert listed + (2 if "2 other kinds" in text else 0) == kinds


def test_single_gap_is_stated_once(tmp_path: Path) -> None:
    card = make_text_card(tmp_path, "g (float[2,3] x) => (float[2,3] y) { y = custom.Odd(x) }")
    single = replace(card, gaps=(Gap("compute", "the cost of 1 Odd node is unknown."),))
    assert summarize(single).text.endswith("Limitation: the cost of 1 Odd node is unknown; the totals exclude it.")
