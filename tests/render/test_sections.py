"""What stands in a section: what is cut is said, what is a bound says so, and no sentence leans on a missing number."""

from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from onnx_autodoc.api import make_card
from onnx_autodoc.card import Card, Gap
from onnx_autodoc.render import Report, numbers
from onnx_autodoc.render.architecture import render_architecture
from onnx_autodoc.render.markdown import render_markdown
from onnx_autodoc.render.terminal import render_terminal
from onnx_autodoc.shapes import Request
from tests._corpus import load_report
from tests._text import proto


@cache
def card(name: str) -> Card:
    return load_report(name).card


def render_sections(found: Card) -> str:
    return render_markdown(Report(found, lambda: iter(())))


def make_text_card(folder: Path, text: str) -> Card:
    path = folder / "model.onnx"
    path.write_bytes(proto(text).SerializeToString())
    return make_card(path, Request()).card


@pytest.mark.parametrize(("gaps", "said"), [(100, ""), (101, "1 more is in"), (2100, "2,000 more are in")])
def test_truncated_list_states_the_rest(gaps: int, said: str) -> None:
    result = replace(card("yolov8l-nc1"), gaps=tuple(Gap("graph", f"reason {at}") for at in range(gaps)))
    text = render_sections(result).split("### Limitations")[1].split("\n## ")[0]
    assert text.count("reason") == min(gaps, 100)
    assert said in text
    assert ("in the JSON card" in text) == bool(said)


def test_truncated_operator_table_is_not_called_complete() -> None:
    result = card("yolov8l-nc1")
    rows = tuple(replace(result.graph.operators[0], op=f"Op{at}") for at in range(201))
    text = render_sections(replace(result, graph=replace(result.graph, operators=rows)))
    assert "all 201 operator types" not in text
    assert "1 more is in the JSON card." in text


def test_counted_number_has_counted_basis() -> None:
    assert numbers.short(7, "MACs").basis.startswith("exact: counted")


def test_number_with_gap_is_lower_bound() -> None:
    number = numbers.short(7000, "MACs", lower_bound=True)
    assert (number.text, number.exact, number.unit) == ("at least 7.00 k", 7000, "MACs")
    assert number.basis.startswith("lower bound: ")


def test_unknown_number_is_named(tmp_path: Path) -> None:
    text = "g (float[1,6,4] b, float[1,1,6] s) => (int64[n,3] y) { y = NonMaxSuppression(b, s) }"
    shown = render_sections(make_text_card(tmp_path, text))
    assert "| Compute | 0 MACs · FLOPs unknown |" in shown
    assert "more than that" not in shown


def test_model_without_weights_has_no_shares(tmp_path: Path) -> None:
    ports = "uint8[2,4] a, float s, uint8 z, uint8[4,3] b"
    text = f"g ({ports}) => (uint8[2,3] y) {{ y = QLinearMatMul(a, s, z, b, s, z, s, z) }}"
    shown = render_terminal(Report(make_text_card(tmp_path, text), lambda: iter(())))
    assert "int8" in shown
    assert "(weights:" not in " ".join(shown.split())


def test_uncounted_weights_are_not_called_absent(tmp_path: Path) -> None:
    model = proto("g (float[1,4] x) => (float[1,4] y) <float[1000] w = {1, 2, 3}> { y = Add(x, w) }")
    tensor = model.graph.initializer[0]
    tensor.ClearField("float_data")
    tensor.raw_data = b"abc"
    path = tmp_path / "short.onnx"
    path.write_bytes(model.SerializeToString())
    made = make_card(path, Request())
    for text in (render_terminal(made), render_markdown(made), render_architecture(made)):
        assert "no weights" not in text
        assert "0 tensors" not in text
        assert "unknown: the file is inconsistent" in text
