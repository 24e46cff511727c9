"""Limits on figures: names, exactness, and failing closed."""

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Card, Gap, Uncounted, with_uncertainty
from tests.policy._cards import SAMPLE, card, card_from_text, check_bounds, check_status, replace_figure

MINILM, RESNET = SAMPLE[0], SAMPLE[1]
OPEN = """g (float[2,3] x) => (float[n] y) { y = custom.Mystery(x) }"""  # an operator that nobody knows
DECIDED = """g (float[6] x) => (float[n,1] y) { i = NonZero(x) z = Transpose(i) y = Cast<to = 1>(z) }"""


def with_gap(found: Card, macs: bool) -> Card:
    gap = Uncounted("Mystery", 2, "no rule", macs, ("a", "b"))
    covered = replace(found.compute.coverage, gaps=(gap,))
    return with_uncertainty(replace(found, compute=replace(found.compute, coverage=covered)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("model.opsets.ai.onnx", 14),
        ("graph.operators.MatMul.count", 48),
        ("graph.operators.ai.onnx.MatMul.count", 48),
        ("structure.blocks.attention.count", 6),
        ("parameters.by_dtype.float32", 22565376),
        ("interface.inputs", 3),
        ("interface.inputs.input_ids.bound.1", 128),
        ("interface.inputs.input_ids.shape", 2),
        ("scaling.8.batch", 8),
        ("assumptions.dims.sequence_length", 128),
        ("structure.residuals.add", 12),
    ],
)
def test_rows_are_found_by_name(path: str, value: int) -> None:
    assert check_status(card(MINILM), path, equals=value) == "pass"
    assert check_status(card(MINILM), path, max=value - 1) == "fail"


@pytest.mark.parametrize(
    "path",
    [
        "graph.operators.Loop.count",
        "structure.blocks.moe.macs",
        "parameters.by_dtype.int8",
        "memory.by_op.If.weight_bytes",
    ],
)
def test_absent_row_of_a_complete_table_is_zero(path: str) -> None:
    assert check_status(card(MINILM), path, max=0) == "pass"
    assert check_status(card(MINILM), path, min=1) == "fail"
    (check,) = check_bounds(card(MINILM), limits={path: {"max": 0}})
    assert "nothing of this name" in check.message  # for who mistyped it


@pytest.mark.parametrize("path", ["model.opsets.com.microsoft", "scaling.3.macs", "interface.inputs.nobody.bound.0"])
def test_absent_row_of_other_tables_is_unknown(path: str) -> None:
    for limit in ({"max": 10**30}, {"min": 0}, {"equals": 0}):
        assert check_status(card(MINILM), path, **limit) == "fail"
        assert check_status(card(MINILM), path, **limit, allow_gaps=True) == "allowed"


def test_names_with_dots_are_matched_to_the_longest_on_the_card() -> None:
    found = card_from_text("g (float[2,3] a, float[2,3] b) => (float[2,3] y) { y = Add(a, b) }")
    ports = (
        replace(found.interface.inputs[0], name="input.1"),
        replace(found.interface.inputs[1], name="input.1.bound"),
    )
    made = replace(found, interface=replace(found.interface, inputs=ports))
    assert check_status(made, "interface.inputs.input.1.bound", equals=2) == "pass"
    assert check_status(made, "interface.inputs.input.1.bound.bound", equals=2) == "pass"
    assert check_status(made, "interface.inputs.input.1.dtype", equals="float32") == "pass"


def test_rows_of_one_name_are_summed() -> None:
    found = card(MINILM)
    twin = replace(next(row for row in found.graph.operators if row.op == "MatMul"), domain="custom", count=2)
    made = replace(found, graph=replace(found.graph, operators=(*found.graph.operators, twin)))
    assert check_status(made, "graph.operators.MatMul.count", equals=50) == "pass"
    assert check_status(made, "graph.operators.custom.MatMul.count", equals=2) == "pass"


def test_texts_and_flags_are_compared_without_conversion() -> None:
    assert check_status(card(MINILM), "model.precision.label", one_of=["fp16", "fp32"]) == "pass"
    assert check_status(card(MINILM), "model.precision.label", equals="fp16") == "fail"
    assert check_status(card(MINILM), "structure.family", equals="transformer-encoder") == "pass"
    assert check_status(card(MINILM), "structure.attention.plain.causal", equals=False) == "pass"


def test_share_is_compared_as_the_written_decimal() -> None:
    made = replace_figure(card(MINILM), "task.confidence", 0.1)
    assert check_status(made, "task.confidence", max=0.1) == "pass"
    assert check_status(made, "task.confidence", max=0.09999999999999999) == "fail"


def test_unknown_figure_fails_unless_gaps_are_allowed() -> None:
    found = card_from_text(OPEN)
    assert found.compute.macs is None
    assert check_status(found, "compute.macs", max=10**30) == "fail"
    assert check_status(found, "compute.macs", max=10**30, allow_gaps=True) == "allowed"
    (check,) = check_bounds(found, limits={"compute.macs": {"max": 1}})
    assert "Mystery" in check.message


DERIVED = [
    ("compute.macs", True),
    ("compute.flops", False),
    ("graph.operators.MatMul.macs", True),
    ("graph.operators.MatMul.flops", False),
    ("structure.blocks.attention.macs", True),
    ("structure.work.MLP.macs", True),
    ("structure.tree.macs", True),
    ("scaling.8.macs", True),
    ("scaling.8.flops", False),
]


@pytest.mark.parametrize(("path", "macs"), DERIVED)
def test_lower_bound_can_pass_min_and_fails_max(path: str, macs: bool) -> None:
    from onnx_autodoc.policy.figures import find_figure

    found, whole = with_gap(card(MINILM), macs), card(MINILM)
    n = find_figure(found, path).value
    if path == "structure.work.MLP.macs":
        path, n = f"structure.work.{whole.structure.work[0].part}.macs", whole.structure.work[0].macs
    assert isinstance(n, int) and n > 0
    assert check_status(whole, path, max=n) == "pass"
    assert check_status(found, path, max=10 * n) == "fail"
    assert check_status(found, path, max=10 * n, allow_gaps=True) == "allowed"
    assert check_status(found, path, max=n - 1, allow_gaps=True) == "fail"  # more can only be worse
    assert check_status(found, path, min=n) == "pass"  # more can only be better
    assert check_status(found, path, min=n + 1) == "fail"
    assert check_status(found, path, equals=n) == "fail"


@pytest.mark.parametrize("path", ["compute.arithmetic_intensity", "compute.top.0.share", "structure.tree.share"])
def test_ratio_of_incomplete_figures_fails_every_limit(path: str) -> None:
    found = with_gap(card(MINILM), macs=True)
    for limit in ({"max": 10**9}, {"min": 0}):
        assert check_status(card(MINILM), path, **limit) == "pass"
        assert check_status(found, path, **limit) == "fail"
        assert check_status(found, path, **limit, allow_gaps=True) == "allowed"


def test_uncounted_other_work_leaves_macs_exact() -> None:
    assert check_status(with_gap(card(MINILM), macs=False), "compute.macs", max=10**12) == "pass"


def test_peak_with_unsized_values_is_a_lower_bound() -> None:
    found = card_from_text(DECIDED)
    assert found.memory.unsized and found.memory.peak_activation_bytes
    for path in ("memory.peak_activation_bytes", "memory.run_bytes"):
        assert check_status(found, path, max=10**12) == "fail"
        assert check_status(found, path, max=10**12, allow_gaps=True) == "allowed"
        assert check_status(found, path, min=1) == "pass"


def test_unanalyzed_structure_is_unknown() -> None:
    found = with_uncertainty(replace(card(MINILM), gaps=(Gap("structure", "too many nodes"),)))
    assert check_status(card(MINILM), "structure.blocks.moe.count", max=0) == "pass"
    assert check_status(found, "structure.blocks.moe.count", max=0) == "fail"
    assert check_status(found, "structure.family", equals="transformer-encoder") == "fail"


def test_findings_of_an_unchecked_rule_are_a_lower_bound() -> None:
    whole = replace(card(RESNET), findings=(), gaps=())
    gap = Gap("findings", "the rule dead-node could not be checked: ValueError()")
    found = with_uncertainty(replace(whole, gaps=(gap,)))
    for path in ("findings", "findings.dead-node.count"):
        assert check_status(whole, path, max=0) == "pass"
        assert check_status(found, path, max=0) == "fail"


def test_rows_of_a_list_over_the_limit_are_evidence() -> None:
    found = replace(card(RESNET), gaps=(Gap("graph", "this one"),))
    (check,) = check_bounds(found, limits={"gaps": {"max": 0}})
    assert (check.status, check.evidence) == ("fail", ("this one",))
