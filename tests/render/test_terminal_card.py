"""Hardware on a terminal: a line for each device, whatever is known of it, and never more than there is room for."""

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Card
from onnx_autodoc.render import Report
from onnx_autodoc.render.terminal import MAX_LINES, VALUE_WIDTH, WIDTH, device_rows, render_terminal
from tests._corpus import GRAPH_NAMES
from tests.render._graded import crowded, graded, hardware, on
from tests.render.charts._look import card

MINILM, SMOLLM = "all-minilm-l6-v2-ts-op14", "smollm2-135m-kv-op17"
HINT = "this machine: run `onnx-autodoc calibrate` once for an estimate"


def device_lines(made: Card, most: int = 4, hint: bool = True) -> list[str]:
    return [row.value for row in device_rows(made, most, hint)]


def test_terminal_states_bound() -> None:
    assert device_lines(on(MINILM, "t4")) == [
        "T4  fits  ≥ 354 µs (lower bound)  compute-bound",
        "in fp32 at batch 1",
        HINT,
    ]


def test_terminal_states_grade_of_every_time() -> None:
    result = device_lines(graded(on(MINILM, "t4", "rtx_4050_laptop"), "typical", "measured"))
    assert result[0].startswith("T4               fits  typical 1.06 ms (0.53–2.13)")
    assert result[1].startswith("RTX 4050 Laptop  fits  measured ")
    assert "fits  calibrated 1.06 ms (0.53–2.13)" in device_lines(graded(on(MINILM, "t4"), "calibrated"))[0]
    assert HINT not in result, "a device is better known already"


def test_bottlenecks_move_below_full_lines() -> None:
    made = on(MINILM)
    same = tuple(replace(row, bottleneck="compute") for row in hardware(made).devices)
    result = device_lines(replace(made, hardware=replace(hardware(made), devices=same)))
    assert result[1] == "Core i7-12700H        needs 157 MiB  ≥ 2.13 ms (lower bound)"
    assert result[3] == "in fp32 at batch 1; all compute-bound"
    others = (replace(same[0], bottleneck="launches"), *same[1:])
    result = device_lines(replace(made, hardware=replace(hardware(made), devices=others)))
    assert result[3] == "in fp32 at batch 1; launch-bound, compute-bound, compute-bound"


def test_terminal_device_that_does_not_fit_has_no_time() -> None:
    result = device_lines(crowded(on(MINILM, "t4", "rtx_4050_laptop"), "t4"))
    assert result[0] == "T4               does not fit  605 MiB of 15.0 GiB"
    assert result[1].startswith("RTX 4050 Laptop  fits          ≥ ")


def test_decoder_line_has_tokens_per_second() -> None:
    result = device_lines(on(SMOLLM, "t4"))
    assert result[0] == "T4  fits  ≤ 506 tokens/s  memory-bound"
    assert result[1] == "in fp32, 2,048 tokens in the cache"
    assert " typical " in device_lines(graded(on(SMOLLM, "t4"), "typical"))[0]


def test_decode_step_without_rate_has_time_per_token() -> None:
    made = on(SMOLLM, "t4")
    rows = tuple(
        replace(row, seconds=None, tokens_per_second=None, bound=0.001, basis="typical")
        for row in hardware(made).generation
    )
    result = device_lines(replace(made, hardware=replace(hardware(made), generation=rows)))
    assert "≥ 1.00 ms (lower bound) per token" in result[0]


def test_unknown_time_is_stated() -> None:
    made = on(MINILM, "t4")
    row = hardware(made).devices[0]
    unknown = replace(row, seconds=replace(row.seconds, bound=None), bottleneck=None, fits=None, memory_bytes=None)
    result = device_lines(replace(made, hardware=replace(hardware(made), devices=(unknown,))))
    assert result[0] == "T4  memory unknown  time unknown"


def test_omitted_devices_are_counted() -> None:
    result = device_lines(on(MINILM, "t4", "l4", "rtx_4050_laptop"), most=2, hint=False)
    assert len(result) == 3
    assert result[-1].endswith("; 1 more in --format markdown")


def test_single_device_line_has_all_facts() -> None:
    assert device_lines(on(MINILM, "t4"), most=1, hint=False) == [
        "T4  fits  ≥ 354 µs (lower bound)  compute-bound  in fp32 at batch 1"
    ]
    assert device_lines(on(MINILM, "t4"), most=0) == []


def test_card_without_hardware_has_no_device_rows() -> None:
    assert device_lines(replace(on(MINILM, "t4"), hardware=None)) == []


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_terminal_card_fits_its_limits(name: str) -> None:
    text = render_terminal(Report(card(name), lambda: iter(()))).splitlines()
    assert len(text) <= MAX_LINES
    assert max(map(len, text)) <= WIDTH
    assert sum(line.startswith("Runs on") for line in text) == 1
    assert all(len(line) <= VALUE_WIDTH for line in device_lines(card(name)))
