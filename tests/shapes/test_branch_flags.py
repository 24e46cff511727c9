"""A decoder with and without its past in one file: the flag that decides is set as the default sizes are."""

import pytest

from onnx_autodoc.shapes import bind, bind_and_infer, parse_request
from tests._text import model

MERGED = """g (float[B,2,S,8] new, float[B,2,past_len,8] past, bool[1] cached) => (float[] y) { y = If (FLAG) <
    then_branch = one () => (float[] a) { a = Concat <axis = 2> (past, new) },
    else_branch = two () => (float[] b) { b = Neg(new) }> }"""


def test_the_branch_that_reads_the_past_is_the_one_that_runs() -> None:
    binding, found = bind_and_infer(model(MERGED.replace("FLAG", "cached")), parse_request(dims=("S=1",)))
    assert binding.values["cached"].tolist() == [True] and found.values["y"].concrete == (1, 2, 128, 8)


def test_it_may_be_the_other_branch_and_the_flag_be_reshaped_first() -> None:
    text = MERGED.replace("then_branch", "x").replace("else_branch", "then_branch").replace("x =", "else_branch =")
    text = text.replace("{ y = If", "{ flag = Squeeze(cached)  y = If").replace("FLAG", "flag")
    binding, found = bind_and_infer(model(text), parse_request(dims=("S=1",)))
    assert binding.values["cached"].tolist() == [False] and found.values["y"].concrete == (1, 2, 128, 8)


@pytest.mark.parametrize(("value", "length"), [("1", 128), ("0", 1)])
def test_what_the_user_says_goes_first(value: str, length: int) -> None:
    request = parse_request(dims=("S=1",), values=(f"cached={value}",))
    assert bind_and_infer(model(MERGED.replace("FLAG", "cached")), request)[1].values["y"].concrete == (1, 2, length, 8)


@pytest.mark.parametrize("change", [("past_len=0",), ()])
def test_a_flag_stays_open_where_no_past_is_read_or_both_read_it(change: tuple[str, ...]) -> None:
    text = MERGED.replace("FLAG", "cached").replace("Neg(new)", "Neg(new)" if change else "Neg(past)")
    assert bind(model(text), parse_request(dims=("S=1", *change))).values == {}
