"""Figures supplied by the user as JSON or CSV."""

import pytest

from onnx_autodoc.compare import compare, read_figures
from onnx_autodoc.errors import BadInput
from tests.compare._cards import of_text

CARD = of_text("g (float[2, 3] x) => (float[2, 3] y) { y = Relu(x) }")
NAMES = ["models/a.onnx", "models/b.onnx"]


@pytest.mark.parametrize(
    "text",
    [
        '{"models/a.onnx": {"top1": 0.5, "ms": 4}, "b": {"top1": 0.25, "ms": 5}}',
        "model,top1,ms\na.onnx,0.5,4\nb.onnx,0.25,5\n",
        "\ufeffmodel,top1,ms\r\na,0.5,4\r\nb,0.25,5\r\n".lstrip("\ufeff"),
    ],
)
def test_figures_are_assigned_by_model_name(text: str) -> None:
    comparison = compare([CARD, CARD], NAMES, read_figures(text, "f"))
    rows = [
        (figure.name, figure.was, figure.now, figure.change, figure.percent) for figure in comparison.diffs[0].figures
    ]
    assert rows == [("top1", 0.5, 0.25, -0.25, -50.0), ("ms", 4, 5, 1, 25.0)]
    assert comparison.empty, "figures of the user are no part of the cards"


def test_integers_and_differences_have_64_bits() -> None:
    rows = read_figures(f'{{"a": {{"n": {-(2**62) + 1}}}, "b": {{"n": {2**62 - 1}}}}}', "f")
    (figure,) = compare([CARD, CARD], NAMES, rows).diffs[0].figures
    assert figure.change == 2**63 - 2
    assert read_figures(f'{{"a": {{"n": {2**63}}}}}', "f") == {"a": {"n": float(2**63)}}


def test_figure_of_one_model_has_no_difference() -> None:
    comparison = compare([CARD, CARD], NAMES, read_figures("model,ms\na,4\nb,\n", "f"))
    assert [(figure.was, figure.now, figure.change) for figure in comparison.diffs[0].figures] == [(4, None, None)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": {"top1": "good"}}', "f: a: top1: 'good' is not a number"),
        ('{"a": {"top1": true}}', "f: a: top1: 'True' is not a number"),
        ('{"a": 1}', "expected"),
        ("[1]", "expected"),
        ('{"a": ', "not JSON"),
        ("model,ms\na,fast\n", "f, line 2: ms: 'fast' is not a number"),
        ("model,ms\na,nan\n", "f, line 2: ms: 'nan' is not a number"),
        ("model,ms\na,1\na,2\n", "f, line 3: duplicate model a"),
        ("name,ms\na,1\n", "f, line 2: expected a column 'model'"),
        ("model,ms\na,1,2\n", "f, line 2: expected"),
        ("model,ms\na\n", "f, line 2: expected"),
        ("", "no figures"),
        (" \n\n", "no figures"),
        ("{}", "no figures"),
        ('{"a": {}}', "no figures"),
        ("model\na\n", "no figures"),
        ('{"a": {"top1": NaN}}', "f: a: top1: 'nan' is not a number"),
        ('{"a": {"top1": 1}, "a": {"top1": 2}}', "f: duplicate key a"),
        ('{"a": {"top1": 1, "top1": 2}}', "f: duplicate key top1"),
        ('{"a": {" ": 1}}', "a figure has no name"),
        ('{"a": {"ms": %s}}' % ("9" * 400), "is not a number"),
        (f"model,ms\na,{'9' * 400}\n", "is not a number"),
        ("model,ms,ms\na,1,2\n", "f, line 1: duplicate column"),
    ],
)
def test_invalid_figure_is_rejected_with_its_place(text: str, why: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_figures(text, "f")
    assert why in str(caught.value)


def test_figures_of_other_models_are_rejected() -> None:
    with pytest.raises(BadInput, match=r"no model is named 'c'; models: models/a\.onnx, models/b\.onnx"):
        compare([CARD, CARD], NAMES, {"c": {"ms": 1}})


def test_conflicting_figures_of_one_model_are_rejected() -> None:
    with pytest.raises(BadInput, match=r"conflicting values for 'ms' of models/a\.onnx"):
        compare([CARD, CARD], NAMES, {"a": {"ms": 1}, "a.onnx": {"ms": 2}})
    assert compare([CARD, CARD], NAMES, {"a": {"ms": 1}, "a.onnx": {"top1": 2}}).figures[NAMES[0]] == {
        "ms": 1,
        "top1": 2,
    }


def test_spaces_around_cells_are_ignored() -> None:
    assert read_figures("model, ms\n a , 4 \n", "f") == {"a": {"ms": 4}}
