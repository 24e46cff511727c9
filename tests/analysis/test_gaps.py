"""What is unknown, and whose fault that is: the file's only where it holds at any size."""

import pytest

from onnx_autodoc.api import measure_model
from onnx_autodoc.shapes import parse_request
from tests._text import model

TILE = "g (float[b,c,h,w] x, int64[n] r) => (float[] y) { [t] y = Tile(x, r) }"
CONV = "g (float[a,b,c,d] x, float[e,f,g,h] w) => (float[] y) { [t] y = Conv <kernel_shape = [3, 3]> (x, w) }"
SUM = "g (float[n, 3] x, float[2, 4] w) => (float[] y) { [t] y = Add(x, w) }"


def list_gaps(text: str, *dims: str, values: tuple[str, ...] = ()) -> list[str]:
    return [gap.reason for gap in measure_model(model(text), parse_request(dims=dims, values=values)).gaps]


@pytest.mark.parametrize("text", [TILE, CONV])
def test_assumed_size_is_not_a_contradiction_of_the_file(text: str) -> None:
    result = list_gaps(text)
    assert not any("contradicts itself" in reason for reason in result)
    (only,) = (reason for reason in result if "a node cannot run" in reason)
    assert only.startswith("at the assumed sizes (") and "a node cannot run: t: " in only
    assert only.endswith("; set other sizes with --dim")


def test_requested_size_is_not_a_contradiction_of_the_file() -> None:
    result = list_gaps("g (float[2, n] x, float[2, 3] w) => (float[] y) { [t] y = Add(x, w) }", "n=7")
    text = "a node cannot run: t: sizes 3 and 7 cannot be broadcast"
    assert f"at the requested sizes (n = 7) {text}; set other sizes with --dim" in result


def test_misdeclared_shape_is_reported_with_sizes() -> None:
    result = list_gaps("g (float[n, 3] x) => (float[8, 3] y) { y = Relu(x) }")
    text = "the file declares y as [8, 3], but its inferred shape is [1, 3]"
    assert result == [f"at the assumed sizes (n = 1) {text}; set other sizes with --dim"]


def test_conflict_at_all_sizes_is_a_contradiction_of_the_file() -> None:
    result = list_gaps(SUM)
    assert "the file is inconsistent: t: sizes 3 and 4 cannot be broadcast" in result
    assert not any("--dim" in reason for reason in result)


def test_conflict_of_one_node_is_reported_once() -> None:
    result = list_gaps("g (float[n, 3] x) => (float[9, 9] y) { y = Relu(x) }")
    assert result == ["the file is inconsistent: the file declares y as [9, 9], but its inferred shape is [?, 3]"]


@pytest.mark.parametrize(("kind", "asked"), [("int64", True), ("bool", True), ("float", False)])
def test_only_single_integers_and_booleans_are_listed(kind: str, asked: bool) -> None:
    result = list_gaps(f"g (float[4] x, {kind}[1] n) => (float[] y) {{ a = NonZero(x)  y = Transpose(a) }}")
    assert any("set it with --value n=N" in reason for reason in result) == asked
