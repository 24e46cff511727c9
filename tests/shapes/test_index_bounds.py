"""A sequence longer than the positions that a model has learned is no default."""

import pytest

from onnx_autodoc.shapes import Request, bind_and_infer, parse_request
from tests._text import model


def declare_weight(name: str, *dims: int) -> str:
    return f"sizes_{name} = Constant<value_ints=[{','.join(map(str, dims))}]>() {name} = ConstantOfShape(sizes_{name})"


RANGE = """zero = Constant<value_int=0>() one = Constant<value_int=1>() two = Constant<value_int=2>()
    shape = Shape(ids) n = Gather(shape, one) places = Range(zero, n, one)"""
LOOKUPS = {
    "a range": (f"{RANGE} y = Gather(table, places)", 50, 50),
    "a range moved by two, like BART's": (f"{RANGE} moved = Add(places, two) y = Gather(table, moved)", 66, 64),
    "places with a number each": (
        f"{RANGE} a = Constant<value_ints=[1]>() u = Unsqueeze(places, a) y = GatherND(table, u)",
        50,
        50,
    ),
    "counted from a mask, like OPT's": (
        """one = Constant<value_int=1>() m = CumSum(ids, one) p = Mul(m, ids) s = Sub(p, one) y = Gather(table, s)""",
        64,
        64,
    ),
}


def bound_length(text: str, *dims: str) -> int:
    binding, shapes = bind_and_infer(model(text), parse_request(dims=dims))
    assert shapes.contradictions == ()
    return binding.chosen["seq"]


@pytest.mark.parametrize("how", LOOKUPS)
def test_default_length_is_within_the_position_table(how: str) -> None:
    nodes, rows, most = LOOKUPS[how]
    text = f"g (int64[1,seq] ids) => (float y) {{ {declare_weight('table', rows, 8)} {nodes} }}"
    assert 1 < bound_length(text) <= most
    assert bound_length(text.replace(f"[{rows},8]", "[512,8]")) == 128, "where there are enough, it is the usual one"


def test_requested_length_is_not_changed() -> None:
    nodes, rows, _ = LOOKUPS["a range"]
    text = f"g (int64[1,seq] ids) => (float y) {{ {declare_weight('table', rows, 8)} {nodes} }}"
    assert bound_length(text, "seq=200") == 200


@pytest.mark.parametrize(("positions_input", "tokens"), [("", 64), (", , places", 7)])
def test_fused_embedding_has_positions_for_its_tokens(positions_input: str, tokens: int) -> None:
    weights = " ".join(declare_weight(name, *dims) for name, dims in WEIGHTS.items())
    text = f"""g (int32[1,seq] ids) => (float y) {{ {weights}
    p = Constant<value_ints=[1,7]>() zeros = ConstantOfShape(p) places = Cast<to=6>(zeros)
    y, m = com.microsoft.EmbedLayerNormalization(ids, , words, spots, , gamma, beta{positions_input}) }}"""
    assert bound_length(text) == tokens


WEIGHTS = {"words": (50, 8), "spots": (64, 8), "gamma": (8,), "beta": (8,)}


def test_channels_without_output_come_from_the_filter() -> None:
    text = (
        f"g (float[batch,channels,height,width] x) => (float y) {{ {declare_weight('w', 8, 3, 3, 3)} y = Conv(x, w) }}"
    )
    binding, shapes = bind_and_infer(model(text), Request())
    assert (binding.chosen["channels"], shapes.values["x"].concrete) == (3, (1, 3, 224, 224))
    assert "channels" in binding.determined, "it is no variable of a formula"


def test_table_columns_stay_dynamic() -> None:
    binding, _ = bind_and_infer(
        model("g (float[batch,columns] x) => (float y) { y = ReduceSum<keepdims=0>(x) }"), Request()
    )
    assert "columns" not in binding.chosen


def test_spaces_around_a_requested_name_are_ignored() -> None:
    source = model("g (float[batch,seq,4] x) => (float y) { y = Relu(x) }")
    assert bind_and_infer(source, parse_request(dims=(" seq = 5",)))[0].chosen["seq"] == 5


def test_cumulative_sum_without_inputs_has_no_positions() -> None:
    _, shapes = bind_and_infer(model("g (int64[1,seq] ids) => (int64 y) { y = CumSum() }"), Request())
    assert shapes.steps
