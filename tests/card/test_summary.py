"""The card in words reads as a person would write it, whatever the model is."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from onnx_autodoc.analysis import Gap
from onnx_autodoc.api import report
from onnx_autodoc.card import Card
from onnx_autodoc.card._summary import summary_of
from onnx_autodoc.shapes import Request
from tests._text import proto

_PRODUCTS = "g (float[2,3] a, float[3,4] b, float[4,5] c) => (float[2,5] y) { t = MatMul(a, b) y = MatMul(t, c) }"


def card(folder: Path, text: str) -> Card:
    path = folder / "model.onnx"
    path.write_bytes(proto(text).SerializeToString())
    return report(path, Request()).card


def text_of(folder: Path, text: str) -> str:
    return card(folder, text).summary.text


def test_one_node_is_no_plural(tmp_path: Path) -> None:
    assert "Its only node is Sqrt." in text_of(tmp_path, "g (float[2,3] x) => (float[2,3] y) { y = Sqrt(x) }")


def test_one_parameter_is_no_plural(tmp_path: Path) -> None:
    found = card(tmp_path, "g (float[2] x) => (float[2] y) <float[1] w = {3}> { y = PRelu(x, w) }")
    assert "1 parameter in fp32" in found.summary.tldr


def test_a_name_that_reads_as_a_number_is_quoted(tmp_path: Path) -> None:
    model = proto("g (float[2,3] x) => (float[2,3] y) { y = Sqrt(x) }")
    model.graph.input[0].name = model.graph.node[0].input[0] = "0"
    model.graph.output[0].name = model.graph.node[0].output[0] = "1"
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    assert "It takes “0” and gives “1”." in report(path, Request()).card.summary.text


def test_no_inputs_are_said(tmp_path: Path) -> None:
    text = text_of(tmp_path, "g () => (float[1] y) { y = Constant <value = float[1] {2}> () }")
    assert "It takes no inputs and gives y." in text


def test_work_that_no_block_holds_has_no_sentence(tmp_path: Path) -> None:
    found = card(tmp_path, _PRODUCTS)
    assert [part.part for part in found.structure.work] == ["other"]
    assert "multiply-adds are in" not in found.summary.text


@pytest.mark.parametrize("kinds", [5, 6, 7])
def test_every_kind_of_part_is_named_or_counted(kinds: int, tmp_path: Path) -> None:
    found = card(tmp_path, _PRODUCTS)
    tree = found.structure.tree
    assert tree is not None
    box = next(box for box in tree.children if box.kind not in ("input", "output"))
    boxes = tuple(replace(box, label=f"Kind{at}", count=1) for at in range(kinds))
    drawn = replace(found, structure=replace(found.structure, tree=replace(tree, children=boxes)))
    said = summary_of(drawn).text
    named = sum(f"Kind{at}" in said for at in range(kinds))
    assert named + (2 if "2 other kinds of parts" in said else 0) == kinds


def test_one_gap_is_said_once(tmp_path: Path) -> None:
    found = card(tmp_path, "g (float[2,3] x) => (float[2,3] y) { y = custom.Odd(x) }")
    single = replace(found, gaps=(Gap("compute", "the cost of 1 Odd node is not known."),))
    assert summary_of(single).text.endswith(
        "Left open: the cost of 1 Odd node is not known; the totals are without it."
    )
