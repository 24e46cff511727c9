"""Numbers that no machine has anything of are said, and in a few letters."""

import math

import pytest

from onnx_autodoc.text import count, duration, file_size, memory, percent, plural, short, three


@pytest.mark.parametrize("bits", [120, 200, 1_900, 20_000])
def test_absurd_numbers_are_said_by_their_power_of_ten(bits: int) -> None:
    power = math.floor(bits * math.log10(2))
    assert short(2**bits, "MACs") == f"about 10^{power} MACs"
    assert short(2**bits) == f"about 10^{power}"
    assert memory(2**bits) == file_size(2**bits) == f"about 10^{power} bytes"
    assert len(count(2**bits)) < 200
    assert len(plural(2**bits, "node")) < 200


def test_the_largest_numbers_of_machines_are_said_as_ever() -> None:
    assert short(10**15, "MACs") == "1,000 TMACs"
    assert count(2**200) == f"{2**200:,}"


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_said_to_be_none(number: float) -> None:
    assert three(number) == "no finite number"
    assert percent(number) == "no finite share"
    assert "no finite number" in duration(number)
