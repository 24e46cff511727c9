"""The page writes numbers as the rest of the tool does, to the letter, and its formulas are the card's."""

import json
import random

import pytest

from onnx_autodoc import card
from onnx_autodoc.render.html.data import formula_data, to_script_json
from onnx_autodoc.render.html.templates import read_asset
from onnx_autodoc.text import format_bytes, format_count, format_number, format_percent, format_short
from tests._corpus import graph
from tests.render.html._node import run

NUMBERS = read_asset("numbers.js")


def list_whole_numbers() -> list[int]:
    """Of all sizes; those at which a unit begins, and those that end in a tie."""
    chance = random.Random(7)
    numbers = [chance.randrange(10 ** chance.randrange(1, 26)) for _ in range(6_000)]
    numbers += [scale * unit // 10_000 + off for scale in (10**3, 10**6, 10**9, 10**12, 2**10, 2**20, 2**30, 2**40)
              for unit in (9_994, 9_995, 9_996, 10_000, 99_995, 999_500, 9_995_000) for off in (-1, 0, 1)]  # fmt: skip
    numbers += [
        chance.randrange(1, 1_000) * scale // 8 for scale in (10**3, 10**6, 10**9, 2**10, 2**20) for _ in range(400)
    ]
    return [0, 1, 2, 999, 1000, 1023, 1024, 2**53 - 1, 2**53 + 1, 2**64, *numbers]


def test_script_formats_counts_and_memory_like_python() -> None:
    numbers = list_whole_numbers()
    ways = "n => [Numbers.short(n), Numbers.short(n, 'MACs'), Numbers.memory(n), Numbers.count(n)]"
    actual = run(NUMBERS, f"{json.dumps([str(number) for number in numbers])}.map(BigInt).map({ways})")
    for number, texts in zip(numbers, actual, strict=True):
        assert texts == [
            format_short(number),
            format_short(number, "MACs"),
            format_bytes(number),
            format_count(number),
        ], number


def test_ties_round_to_even() -> None:
    assert (format_number(0.125), format_number(0.375), format_bytes(1024 + 128 + 5)) == ("0.12", "0.38", "1.13 KiB")
    assert run(NUMBERS, "[0.125, 0.375, 2.5, 1.005].map(Numbers.three)") == [
        format_number(value) for value in (0.125, 0.375, 2.5, 1.005)
    ]


def test_script_formats_shares_and_quotients_like_python() -> None:
    chance = random.Random(11)
    shares = [0.0, 1.0, 0.005, 0.01, 0.015, 0.025, 0.5, 0.99, 0.991, 0.999, *(chance.random() for _ in range(3_000))]
    assert run(NUMBERS, f"{json.dumps(shares)}.map(Numbers.percent)") == list(map(format_percent, shares))
    pairs = [(chance.randrange(10**25), chance.randrange(1, 10 ** chance.randrange(1, 22))) for _ in range(3_000)]
    arguments = json.dumps([[str(numerator), str(denominator)] for numerator, denominator in pairs])
    actual = run(NUMBERS, f"{arguments}.map(pair => Numbers.write(pair.map(BigInt), 'three', ''))")
    assert actual == [format_number(numerator / denominator) for numerator, denominator in pairs]


SIZES = {
    "all-minilm-l6-v2-ts-op14": {"batch_size": 3, "sequence_length": 77},
    "whisper-tiny-decoder": {"batch_size": 2, "decoder_sequence_length": 200},
    "resnet50-qdq-int8": {"batch": 17},
    "ppocrv4-rec-ch": {"p2o.DynamicDimension.0": 2, "p2o.DynamicDimension.1": 336},
}


@pytest.mark.parametrize("name", SIZES)
def test_script_formulas_match_card_at_other_sizes(name: str) -> None:
    """The page's own arithmetic, at sizes that the card was not made at."""
    plain, resized = card(graph(name)), card(graph(name), dims=SIZES[name])
    data = formula_data(plain)
    at = json.dumps([str(SIZES[name][variable]) for variable in plain.compute.formula.variables])
    page = f"const document = {{ getElementById: () => ({{ textContent: {json.dumps(to_script_json(data))} }}) }};"
    requested = ["macs", "flops", "bytes_moved", "peak_activation_bytes", "memory_bytes"]
    actual = run(
        page,
        NUMBERS,
        read_asset("sliders.js"),
        f"{json.dumps(requested)}.map(one => Sliders.valueOf(one, {at}.map(BigInt)))",
    )
    peak = resized.memory.peak_activation_bytes
    assert peak is not None
    truth = [
        resized.compute.macs,
        resized.compute.flops,
        resized.compute.bytes_moved,
        peak,
        peak + resized.memory.weights_bytes,
    ]
    assert actual == list(map(str, truth))


def test_quantity_without_formula_is_unknown_at_other_sizes() -> None:
    data = """'{"sliders": [], "terms": {}, "divisors": {}, "weights": "5"}'"""
    page = f"const document = {{ getElementById: () => ({{ textContent: {data} }}) }};"
    requested = "['macs', 'memory_bytes', 'arithmetic_intensity'].map(one => Sliders.valueOf(one, [1n]))"
    assert run(page, NUMBERS, read_asset("sliders.js"), requested) == [None, None, None]
