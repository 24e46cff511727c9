"""Share of weights and share of work of each part, with recorded numbers."""

from msgspec.structs import replace

from onnx_autodoc.card import Box, Card, with_uncertainty
from onnx_autodoc.render.charts import draw_chart
from tests.render._trees import box, root
from tests.render.charts._look import card, list_texts, read_amounts


def test_embedding_has_weights_without_work() -> None:
    chart = draw_chart("overview", card("all-minilm-l6-v2-ts-op14"))
    assert chart is not None
    assert read_amounts(chart, "parameters") == {
        "Embedding 30,522 × 384": [11_918_592],
        "6 × Attention 12 heads × 32": [3_548_160],
        "12 × LayerNorm": [9_216],
        "6 × MLP gelu, 384 → 1,536 → 384": [7_089_408],
    }
    assert read_amounts(chart, "MACs") == {
        "6 × Attention 12 heads × 32": [528_482_304],
        "6 × MLP gelu, 384 → 1,536 → 384": [905_969_664],
    }
    assert list_texts(chart).count("none") == 2
    assert chart.alt.startswith("Embedding 30,522 × 384: 53% of the parameters, 0% of all MACs; 6 × MLP")


def test_weights_outside_the_diagram_are_a_bar() -> None:
    """A voice detector for two sampling rates: the weights of the branch that does not run."""
    chart = draw_chart("overview", card("silero-vad"))
    assert chart is not None
    assert read_amounts(chart, "parameters")["Not in the diagram"] == [545_282 - 309_633]
    assert sum(map(sum, read_amounts(chart, "parameters").values())) == 545_282
    assert "Not in the diagram" not in chart.alt


def test_few_stages_stay_separate() -> None:
    chart = draw_chart("overview", card("resnet50-ts-op17"))
    assert chart is not None
    assert read_amounts(chart, "parameters")["3 × Bottleneck 2,048 channels at 7×7"] == [14_953_472]
    assert read_amounts(chart, "MACs")["3 × Bottleneck 2,048 channels at 7×7"] == [809_238_528]


def test_many_blocks_are_merged_by_label() -> None:
    chart = draw_chart("overview", card("yolov8l-nc1"))
    assert chart is not None
    assert [name for name in read_amounts(chart, "MACs") if name.endswith("× CSP block")] == ["8 × CSP block"]


def _replace_boxes(*boxes: Box) -> Card:
    original = card("bilstm-gru-tagger")
    weights = replace(original.parameters, total=sum(box.params for box in boxes))
    compute = replace(original.compute, macs=sum(box.macs or 0 for box in boxes) or None)
    structure = replace(original.structure, tree=root(boxes, ()))
    return replace(original, parameters=weights, compute=compute, structure=structure)


def test_excess_parts_are_merged() -> None:
    boxes = [box(f"b{at}", "conv", f"Kind {at}", params=10 + at, macs=100 + at) for at in range(30)]
    chart = draw_chart("overview", _replace_boxes(*boxes))
    assert chart is not None
    bars = read_amounts(chart, "parameters")
    assert len(bars) == 10
    assert bars["21 more kinds of blocks"] == [sum(10 + at for at in range(21))]
    assert sum(map(sum, bars.values())) == sum(10 + at for at in range(30))


def test_part_with_unknown_macs_is_stated() -> None:
    chart = draw_chart("overview", _replace_boxes(box("a", params=5, macs=7), box("b", params=3, macs=None)))
    assert chart is not None
    assert "unknown" in list_texts(chart)


def test_shares_of_counted_macs_are_marked() -> None:
    original = card("slanet-table-en")
    gap = card("control-flow-loop-if").compute.coverage.gaps[0]
    coverage = replace(original.compute.coverage, gaps=(replace(gap, macs=True),))
    chart = draw_chart(
        "overview", with_uncertainty(replace(original, compute=replace(original.compute, coverage=coverage)))
    )
    assert chart is not None
    assert "MACs at least 1.24 G" in list_texts(chart)
    assert any("shares of the counted MACs" in text for text in list_texts(chart))


def test_single_part_or_quantity_has_no_overview() -> None:
    assert draw_chart("overview", _replace_boxes(box("a", params=5, macs=7))) is None
    assert draw_chart("overview", _replace_boxes(box("a", params=5), box("b", params=3))) is None
    assert draw_chart("overview", _replace_boxes(box("a", macs=5), box("b", macs=3))) is None
