"""What stands in a section: what is cut is said, what is a bound says so, and no sentence leans on a missing number."""

from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from onnx_autodoc.analysis import Gap
from onnx_autodoc.api import report
from onnx_autodoc.card import Card
from onnx_autodoc.render import Report
from onnx_autodoc.render._blocks import Figure
from onnx_autodoc.render.architecture import render_architecture
from onnx_autodoc.render.markdown import render_markdown
from onnx_autodoc.render.sections import _figures as figures
from onnx_autodoc.render.terminal import render_terminal
from onnx_autodoc.shapes import Request
from tests._corpus import reported
from tests._text import proto


@cache
def card(name: str) -> Card:
    return reported(name).card


def written(found: Card) -> str:
    return render_markdown(Report(found, lambda: iter(())))


def from_text(folder: Path, text: str) -> Card:
    path = folder / "model.onnx"
    path.write_bytes(proto(text).SerializeToString())
    return report(path, Request()).card


@pytest.mark.parametrize(("gaps", "said"), [(100, ""), (101, "1 more is in"), (2100, "2,000 more are in")])
def test_what_is_cut_is_said(gaps: int, said: str) -> None:
    found = replace(card("yolov8l-nc1"), gaps=tuple(Gap("graph", f"reason {at}") for at in range(gaps)))
    text = written(found).split("### Not known")[1].split("\n## ")[0]
    assert text.count("reason") == min(gaps, 100)
    assert said in text
    assert ("in the JSON card" in text) == bool(said)


def test_not_all_operator_types_are_not_called_all() -> None:
    found = card("yolov8l-nc1")
    rows = tuple(replace(found.graph.operators[0], op=f"Op{at}") for at in range(201))
    text = written(replace(found, graph=replace(found.graph, operators=rows)))
    assert "all 201 operator types" not in text
    assert "1 more is in the JSON card." in text


def test_what_is_counted_is_not_called_read() -> None:
    assert figures.rounded(7, "MACs").basis.startswith("exact: counted")


def test_an_operator_with_a_gap_has_at_least_its_numbers() -> None:
    assert figures.rounded(7000, "MACs", least=True) == Figure("at least 7.00 k", 7000, "MACs", basis=figures._LEAST)


def test_which_number_is_not_known_is_said(tmp_path: Path) -> None:
    text = "g (float[1,6,4] b, float[1,1,6] s) => (int64[n,3] y) { y = NonMaxSuppression(b, s) }"
    shown = written(from_text(tmp_path, text))
    assert "| Compute | 0 MACs · FLOPs not known |" in shown
    assert "more than that" not in shown


def test_shares_of_no_weights_are_not_begun(tmp_path: Path) -> None:
    ports = "uint8[2,4] a, float s, uint8 z, uint8[4,3] b"
    text = f"g ({ports}) => (uint8[2,3] y) {{ y = QLinearMatMul(a, s, z, b, s, z, s, z) }}"
    shown = render_terminal(Report(from_text(tmp_path, text), lambda: iter(())))
    assert "int8" in shown
    assert "of the weights" not in " ".join(shown.split())


def test_no_format_calls_weights_absent_that_it_could_not_count(tmp_path: Path) -> None:
    model = proto("g (float[1,4] x) => (float[1,4] y) <float[1000] w = {1, 2, 3}> { y = Add(x, w) }")
    tensor = model.graph.initializer[0]
    tensor.ClearField("float_data")
    tensor.raw_data = b"abc"
    path = tmp_path / "short.onnx"
    path.write_bytes(model.SerializeToString())
    made = report(path, Request())
    for text in (render_terminal(made), render_markdown(made), render_architecture(made)):
        assert "no weights" not in text
        assert "0 tensors" not in text
        assert "not known: the file contradicts itself" in text
