"""Hardware on a page: a bound is never printed as a time, what does not fit says so, and grades are never mixed up."""

import re

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Card, Price
from onnx_autodoc.render.content import Block, Bullets, Heading, Number, Paragraph, Spans, Table, to_spans
from onnx_autodoc.render.sections.hardware import hardware as section
from tests.render._graded import RESTS, crowded, graded, hardware, on

MINILM, SMOLLM, SILERO = "all-minilm-l6-v2-ts-op14", "smollm2-135m-kv-op17", "silero-vad"
TWO = ("t4", "rtx_4050_laptop")


def blocks(card: Card, heading: str = "") -> list[Block]:
    """Those below a heading, or those before the first one."""
    result: dict[str, list[Block]] = {"": []}
    for block in section(card).blocks:
        if isinstance(block, Heading):
            result[block.text] = []
        else:
            result[list(result)[-1]].append(block)
    return result[heading]


def tables(card: Card, heading: str = "") -> list[Table]:
    return [block for block in blocks(card, heading) if isinstance(block, Table)]


def text_of(text: Spans) -> str:
    return "".join(part if isinstance(part, str) else part.text for part in to_spans(text))


def column(table: Table, title: str) -> list[str]:
    at = [column.title for column in table.columns].index(title)
    return [text_of(row[at]) for row in table.rows]


def titles(table: Table) -> list[str]:
    return [column.title for column in table.columns]


def tooltips(card: Card) -> str:
    """What stands in bold, and the lines that tables hide behind."""
    folded = [block.summary or "" for block in section(card).blocks if isinstance(block, Table)]
    return "\n".join([*folded, *(text_of(b.text) for b in section(card).blocks if isinstance(b, Paragraph))])


def section_text(card: Card) -> str:
    """All words of the section, cells apart."""
    result = []
    for block in section(card).blocks:
        match block:
            case Table():
                result += [text_of(cell) for row in block.rows for cell in row]
            case Bullets():
                result += [text_of(row) for row in block.items]
            case Paragraph():
                result.append(text_of(block.text))
    return "\n".join(result)


def test_bound_is_never_printed_as_time() -> None:
    table = tables(on(MINILM, "t4"))[0]
    assert column(table, "Time, lower bound") == ["354 µs"]
    assert column(table, "Samples/s") == ["≤ 2.82 k"]
    assert column(table, "Utilization") == ["≤ 100%"]


@pytest.mark.parametrize(
    ("grade", "shown", "speed"),
    [("typical", "1.06 ms (0.53–2.13)", "about 941"), ("measured", "1.06 ms (0.53–2.13)", "941")],
)
def test_single_grade_is_in_the_column_title(grade: str, shown: str, speed: str) -> None:
    table = tables(graded(on(MINILM, "t4"), grade))[0]
    assert column(table, f"Time, {grade}") == [shown]
    assert column(table, "Samples/s") == [speed]
    assert column(table, "Utilization") == ["33%"], "it agrees with the time"


def test_mixed_grades_are_beside_their_times() -> None:
    result = graded(on(SMOLLM, *TWO, "jetson_nano_2gb", "core_i7_12700h"), "typical", "bound", "measured", "calibrated")
    table = tables(result)[0]
    times = column(table, "Time per run")
    assert [re.sub(r"[\d.]+", "#", time) for time in times] == [
        "typical # ms (#–#)",
        "≥ # ms (lower bound)",
        "measured # ms (#–#)",
        "calibrated # ms (#–#)",
    ]
    meanings = [text_of(row).split(":")[0] for row in next(b for b in blocks(result) if isinstance(b, Bullets)).items]
    assert meanings == ["measured", "calibrated", "typical", "lower bound"], "each is explained, the best first"


def with_bounds_only(card: Card) -> Card:
    """Typical times, but none at the largest batches: there the bound stands in."""
    result = hardware(graded(card, "typical"))
    rows = tuple(
        replace(row, seconds=None, per_second=None, low=None, high=None, bottleneck=None, bound=0.001)
        if row.batch > 16
        else row
        for row in result.scaling
    )
    return replace(card, hardware=replace(result, scaling=rows))


def test_bound_in_place_of_time_is_marked() -> None:
    card = with_bounds_only(on(SILERO, "t4"))
    table = tables(card, "Throughput by batch size")[0]
    times = column(table, "Time per run")
    assert [time.split(" ")[0] for time in times] == ["typical"] * 5 + ["≥"] * 3
    last = next(part for part in to_spans(table.rows[-1][1]) if isinstance(part, Number))
    assert (last.exact, last.basis.split(":")[0]) == (0.001, "lower bound"), (
        "who asks behind it gets its grade, not the row's"
    )
    assert "NVIDIA T4, fp32 (typical, lower bound)" in tooltips(card)
    assert "among those with a known time: " in section_text(card)
    meanings = [text_of(row).split(":")[0] for row in next(b for b in blocks(card) if isinstance(b, Bullets)).items]
    assert meanings == ["typical", "lower bound"], "a grade that stands only in a later table is explained, too"


def test_best_batches_state_mixed_grades() -> None:
    text = section_text(graded(on(SILERO, *TWO), "typical", "bound"))
    assert re.search(r"\d+ on T4 \(typical\); \d+ on RTX 4050 Laptop \(lower bound\)\.", text)
    alike = next(line for line in section_text(on(SILERO, *TWO)).splitlines() if "Marked as best" in line)
    assert "bound" not in alike, "all of one grade"


def test_times_precede_their_grades() -> None:
    kinds = [type(block) for block in blocks(on(MINILM, "t4"))]
    assert kinds[:4] == [Paragraph, Table, Paragraph, Bullets]
    assert section_text(on(MINILM, "t4")).startswith("One run in fp32 at batch_size 1, sequence_length 128:")
    first = blocks(on(MINILM, "t4"))[0]
    assert isinstance(first, Paragraph)
    assert isinstance(first.text, str), "sizes that stand alone follow a page's sliders, which these times do not"
    assert section_text(on("yolov8l-nc1", "t4")).startswith("One run in fp32 at the fixed sizes of the file, batch 1:")


def test_precision_column_appears_only_for_mixed_precisions() -> None:
    card = on(MINILM, *TWO)
    assert "Precision" not in titles(tables(card)[0])
    first, second = hardware(card).devices
    mixed = replace(card, hardware=replace(hardware(card), devices=(first, replace(second, precision="int8"))))
    assert column(tables(mixed)[0], "Precision") == ["fp32", "int8"]


def test_operators_without_time_are_not_listed() -> None:
    card = on(MINILM, "t4")
    row = hardware(card).devices[0]
    still = tuple(replace(each, seconds=0.0, share=0.0) if at else each for at, each in enumerate(row.operators))
    blind = replace(row, operators=still, bandwidth=None)
    made = replace(card, hardware=replace(hardware(card), devices=(blind,)))
    assert len(tables(made, "Roofline by operator")[0].rows) == 1
    assert "at the peak rate (bandwidth unknown)" in section_text(made)
    assert "All other op types" not in section_text(made)


def test_source_of_range_is_listed() -> None:
    notes = [block for block in blocks(graded(on(MINILM, *TWO), "typical", "bound")) if isinstance(block, Bullets)][-1]
    assert [text_of(row) for row in notes.items] == [f"NVIDIA T4: typical time from {RESTS}"]


def test_common_note_is_listed_once() -> None:
    card = on(MINILM, *TWO)
    rows = tuple(replace(row, notes=("its cores are counted twice",)) for row in hardware(card).devices)
    text = section_text(replace(card, hardware=replace(hardware(card), devices=rows)))
    assert text.count("its cores are counted twice") == 1
    assert "NVIDIA T4 and NVIDIA GeForce RTX 4050 Laptop: its cores are counted twice" in text


def test_device_that_does_not_fit_has_no_time() -> None:
    result = crowded(on(MINILM, *TWO), "t4")
    table = tables(result)[0]
    assert column(table, "Memory")[0] == "does not fit: 605 MiB of 15.0 GiB"
    assert column(table, "Time, lower bound")[0] == "does not run"
    assert column(table, "Bottleneck") == ["memory capacity", "compute-bound"]
    first = tables(result, "Throughput by batch size")[0]
    assert set(column(first, "Time, lower bound" if "Time, lower bound" in titles(first) else "Time per run")) == {
        "does not run"
    }
    assert all(cell.startswith("does not fit: ") for cell in column(first, "Memory"))


def test_memory_parts_add_up() -> None:
    (parts,) = [table for table in tables(on(MINILM, *TWO)) if table.summary]
    for row in parts.rows:
        numbers = [part.exact for cell in row for part in to_spans(cell) if isinstance(part, Number) and part.exact]
        assert sum(numbers[:-1]) == numbers[-1]


@pytest.mark.parametrize("name", [MINILM, SMOLLM, SILERO, "sd-vae-decoder", "control-flow-loop-if"])
def test_no_number_is_infinite_or_nan(name: str) -> None:
    text = section_text(on(name))
    assert not re.search(r"\binf\b|\bnan\b|\bNone\b|(^|\s)0(\.0+)? (samples|tokens|ms|s)\b", text)


def test_best_batch_is_marked() -> None:
    card = on(SILERO, "t4")
    assert hardware(card).best_batch == 32
    table = tables(card, "Throughput by batch size")[0]
    assert [cell for cell in column(table, "Batch") if "best" in cell] == ["32 (best)"]
    text = section_text(card)
    assert "Marked as best: the smallest batch size with 90% of the best throughput: 32 on T4." in text


def test_only_first_device_table_is_expanded() -> None:
    result = tables(on(SILERO, *TWO), "Throughput by batch size")
    assert [table.summary for table in result] == [None, "NVIDIA GeForce RTX 4050 Laptop, fp32 (lower bound)"]
    assert [len(table.rows) for table in result] == [8, 8]


def test_decoder_has_prefill_and_decode_rows() -> None:
    table = tables(on(SMOLLM, "t4"), "Prefill and decode")[0]
    assert column(table, "Phase") == ["prefill"] * 5 + ["decode"] * 5
    assert column(table, "Context")[5:] == ["128", "512", "2,048", "8,192", "32,768"]
    assert column(table, "Time, lower bound")[4] == "does not run"
    assert column(table, "Memory")[4].startswith("does not fit: ")


def test_same_device_for_all_levels_is_a_sentence() -> None:
    card = on(MINILM)
    assert not tables(card, "Requirements")
    assert "NVIDIA Jetson Nano 2GB in fp32: takes 349 MiB of 2.00 GiB." in section_text(card)


def test_levels_list_devices_with_reasons() -> None:
    card = on(MINILM)
    needs = hardware(card).requirements
    assert needs is not None
    assert needs.comfortable is not None
    larger = replace(needs, comfortable=replace(needs.comfortable, device="x", name="X"), recommended=None)
    result = blocks(replace(card, hardware=replace(hardware(card), requirements=larger)), "Requirements")
    levels = [text_of(row) for block in result if isinstance(block, Bullets) for row in block.items]
    assert levels == [
        "minimum: NVIDIA Jetson Nano 2GB in fp32: takes 349 MiB of 2.00 GiB",
        "recommended: no known device",
        "comfortable: X in fp32: takes 349 MiB of 2.00 GiB",
    ]
    same = replace(larger, recommended=larger.minimum)
    result = blocks(replace(card, hardware=replace(hardware(card), requirements=same)), "Requirements")
    levels = [text_of(row) for block in result if isinstance(block, Bullets) for row in block.items]
    assert [level.split(":")[0] for level in levels] == ["minimum and recommended", "comfortable"]


def test_price_from_bound_is_lower_bound() -> None:
    card = on(MINILM, "t4")
    prices = (Price("t4", 0.35, 1.25, 8, "bound"), Price("t4", 0.35, 0.0004, 8, "typical"))
    prices += (Price("t4", 0.35, None, None, "bound"),)
    table = tables(replace(card, hardware=replace(hardware(card), prices=prices)), "Cost of runs")[0]
    assert column(table, "Per million samples") == ["≥ 1.25", "< 0.01", "unknown"]
    assert column(table, "Per hour") == ["0.35"] * 3


def test_small_shares_are_summarized() -> None:
    card = on(SMOLLM, "t4")
    table = tables(card, "Roofline by operator")[0]
    assert column(table, "Operator") == ["MatMul", "Expand", "Transpose", "Concat"]
    assert len(hardware(card).devices[0].operators) > 4
    assert "All other op types take less than 1% each." in section_text(card)


def test_card_without_hardware_has_model_facts() -> None:
    result = section(replace(on(MINILM), hardware=None))
    assert not [block for block in result.blocks if isinstance(block, Table | Heading)]
    assert len(result.blocks) == 3


def test_tooltip_of_time_states_grade() -> None:
    row = tables(graded(on(MINILM, "t4"), "typical"))[0].rows[0]
    time = next(part for part in to_spans(row[1]) if isinstance(part, Number))
    assert time.basis.startswith("typical: expected from published measurements")
    assert time.basis.endswith(RESTS)
    assert time.exact == pytest.approx(3 * 0.000354186, rel=1e-4)
    assert time.sizes == "batch_size 1, sequence_length 128"
