"""Figures that are lower bounds or unknown are in the card's table, with the reason."""

import msgspec
from msgspec.structs import replace

from onnx_autodoc.card import (
    MAX_FIGURE,
    Card,
    Gap,
    UncertaintyKind,
    Uncounted,
    describe_uncertainty,
    find_uncertainty,
    is_lower_bound,
    load,
    with_uncertainty,
)
from tests._corpus import load_report
from tests.compare._cards import of_text

LOWER_BOUND, UNKNOWN = UncertaintyKind.LOWER_BOUND, UncertaintyKind.UNKNOWN
DATA_DEPENDENT = "g (float[6] x) => (float[n,1] y) { i = NonZero(x) z = Transpose(i) y = Cast <to = 1> (z) }"


def _load_resnet() -> Card:
    return load_report("resnet50-ts-op17").card


def _add_uncounted_node(card: Card, macs: bool) -> Card:
    coverage = replace(card.compute.coverage, gaps=(Uncounted("Mystery", 2, "no rule", macs, ("a", "b")),))
    return with_uncertainty(replace(card, compute=replace(card.compute, coverage=coverage)))


def _find_kinds(card: Card, *paths: str) -> list[UncertaintyKind | None]:
    entries = [find_uncertainty(card, path) for path in paths]
    return [entry.kind if entry is not None else None for entry in entries]


def test_fully_counted_card_has_no_uncertain_figures() -> None:
    assert _load_resnet().uncertain == {}


def test_node_without_cost_makes_costs_lower_bounds() -> None:
    card = _add_uncounted_node(_load_resnet(), macs=True)
    paths = ("compute.macs", "compute.flops", "graph.operators.*.macs", "structure.tree.children.*.children.*.macs")
    assert _find_kinds(card, *paths) == [LOWER_BOUND] * 4
    assert _find_kinds(card, "compute.arithmetic_intensity", "structure.tree.share") == [UNKNOWN] * 2
    assert _find_kinds(card, "compute.bytes_moved", "parameters.total", "compute.coverage.nodes") == [None] * 3


def test_node_without_multiply_adds_leaves_macs_exact() -> None:
    card = _add_uncounted_node(_load_resnet(), macs=False)
    assert _find_kinds(card, "compute.macs", "compute.flops") == [None, LOWER_BOUND]


def test_reason_names_operator_and_cause() -> None:
    card = _add_uncounted_node(_load_resnet(), macs=True)
    assert describe_uncertainty(card, card.uncertain["compute.macs"]) == "2 Mystery nodes: no rule"


def test_null_figure_is_unknown_not_a_lower_bound() -> None:
    card = _load_resnet()
    empty = replace(card, compute=replace(card.compute, macs=None))
    assert _find_kinds(_add_uncounted_node(empty, macs=True), "compute.macs") == [UNKNOWN]


def test_values_of_unknown_size_make_the_peak_a_lower_bound() -> None:
    card = of_text(DATA_DEPENDENT)
    assert card.memory.unsized
    assert is_lower_bound(card, "memory.peak_activation_bytes") or card.memory.peak_activation_bytes is None
    assert _find_kinds(card, "memory.peak_node") == [UNKNOWN]


def test_gap_of_a_section_covers_its_figures() -> None:
    card = with_uncertainty(replace(_load_resnet(), gaps=(Gap("structure", "too many nodes"),)))
    assert _find_kinds(card, "structure.family", "task.name", "structure.blocks.*.count") == [
        UNKNOWN,
        UNKNOWN,
        LOWER_BOUND,
    ]
    entry = find_uncertainty(card, "structure.family")
    assert entry is not None
    assert describe_uncertainty(card, entry) == "too many nodes"


def test_unchecked_rules_are_marked_by_id() -> None:
    card = replace(_load_resnet(), gaps=(Gap("findings", "failed"),))
    marked = with_uncertainty(card, ("dead-node",))
    assert _find_kinds(marked, "findings", "findings.dead-node", "findings.no-op-node") == [
        LOWER_BOUND,
        UNKNOWN,
        LOWER_BOUND,
    ]


def test_any_rule_may_be_unchecked_where_ids_are_unknown() -> None:
    card = with_uncertainty(replace(_load_resnet(), gaps=(Gap("findings", "failed"),)))
    assert set(card.uncertain) == {"findings", "findings.*"}


def test_card_without_the_table_gets_it_when_loaded() -> None:
    card = of_text(DATA_DEPENDENT)
    data = msgspec.to_builtins(card)
    assert data.pop("uncertain")
    assert load(msgspec.json.encode(data), "card.json") == card


def test_table_of_a_loaded_card_is_unchanged() -> None:
    card = replace(_load_resnet(), uncertain=of_text(DATA_DEPENDENT).uncertain)
    assert load(msgspec.json.encode(card), "card.json").uncertain == card.uncertain


def test_figure_beyond_64_bits_is_a_lower_bound() -> None:
    card = of_text(f"g (float[{1 << 40}, {1 << 40}] x) => (float[n, m] y) {{ y = MatMul(x, x) }}")
    assert card.compute.macs == card.compute.top[0].macs == MAX_FIGURE
    assert _find_kinds(card, "compute.macs", "compute.top.*.macs", "structure.tree.macs") == [LOWER_BOUND] * 3
    reason = describe_uncertainty(card, card.uncertain["compute.macs"])
    assert reason == "figures that exceed 64 bits are given as 9,223,372,036,854,775,807, a lower bound"
    assert Gap("card", reason) in card.gaps
    assert "at least 9.22 EMACs" in card.summary.tldr


def test_largest_figure_of_64_bits_is_exact() -> None:
    card = _load_resnet()
    graphs = (replace(card.graph, depth=depth) for depth in (MAX_FIGURE, MAX_FIGURE + 1))
    most, beyond = (with_uncertainty(replace(card, graph=graph)) for graph in graphs)
    assert most.graph.depth == beyond.graph.depth == MAX_FIGURE
    assert most.uncertain == {}
    assert list(beyond.uncertain) == ["graph.depth"]
