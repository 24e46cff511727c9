"""Open dimensions: what the user says, what is taken otherwise, what is refused."""

import pytest

from onnx_autodoc.errors import BadInput
from onnx_autodoc.resolve import Request, bind, fit
from tests._text import loaded, model, proto

TEXT = "g (int64[B,S] ids, int64[B,S] mask) => (float[] y) { y = Cast <to = 1> (ids) }"
IMAGE = "g (float[unnamed,3,unnamed,unnamed] x) => (float[] y) { y = Relu(x) }"
CACHED = """g (int64[B,S] ids, int64[B,total_sequence_length] mask, float[B,4,past_len,8] past_key) => (float[] y)
    { y = Relu(past_key) }"""


@pytest.mark.parametrize(
    ("text", "request_", "expected"),
    [
        (TEXT, Request(), {"B": 1, "S": 128}),
        (TEXT, Request(batch=4, seq=9), {"B": 4, "S": 9}),
        (TEXT, Request(dims=("S=77",)), {"B": 1, "S": 77}),
        (TEXT, Request(dims=("ids.1=12",)), {"B": 1, "S": 12}),
        (TEXT, Request(seq=9, dims=("S=10",)), {"B": 1, "S": 10}),
        (IMAGE, Request(), {"x.0": 1, "x.2": 224, "x.3": 224}),
        (IMAGE, Request(size=(32, 64)), {"x.0": 1, "x.2": 32, "x.3": 64}),
        (IMAGE, Request(dims=("x.3=7",)), {"x.0": 1, "x.2": 224, "x.3": 7}),
        (CACHED, Request(), {"B": 1, "S": 1, "past_len": 127, "total_sequence_length": 128}),
    ],
)
def test_every_open_dimension_gets_a_size(text: str, request_: Request, expected: dict[str, int]) -> None:
    made = proto(text)
    for value in made.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param == "unnamed":
                dim.dim_param = "?"
    assert bind(loaded(made), request_).chosen == expected


@pytest.mark.parametrize(
    ("text", "request_", "word"),
    [
        (TEXT, Request(dims=("T=3",)), "no open dimension 'T'"),
        (TEXT, Request(dims=("ids.7=3",)), "count from 0"),
        (TEXT, Request(dims=("ids.1=many",)), "whole number"),
        (TEXT, Request(dims=("S",)), "NAME=N"),
        (TEXT, Request(size=(2, 2)), "no open height"),
        (TEXT, Request(values=("nobody=3",)), "no input 'nobody'"),
        (TEXT, Request(values=("ids=x",)), "no number"),
        ("g (float[2,3] x) => (float[] y) { y = Relu(x) }", Request(dims=("x.1=4",)), "fixes dimension 1"),
        ("g (float[2,3] x) => (float[] y) { y = Relu(x) }", Request(batch=4), "no open batch"),
        ("g (int64[3] n) => (float[] y) { y = Cast <to = 1> (n) }", Request(values=("n=3",)), "single number"),
    ],
)
def test_a_request_that_changes_nothing_is_refused(text: str, request_: Request, word: str) -> None:
    with pytest.raises(BadInput, match=word):
        bind(model(text), request_)


def test_a_size_that_the_file_has_already_is_accepted() -> None:
    fixed = model("g (float[2,3] x) => (float[] y) { y = Relu(x) }")
    assert bind(fixed, Request(batch=2, dims=("x.1=3",))).chosen == {}


def test_defaults_that_cannot_run_give_way_to_usual_sizes() -> None:
    text = """g (float[1,3,H,W] x, float[8,3,48,5] w) => (float[] y) { c = Conv(x, w)
        one = Constant <value = int64[1] {2}> ()  y = Squeeze(c, one) }"""
    binding, found = fit(model(text), Request())
    assert found.contradictions == ()
    assert binding.chosen["H"] == 48


def test_sizes_of_the_weights_are_tried_for_features() -> None:
    zeros = ", ".join(["0.5"] * 529 * 4)
    weight = f"w = Constant <value = float[529,4] {{{zeros}}}> ()"
    text = f"g (float[N,F] x) => (float[] y) {{ {weight}  a = Relu(x)  y = MatMul(a, w) }}"
    binding, found = fit(model(text), Request())
    assert binding.chosen["F"] == 529
    assert found.values["y"].concrete == (1, 4)


def test_a_size_the_user_chose_is_never_changed() -> None:
    text = "g (float[1,3,H,W] x, float[8,3,48,5] w) => (float[] y) { y = Conv(x, w) }"
    binding, found = fit(model(text), Request(size=(8, 8)))
    assert binding.chosen == {"H": 8, "W": 8}
    assert found.contradictions
