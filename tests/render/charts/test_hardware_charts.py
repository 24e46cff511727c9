"""Charts of devices: memory, throughput, tokens, and the roofs over the plane of operators."""

import re

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts import Chart, draw_chart, draw_charts
from onnx_autodoc.render.charts.roofline import device_roofs
from tests.render._graded import crowded, graded, hardware, on
from tests.render.charts._look import (
    find_outside,
    find_overflowing,
    find_overlaps,
    list_texts,
    list_tooltips,
    parse_svg,
)

SILERO, SMOLLM, MINILM = "silero-vad", "smollm2-135m-kv-op17", "all-minilm-l6-v2-ts-op14"
FOUR = ("t4", "rtx_4050_laptop", "jetson_nano_2gb", "core_i7_12700h")
GRADES = ("typical", "bound", "measured", "calibrated")


def require_chart(chart: Chart | None) -> Chart:
    assert chart is not None
    return chart


def count_marks(chart: Chart, kind: str) -> int:
    return sum(mark.get("class") == kind for mark in parse_svg(chart).iter())


def read_points(chart: Chart, kind: str) -> list[tuple[float, float]]:
    (line,) = [
        path for path in parse_svg(chart).iter("path") if path.get("class") == kind and path.attrib["d"].count("L") > 1
    ]
    x_y = [point.split() for point in re.split("[ML]", line.attrib["d"])[1:]]
    return [(float(x), float(y)) for x, y in x_y]


@pytest.mark.parametrize("name", [SILERO, SMOLLM])
def test_device_chart_texts_do_not_overlap(name: str) -> None:
    card = on(name, *FOUR)
    for variant in (card, graded(card, *GRADES), crowded(card, "t4"), crowded(card, *FOUR[1:])):
        charts = draw_charts(variant)
        assert charts
        for chart in charts.values():
            assert (find_overlaps(chart), find_outside(chart), find_overflowing(chart)) == ([], [], []), chart.name


def test_throughput_line_follows_rates() -> None:
    card = on(SILERO, "t4")
    line = read_points(require_chart(draw_chart("throughput", card)), "curve")
    assert len(line) == len(hardware(card).scaling) == 8
    speeds = [row.per_second for row in hardware(card).scaling]
    assert sorted(range(8), key=lambda at: -line[at][1]) == sorted(range(8), key=lambda at: speeds[at] or 0)


def test_best_batch_has_a_ring() -> None:
    chart = require_chart(draw_chart("throughput", on(SILERO, "t4", "rtx_4050_laptop")))
    assert count_marks(chart, "ring") == 2
    assert "Ring: smallest batch with 90% of the best throughput." in list_texts(chart)
    assert "T4: ≤ 7.18 M samples per second at batch 32 (≤ 258 k at batch 1)" in chart.alt


def test_constant_throughput_has_no_chart() -> None:
    card = on(SILERO, "t4")
    flat = tuple(replace(row, per_second=100.0) for row in hardware(card).scaling)
    assert draw_chart("throughput", replace(card, hardware=replace(hardware(card), scaling=flat))) is None
    assert draw_chart("throughput", replace(card, hardware=replace(hardware(card), scaling=()))) is None
    assert draw_chart("throughput", replace(card, hardware=None)) is None


def test_batches_that_do_not_fit_have_no_point() -> None:
    card = on(SILERO, "t4")
    rows = tuple(
        replace(row, fits=False, seconds=None, per_second=None) if row.batch > 16 else row
        for row in hardware(card).scaling
    )
    chart = require_chart(draw_chart("throughput", replace(card, hardware=replace(hardware(card), scaling=rows))))
    assert count_marks(chart, "spot") == 5
    assert "T4, fits up to 16" in list_texts(chart)


def test_ranges_are_bands_and_grades_are_in_legend() -> None:
    card = graded(on(SILERO, *FOUR[:2]), "typical", "bound")
    chart = require_chart(draw_chart("throughput", card))
    assert count_marks(chart, "band") == 1
    assert not count_marks(chart, "band-2"), "a bound has no range"
    assert {"T4 (typical)", "RTX 4050 Laptop (bound)"} <= set(list_texts(chart))
    assert any("Shaded: range of typical values." in text for text in list_texts(chart))
    assert not any("Shaded" in text for text in list_texts(require_chart(draw_chart("throughput", on(SILERO, "t4")))))
    assert "Samples per second by batch size at most" in list_texts(
        require_chart(draw_chart("throughput", on(SILERO, "t4")))
    )


def test_omitted_devices_are_noted() -> None:
    chart = require_chart(draw_chart("throughput", on(SILERO, *FOUR)))
    assert any("on the first 3 devices" in text for text in list_texts(chart))
    assert not any("i7" in text for text in list_texts(chart))


def test_token_chart_has_a_panel_per_phase() -> None:
    card = on(SMOLLM, "t4")
    chart = require_chart(draw_chart("tokens", card))
    assert {"Decode: one more token", "Prefill: the whole prompt"} <= set(list_texts(chart))
    runs = [row for row in hardware(card).generation if row.tokens_per_second]
    assert len(list_tooltips(chart, "circle")) == len(runs) == 9
    assert "T4, decode, 2,048 tokens: ≤ 506 per second (bound)" in list_tooltips(chart, "circle")
    assert "T4: ≤ 588 at 128 tokens, ≤ 156 at 32,768 tokens" in chart.alt


def test_model_without_generation_has_no_token_chart() -> None:
    assert draw_chart("tokens", on(SILERO, "t4")) is None
    assert draw_chart("tokens", crowded(on(SMOLLM, "t4"), "t4")) is None


def test_memory_need_is_within_capacity() -> None:
    chart = require_chart(draw_chart("fit", on(MINILM, *FOUR)))
    wide = {
        title: float(bar.attrib["width"]) for bar in parse_svg(chart).iter("rect") for title in [bar.findtext("title")]
    }
    assert count_marks(chart, "pale") == 3
    assert count_marks(chart, "bar") == 4
    assert "723 MiB, capacity unknown" in list_texts(require_chart(draw_chart("fit", on(SMOLLM, *FOUR))))
    assert len(wide) == 4


def test_device_that_does_not_fit_is_an_outline() -> None:
    chart = require_chart(draw_chart("fit", crowded(on(MINILM, *FOUR), "t4")))
    assert count_marks(chart, "rest") == 1
    assert "does not fit: 605 MiB of 15.0 GiB" in list_texts(chart)
    assert chart.alt.startswith("Fits on RTX 4050 Laptop and Jetson Nano 2GB; does not fit on T4")


def test_single_device_has_no_memory_chart() -> None:
    assert draw_chart("fit", on(MINILM, "t4", "core_i7_12700h")) is None


def with_roof(rate: float | None, bandwidth: float | None) -> Card:
    card = on(MINILM, "t4")
    row = replace(hardware(card).devices[0], rate=rate, bandwidth=bandwidth)
    return replace(card, hardware=replace(hardware(card), devices=(row,)))


def test_roof_slopes_to_its_ridge() -> None:
    chart = require_chart(draw_chart("roofline", with_roof(8.1e12, 320e9)))
    start, turn, end = read_points(chart, "curve")
    assert start[0] < turn[0] < end[0]
    assert start[1] > turn[1] == end[1]
    assert "T4 in fp32: 8.10 TFLOP/s, 320 GB/s, ridge point at 25.3 FLOP/byte" in list_texts(chart)
    assert chart.alt.endswith("T4 is memory-bound below 25.3.")


def test_roof_crosses_the_plot() -> None:
    for rate in (1e9, 8.1e12, 2e15):
        (roof,), stretch = device_roofs(with_roof(rate, rate / 20), 2_870_000_000)
        assert 0.1 <= roof.flat / 2.87e9 <= 1
        assert roof.ridge == pytest.approx(20)
        assert stretch.startswith(("1.00 ", "10.0 ", "100 "))
        assert read_points(require_chart(draw_chart("roofline", with_roof(rate, rate / 20))), "curve")


@pytest.mark.parametrize(("rate", "bandwidth"), [(None, 320e9), (8.1e12, None)])
def test_unknown_rate_has_no_roof(rate: float | None, bandwidth: float | None) -> None:
    chart = require_chart(draw_chart("roofline", with_roof(rate, bandwidth)))
    assert not count_marks(chart, "curve")
    assert not any("Roofs" in text for text in list_texts(chart))


def test_labels_avoid_roofs() -> None:
    bare, roofed = (
        require_chart(draw_chart("roofline", card)) for card in (replace(on(MINILM), hardware=None), on(MINILM))
    )
    assert count_marks(roofed, "curve") == 2, "in the plane and in the legend"
    assert {text for text in list_texts(bare) if "%" in text and "dot" not in text} <= set(list_texts(roofed))


def test_lines_do_not_join_different_grades() -> None:
    card = graded(on(SILERO, "t4"), "typical")
    rows = tuple(
        replace(row, basis="bound", low=None, high=None) if row.batch > 8 else row for row in hardware(card).scaling
    )
    chart = require_chart(draw_chart("throughput", replace(card, hardware=replace(hardware(card), scaling=rows))))
    lines = [path.attrib["d"].count("L") + 1 for path in parse_svg(chart).iter("path") if path.get("class") == "curve"]
    assert sorted(lines) == [2, 4, 4], "the legend, and four batches of each"
    assert "T4 (typical, bound)" in list_texts(chart)
