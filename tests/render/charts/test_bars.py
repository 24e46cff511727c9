"""Charts of bars: operators, parameters, work and cache, with recorded numbers."""

import pytest
from msgspec.structs import replace

from onnx_autodoc.render.charts import draw_chart
from tests._corpus import GRAPH_NAMES
from tests.render.charts._look import card, list_texts, list_tooltips, parse_svg, read_amounts, sum_amounts


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_operator_bars_cover_all_nodes(name: str) -> None:
    chart = draw_chart("operators", card(name))
    assert chart is not None
    assert sum_amounts(chart, "nodes") == card(name).graph.nodes_total


def test_operators_are_sorted_and_the_rest_is_merged() -> None:
    chart = draw_chart("operators", card("all-minilm-l6-v2-ts-op14"))
    assert chart is not None
    counts = read_amounts(chart, "nodes")
    assert list(counts)[:3] == ["Constant", "Add", "Unsqueeze"]
    assert counts["Constant"] == [186]
    assert counts["13 more types"] == [45]
    assert len(counts) == 15
    assert chart.alt == "646 nodes of 27 types; most frequent: Constant, 186 (29%)."


def test_operator_of_other_domain_is_qualified() -> None:
    chart = draw_chart("operators", card("all-minilm-l6-v2-ortfused"))
    assert chart is not None
    assert "Attention (com.microsoft)" in read_amounts(chart, "nodes")


def test_two_operator_types_have_no_chart() -> None:
    original = card("bilstm-gru-tagger")
    reduced = replace(original, graph=replace(original.graph, operators=original.graph.operators[:2]))
    assert draw_chart("operators", reduced) is None


def test_parameter_panels_each_sum_to_total() -> None:
    chart = draw_chart("parameters", card("bilstm-gru-tagger"))
    assert chart is not None
    assert sum_amounts(chart, "parameters") == 2 * 720_394
    counts = read_amounts(chart, "parameters")
    assert counts["2 × LSTM hidden 128, both ways"] == counts["LSTM"] == [593_920]
    assert "594 k · 82% · 2.27 MiB" in list_texts(chart)
    assert chart.alt == "720 k parameters in 12 tensors; largest: 2 × LSTM hidden 128, both ways, 594 k (82%)."


def test_merged_blocks_and_remainder_are_separate() -> None:
    original = card("yolov8l-nc1")
    more = replace(original.parameters, total=original.parameters.total + 1000)
    chart = draw_chart("parameters", replace(original, parameters=more))
    assert chart is not None
    blocks = read_amounts(chart, "parameters")
    assert blocks["Not in the diagram"] == [1000]
    assert len([name for name in blocks if name.endswith(" more blocks")]) == 1
    assert sum_amounts(chart, "parameters") % more.total == 0


def test_single_weight_has_no_chart() -> None:
    """One linear layer in one operator, and a file without weights."""
    assert draw_chart("parameters", card("control-flow-loop-if")) is None
    assert draw_chart("parameters", card("onnx-light-bvlc-alexnet")) is None


def test_blocks_are_in_data_order() -> None:
    chart = draw_chart("work", card("sd-vae-decoder"))
    assert chart is not None
    names = list(read_amounts(chart, "MACs"))
    blocks = names[names.index("Conv 1×1 4 → 4") :]
    assert blocks[:4] == [
        "Conv 1×1 4 → 4",
        "Conv 3×3 4 → 512",
        "Residual block 512 channels at 224×224",
        "Attention 1 head × 512",
    ]
    assert sum_amounts(chart, "MACs") == 3 * 17_769_029_189_632


def test_work_chart_states_its_sizes() -> None:
    chart = draw_chart("work", card("all-minilm-l6-v2-ts-op14"))
    assert chart is not None
    assert "MACs by kind of layer 1.43 G at batch_size 1, sequence_length 128" in list_texts(chart)
    assert read_amounts(chart, "MACs") == {
        "MLP": [905_969_664],
        "Projections of attention": [452_984_832],
        "Attention itself": [75_497_472],
    }


def test_unknown_work_has_no_chart() -> None:
    assert draw_chart("work", card("control-flow-loop-if")) is None


def test_cache_chart_compares_with_weights() -> None:
    chart = draw_chart("cache", card("smollm2-135m-kv-op17"))
    assert chart is not None
    assert list_tooltips(chart, "rect") == [
        "2,048 tokens: 94,371,840 bytes",
        "8,192 tokens: 377,487,360 bytes",
        "32,768 tokens: 1,509,949,440 bytes",
        "131,072 tokens: 6,039,797,760 bytes",
        "Weights: 651,306,240 bytes",
    ]
    widths = [float(bar.attrib["width"]) for bar in parse_svg(chart).iter("rect")]
    assert widths[3] / widths[0] == pytest.approx(64, rel=0.02)
    assert chart.alt == "46,080 bytes per token: 5.62 GiB at 131,072 tokens, compared with 621 MiB of weights."


def test_model_without_cache_has_no_chart() -> None:
    assert draw_chart("cache", card("all-minilm-l6-v2-ts-op14")) is None


def test_batch_chart_has_memory_and_intensity() -> None:
    chart = draw_chart("scaling", card("all-minilm-l6-v2-ts-op14"))
    assert chart is not None
    assert "batch 1: 92,882,944 bytes, 90,261,504 of them weights" in list_tooltips(chart, "rect")
    assert [text for text in list_texts(chart) if text.startswith("batch ")] == [
        f"batch {1 << power}" for power in range(8)
    ]
    assert chart.alt == (
        "Memory from 88.6 MiB at batch 1 to 406 MiB at batch 128; "
        "FLOPs per byte from 12.6 at batch 1 to 15.5 at batch 128."
    )


def test_solid_part_of_bar_is_weights() -> None:
    original = card("all-minilm-l6-v2-ts-op14")
    chart = draw_chart("scaling", original)
    assert chart is not None
    bars = [bar for bar in parse_svg(chart).iter("rect") if "of them weights" in (bar.findtext("title") or "")]
    long, solid = (float(bar.attrib["width"]) for bar in bars[-2:])
    share = original.memory.weights_bytes / (original.scaling[-1].memory_bytes or 0)
    assert solid / long == pytest.approx(share, abs=0.002)


def test_fixed_batch_and_unknown_columns_are_omitted() -> None:
    original = card("all-minilm-l6-v2-ts-op14")
    assert draw_chart("scaling", replace(original, scaling=())) is None
    half = tuple(replace(row, arithmetic_intensity=None) for row in original.scaling)
    chart = draw_chart("scaling", replace(original, scaling=half))
    assert chart is not None
    assert not any("FLOPs" in text for text in list_texts(chart))
    unknown = tuple(replace(row, memory_bytes=None) for row in half)
    assert draw_chart("scaling", replace(original, scaling=unknown)) is None


def test_batch_with_unknown_memory_is_stated() -> None:
    original = card("all-minilm-l6-v2-ts-op14")
    rows = (replace(original.scaling[0], memory_bytes=None), *original.scaling[1:])
    chart = draw_chart("scaling", replace(original, scaling=rows))
    assert chart is not None
    assert "unknown" in list_texts(chart)
