"""Implausible and non-finite numbers are formatted in a few characters."""

import math

import pytest

from onnx_autodoc.text import (
    format_bytes,
    format_count,
    format_number,
    format_percent,
    format_short,
    format_time,
    pluralize,
)


@pytest.mark.parametrize("bits", [120, 200, 1_900, 20_000])
def test_implausible_number_is_a_power_of_ten(bits: int) -> None:
    power = math.floor(bits * math.log10(2))
    assert format_short(2**bits, "MACs") == f"about 10^{power} MACs"
    assert format_short(2**bits) == f"about 10^{power}"
    assert format_bytes(2**bits) == format_bytes(2**bits) == f"about 10^{power} bytes"
    assert len(format_count(2**bits)) < 200
    assert len(pluralize(2**bits, "node")) < 200


def test_largest_plausible_numbers_are_formatted_as_usual() -> None:
    assert format_short(10**15, "MACs") == "1.00 PMACs"
    assert format_short(2**63 - 1, "FLOPs") == "9.22 EFLOPs"
    assert format_bytes(2**63 - 1) == "8.00 EiB"
    assert format_count(2**200) == f"{2**200:,}"


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_non_finite_number_is_named_as_such(number: float) -> None:
    assert format_number(number) == "no finite number"
    assert format_percent(number) == "no finite share"
    assert "no finite number" in format_time(number)
