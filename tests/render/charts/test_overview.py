"""Weights beside work: the parts of a model, with recorded numbers."""

from msgspec.structs import replace

from onnx_autodoc.card import Box, Card, with_uncertainty
from onnx_autodoc.render.charts import draw_chart
from tests.render._trees import box, root
from tests.render.charts._look import amounts, card, texts


def test_embedding_has_weights_without_work() -> None:
    chart = draw_chart("overview", card("all-minilm-l6-v2-ts-op14"))
    assert chart is not None
    assert amounts(chart, "parameters") == {
        "Embedding 30,522 × 384": [11_918_592],
        "6 × Attention 12 heads × 32": [3_548_160],
        "12 × LayerNorm": [9_216],
        "6 × MLP gelu, 384 → 1,536 → 384": [7_089_408],
    }
    assert amounts(chart, "MACs") == {
        "6 × Attention 12 heads × 32": [528_482_304],
        "6 × MLP gelu, 384 → 1,536 → 384": [905_969_664],
    }
    assert texts(chart).count("none") == 2
    assert chart.alt.startswith("Embedding 30,522 × 384: 53 % of the parameters, 0 % of all MACs; 6 × MLP")


def test_weights_outside_the_diagram_are_a_bar() -> None:
    """A voice detector for two sampling rates: the weights of the branch that does not run."""
    chart = draw_chart("overview", card("silero-vad"))
    assert chart is not None
    assert amounts(chart, "parameters")["Not in the drawing"] == [545_282 - 309_633]
    assert sum(map(sum, amounts(chart, "parameters").values())) == 545_282
    assert "Not in the drawing" not in chart.alt


def test_few_stages_stay_separate() -> None:
    chart = draw_chart("overview", card("resnet50-ts-op17"))
    assert chart is not None
    assert amounts(chart, "parameters")["3 × Bottleneck 2,048 channels at 7×7"] == [14_953_472]
    assert amounts(chart, "MACs")["3 × Bottleneck 2,048 channels at 7×7"] == [809_238_528]


def test_many_blocks_are_merged_by_label() -> None:
    chart = draw_chart("overview", card("yolov8l-nc1"))
    assert chart is not None
    assert [name for name in amounts(chart, "MACs") if name.endswith("× CSP block")] == ["8 × CSP block"]


def _with(*boxes: Box) -> Card:
    found = card("bilstm-gru-tagger")
    held = replace(found.parameters, total=sum(box.params for box in boxes))
    done = replace(found.compute, macs=sum(box.macs or 0 for box in boxes) or None)
    structure = replace(found.structure, tree=root(boxes, ()))
    return replace(found, parameters=held, compute=done, structure=structure)


def test_excess_parts_are_merged() -> None:
    boxes = [box(f"b{at}", "conv", f"Kind {at}", params=10 + at, macs=100 + at) for at in range(30)]
    chart = draw_chart("overview", _with(*boxes))
    assert chart is not None
    held = amounts(chart, "parameters")
    assert len(held) == 10
    assert held["21 more kinds of parts"] == [sum(10 + at for at in range(21))]
    assert sum(map(sum, held.values())) == sum(10 + at for at in range(30))


def test_part_with_unknown_macs_is_stated() -> None:
    chart = draw_chart("overview", _with(box("a", params=5, macs=7), box("b", params=3, macs=None)))
    assert chart is not None
    assert "not known" in texts(chart)


def test_shares_of_counted_macs_are_marked() -> None:
    found = card("slanet-table-en")
    gap = card("control-flow-loop-if").compute.coverage.gaps[0]
    coverage = replace(found.compute.coverage, gaps=(replace(gap, macs=True),))
    chart = draw_chart("overview", with_uncertainty(replace(found, compute=replace(found.compute, coverage=coverage))))
    assert chart is not None
    assert "MACs at least 1.24 G" in texts(chart)
    assert any("shares of the MACs that were counted" in text for text in texts(chart))


def test_single_part_or_quantity_has_no_overview() -> None:
    assert draw_chart("overview", _with(box("a", params=5, macs=7))) is None
    assert draw_chart("overview", _with(box("a", params=5), box("b", params=3))) is None
    assert draw_chart("overview", _with(box("a", macs=5), box("b", macs=3))) is None
