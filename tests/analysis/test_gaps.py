"""What is not known, and whose fault that is: the file's only where it holds at any size."""

import pytest

from onnx_autodoc.api import measure_model
from onnx_autodoc.shapes import parse_request
from tests._text import model

TILE = "g (float[b,c,h,w] x, int64[n] r) => (float[] y) { [t] y = Tile(x, r) }"
CONV = "g (float[a,b,c,d] x, float[e,f,g,h] w) => (float[] y) { [t] y = Conv <kernel_shape = [3, 3]> (x, w) }"
SUM = "g (float[n, 3] x, float[2, 4] w) => (float[] y) { [t] y = Add(x, w) }"


def told(text: str, *dims: str, values: tuple[str, ...] = ()) -> list[str]:
    return [gap.reason for gap in measure_model(model(text), parse_request(dims=dims, values=values)).gaps]


@pytest.mark.parametrize("text", [TILE, CONV])
def test_a_size_that_was_assumed_is_no_contradiction_of_the_file(text: str) -> None:
    found = told(text)
    assert not any("contradicts itself" in reason for reason in found)
    (only,) = (reason for reason in found if "a node cannot run" in reason)
    assert only.startswith("at the assumed sizes (") and "a node cannot run: t: " in only
    assert only.endswith("; --dim sets other sizes")


def test_a_size_that_was_asked_for_is_none_either() -> None:
    found = told("g (float[2, n] x, float[2, 3] w) => (float[] y) { [t] y = Add(x, w) }", "n=7")
    said = "a node cannot run: t: sizes 3 and 7 cannot be broadcast"
    assert f"at the sizes asked for (n = 7) {said}; --dim sets other sizes" in found


def test_a_declared_shape_that_only_other_sizes_give_is_said_with_the_sizes() -> None:
    found = told("g (float[n, 3] x) => (float[8, 3] y) { y = Relu(x) }")
    said = "the file declares y as [8, 3], its nodes give [1, 3]"
    assert found == [f"at the assumed sizes (n = 1) {said}; --dim sets other sizes"]


def test_what_no_size_helps_is_the_files_own() -> None:
    found = told(SUM)
    assert "the file contradicts itself: t: sizes 3 and 4 cannot be broadcast" in found
    assert not any("--dim" in reason for reason in found)


def test_one_node_is_told_of_once_though_its_sizes_are_named_otherwise() -> None:
    found = told("g (float[n, 3] x) => (float[9, 9] y) { y = Relu(x) }")
    assert found == ["the file contradicts itself: the file declares y as [9, 9], its nodes give [?, 3]"]


@pytest.mark.parametrize(("kind", "asked"), [("int64", True), ("bool", True), ("float", False)])
def test_only_what_can_steer_is_asked_for(kind: str, asked: bool) -> None:
    found = told(f"g (float[4] x, {kind}[1] n) => (float[] y) {{ a = NonZero(x)  y = Transpose(a) }}")
    assert any("give it with --value n=N" in reason for reason in found) == asked
