"""Changes against a baseline are compared exactly, and only for comparable figures."""

from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from onnx_autodoc.card import Card
from tests.policy._cards import SAMPLE, card, card_from_text, check_bounds, check_status, replace_figure

RESNET, MINILM, MOBILENET = SAMPLE[1], SAMPLE[0], SAMPLE[4]
COUNTS = st.integers(0, 10**20)
LIMITS = st.one_of(st.integers(0, 1000), st.decimals(0, 1000, places=3).map(float))


def card_with_parameters(total: int) -> Card:
    source = card(RESNET)
    return replace(source, parameters=replace(source.parameters, total=total))


def check_total(baseline: int, current: int, **limit: object) -> str:
    """Return the status of a limit on the change of the number of parameters."""
    return check_status(card_with_parameters(current), "parameters.total", card_with_parameters(baseline), **limit)


@settings(deadline=None)
@given(COUNTS, LIMITS)
def test_increase_up_to_the_limit_passes(baseline: int, limit: float) -> None:
    highest = floor(Fraction(baseline) * (1 + Fraction(str(limit)) / 100))
    assert check_total(baseline, highest, max_percent=limit) == "pass"
    assert check_total(baseline, highest + 1, max_percent=limit) == "fail"


@settings(deadline=None)
@given(COUNTS, LIMITS)
def test_decrease_down_to_the_limit_passes(baseline: int, limit: float) -> None:
    lowest = ceil(Fraction(baseline) * (1 - Fraction(str(limit)) / 100))
    if lowest >= 0:
        assert check_total(baseline, lowest, max_drop_percent=limit) == "pass"
    if lowest > 0:
        assert check_total(baseline, lowest - 1, max_drop_percent=limit) == "fail"


@settings(deadline=None)
@given(COUNTS, st.integers(0, 10**6))
def test_absolute_change_up_to_the_limit_passes(baseline: int, step: int) -> None:
    assert check_total(baseline, baseline + step, max_increase=step) == "pass"
    assert check_total(baseline, baseline + step + 1, max_increase=step) == "fail"
    if baseline > step:
        assert check_total(baseline, baseline - step, max_decrease=step) == "pass"
        assert check_total(baseline, baseline - step - 1, max_decrease=step) == "fail"


def test_fractional_percentage_is_exact() -> None:
    assert check_total(1000, 1001, max_percent=0.1) == "pass"
    assert check_total(1000, 1002, max_percent=0.1) == "fail"
    assert check_total(10**20, 10**20 + 10**17, max_percent=0.1) == "pass"
    assert check_total(10**20, 10**20 + 10**17 + 1, max_percent=0.1) == "fail"


def test_increase_from_zero_exceeds_every_percentage() -> None:
    assert check_total(0, 1, max_percent=10**9) == "fail"
    assert check_total(0, 0, max_percent=0) == "pass"


def test_negative_limit_requires_a_decrease() -> None:
    assert check_total(100, 90, max_percent=-10) == "pass"
    assert check_total(100, 91, max_percent=-10) == "fail"


def test_increase_limit_ignores_decreases_and_vice_versa() -> None:
    assert check_total(100, 1, max_percent=0) == "pass"
    assert check_total(100, 999, max_drop_percent=0) == "pass"


@pytest.mark.parametrize(
    "path", ["model.precision.label", "structure.family", "graph.nodes", "model.opsets", "interface", "structure"]
)
def test_equal_compares_texts_numbers_tables_and_sections(path: str) -> None:
    assert check_status(card(MINILM), path, card(MINILM), equal=True) == "pass"
    assert check_status(card(MINILM), path, card(MOBILENET), equal=True) == "fail"


def test_lists_of_equal_length_with_other_content_differ() -> None:
    old = card(MINILM)
    ports = tuple(replace(port, name=f"{port.name}_") for port in old.interface.inputs)
    new = replace(old, interface=replace(old.interface, inputs=ports))
    assert (
        check_status(
            new,
            "interface.inputs",
            old,
            max_increase=0,
        )
        == "pass"
    )
    assert check_status(new, "interface.inputs", old, equal=True) == "fail"


def test_unknown_figure_on_either_side_fails() -> None:
    known, unknown = card(RESNET), replace_figure(card(RESNET), "compute.macs", None)
    for old, new in ((known, unknown), (unknown, known), (unknown, unknown)):
        for limit in ({"max_percent": 1000}, {"equal": True}):
            assert check_status(new, "compute.macs", old, **limit) == "fail"
            assert check_status(new, "compute.macs", old, **limit, allow_gaps=True) == "allowed"


def test_costs_at_other_sizes_fail() -> None:
    old, new = card(MINILM, "sequence_length=64"), card(MINILM)
    for path in (
        "compute.macs",
        "memory.peak_activation_bytes",
        "graph.operators.MatMul.macs",
        "scaling.8.memory_bytes",
    ):
        (check,) = check_bounds(new, old, changes={path: {"max_percent": 10**6}})
        assert check.status == "fail" and "other sizes" in check.message, path
    assert check_status(new, "parameters.total", old, max_percent=0) == "pass"
    assert check_status(new, "graph.nodes", old, equal=True) == "pass"


def test_breaking_interface_change_fails() -> None:
    old = card_from_text("g (float[n,3] x) => (float[n,3] y) { y = Relu(x) }")
    fixed = card_from_text("g (float[4,3] x) => (float[4,3] y) { y = Relu(x) }")
    renamed = card_from_text("g (float[n,3] z) => (float[n,3] y) { y = Relu(z) }")
    more = card_from_text("g (float[n,3] x) => (float[n,3] y, float[n,3] w) { y = Relu(x) w = Exp(x) }")
    for new, status in ((old, "pass"), (more, "pass"), (fixed, "fail"), (renamed, "fail")):
        assert check_status(new, "interface", old, breaking=False) == status
    assert check_status(old, "interface", more, breaking=False) == "fail"
