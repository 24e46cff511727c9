"""A decoder with and without its past in one file: the branch flag is set to match the default sizes."""

import pytest

from onnx_autodoc.shapes import bind, bind_and_infer, parse_request
from tests._text import model

MERGED = """g (float[B,2,S,8] new, float[B,2,past_len,8] past, bool[1] cached) => (float[] y) { y = If (FLAG) <
    then_branch = one () => (float[] a) { a = Concat <axis = 2> (past, new) },
    else_branch = two () => (float[] b) { b = Neg(new) }> }"""


def test_branch_that_reads_the_past_runs() -> None:
    binding, inferred = bind_and_infer(model(MERGED.replace("FLAG", "cached")), parse_request(dims=("S=1",)))
    assert binding.values["cached"].tolist() == [True] and inferred.values["y"].concrete == (1, 2, 128, 8)


def test_reshaped_flag_can_select_the_else_branch() -> None:
    text = MERGED.replace("then_branch", "x").replace("else_branch", "then_branch").replace("x =", "else_branch =")
    text = text.replace("{ y = If", "{ flag = Squeeze(cached)  y = If").replace("FLAG", "flag")
    binding, inferred = bind_and_infer(model(text), parse_request(dims=("S=1",)))
    assert binding.values["cached"].tolist() == [False] and inferred.values["y"].concrete == (1, 2, 128, 8)


@pytest.mark.parametrize(("value", "length"), [("1", 128), ("0", 1)])
def test_requested_value_overrides_the_flag(value: str, length: int) -> None:
    request = parse_request(dims=("S=1",), values=(f"cached={value}",))
    assert bind_and_infer(model(MERGED.replace("FLAG", "cached")), request)[1].values["y"].concrete == (1, 2, length, 8)


@pytest.mark.parametrize("change", [("past_len=0",), ()])
def test_flag_is_unset_unless_exactly_one_branch_reads_the_past(change: tuple[str, ...]) -> None:
    text = MERGED.replace("FLAG", "cached").replace("Neg(new)", "Neg(new)" if change else "Neg(past)")
    assert bind(model(text), parse_request(dims=("S=1", *change))).values == {}
