"""Limits on figures: names, exactness, and failing closed."""

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Card, Gap, Uncounted, with_uncertainty
from onnx_autodoc.policy.figures import find_figure
from tests.policy._cards import SAMPLE, card, card_from_text, check_bounds, check_status, replace_figure

MINILM, RESNET = SAMPLE[0], SAMPLE[1]
UNKNOWN_OPERATOR = """g (float[2,3] x) => (float[n] y) { y = custom.Mystery(x) }"""
DATA_DEPENDENT = """g (float[6] x) => (float[n,1] y) { i = NonZero(x) z = Transpose(i) y = Cast<to = 1>(z) }"""


def with_gap(whole: Card, macs: bool) -> Card:
    gap = Uncounted("Mystery", 2, "no rule", macs, ("a", "b"))
    covered = replace(whole.compute.coverage, gaps=(gap,))
    return with_uncertainty(replace(whole, compute=replace(whole.compute, coverage=covered)))


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
    assert "not on the card" in check.message  # a hint for a misspelt name


@pytest.mark.parametrize("path", ["model.opsets.com.microsoft", "scaling.3.macs", "interface.inputs.absent.bound.0"])
def test_absent_row_of_other_tables_is_unknown(path: str) -> None:
    for limit in ({"max": 2**63 - 1}, {"min": 0}, {"equals": 0}):
        assert check_status(card(MINILM), path, **limit) == "fail"
        assert check_status(card(MINILM), path, **limit, allow_gaps=True) == "allowed"


def test_names_with_dots_are_matched_to_the_longest_on_the_card() -> None:
    source = card_from_text("g (float[2,3] a, float[2,3] b) => (float[2,3] y) { y = Add(a, b) }")
    ports = (
        replace(source.interface.inputs[0], name="input.1"),
        replace(source.interface.inputs[1], name="input.1.bound"),
    )
    renamed = replace(source, interface=replace(source.interface, inputs=ports))
    assert check_status(renamed, "interface.inputs.input.1.bound", equals=2) == "pass"
    assert check_status(renamed, "interface.inputs.input.1.bound.bound", equals=2) == "pass"
    assert check_status(renamed, "interface.inputs.input.1.dtype", equals="float32") == "pass"


def test_rows_of_one_name_are_summed() -> None:
    source = card(MINILM)
    twin = replace(next(row for row in source.graph.operators if row.op == "MatMul"), domain="custom", count=2)
    extended = replace(source, graph=replace(source.graph, operators=(*source.graph.operators, twin)))
    assert check_status(extended, "graph.operators.MatMul.count", equals=50) == "pass"
    assert check_status(extended, "graph.operators.custom.MatMul.count", equals=2) == "pass"


def test_texts_and_flags_are_compared_without_conversion() -> None:
    assert check_status(card(MINILM), "model.precision.label", one_of=["fp16", "fp32"]) == "pass"
    assert check_status(card(MINILM), "model.precision.label", equals="fp16") == "fail"
    assert check_status(card(MINILM), "structure.family", equals="transformer-encoder") == "pass"
    assert check_status(card(MINILM), "structure.attention.plain.causal", equals=False) == "pass"


def test_share_is_compared_as_the_written_decimal() -> None:
    subject = replace_figure(card(MINILM), "task.confidence", 0.1)
    assert check_status(subject, "task.confidence", max=0.1) == "pass"
    assert check_status(subject, "task.confidence", max=0.09999999999999999) == "fail"


def test_unknown_figure_fails_unless_gaps_are_allowed() -> None:
    subject = card_from_text(UNKNOWN_OPERATOR)
    assert subject.compute.macs is None
    assert check_status(subject, "compute.macs", max=2**63 - 1) == "fail"
    assert check_status(subject, "compute.macs", max=2**63 - 1, allow_gaps=True) == "allowed"
    (check,) = check_bounds(subject, limits={"compute.macs": {"max": 1}})
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
    subject, whole = with_gap(card(MINILM), macs), card(MINILM)
    n = find_figure(subject, path).value
    if path == "structure.work.MLP.macs":
        path, n = f"structure.work.{whole.structure.work[0].part}.macs", whole.structure.work[0].macs
    assert isinstance(n, int) and n > 0
    assert check_status(whole, path, max=n) == "pass"
    assert check_status(subject, path, max=10 * n) == "fail"
    assert check_status(subject, path, max=10 * n, allow_gaps=True) == "allowed"
    assert check_status(subject, path, max=n - 1, allow_gaps=True) == "fail"  # the true value is larger
    assert check_status(subject, path, min=n) == "pass"  # the true value is larger
    assert check_status(subject, path, min=n + 1) == "fail"
    assert check_status(subject, path, equals=n) == "fail"


@pytest.mark.parametrize("path", ["compute.arithmetic_intensity", "compute.top.0.share", "structure.tree.share"])
def test_ratio_of_incomplete_figures_fails_every_limit(path: str) -> None:
    subject = with_gap(card(MINILM), macs=True)
    for limit in ({"max": 10**9}, {"min": 0}):
        assert check_status(card(MINILM), path, **limit) == "pass"
        assert check_status(subject, path, **limit) == "fail"
        assert check_status(subject, path, **limit, allow_gaps=True) == "allowed"


def test_uncounted_other_work_leaves_macs_exact() -> None:
    assert check_status(with_gap(card(MINILM), macs=False), "compute.macs", max=10**12) == "pass"


def test_peak_with_unsized_values_is_a_lower_bound() -> None:
    subject = card_from_text(DATA_DEPENDENT)
    assert subject.memory.unsized and subject.memory.peak_activation_bytes
    for path in ("memory.peak_activation_bytes", "memory.run_bytes"):
        assert check_status(subject, path, max=10**12) == "fail"
        assert check_status(subject, path, max=10**12, allow_gaps=True) == "allowed"
        assert check_status(subject, path, min=1) == "pass"


def test_unanalyzed_structure_is_unknown() -> None:
    subject = with_uncertainty(replace(card(MINILM), gaps=(Gap("structure", "too many nodes"),)))
    assert check_status(card(MINILM), "structure.blocks.moe.count", max=0) == "pass"
    assert check_status(subject, "structure.blocks.moe.count", max=0) == "fail"
    assert check_status(subject, "structure.family", equals="transformer-encoder") == "fail"


def test_findings_of_an_unchecked_rule_are_a_lower_bound() -> None:
    whole = replace(card(RESNET), findings=(), gaps=())
    gap = Gap("findings", "the rule dead-node could not be checked: ValueError()")
    subject = with_uncertainty(replace(whole, gaps=(gap,)), ("dead-node",))
    for path in ("findings", "findings.dead-node.count"):
        assert check_status(whole, path, max=0) == "pass"
        assert check_status(subject, path, max=0) == "fail"


def test_rows_of_a_list_over_the_limit_are_evidence() -> None:
    subject = replace(card(RESNET), gaps=(Gap("graph", "this one"),))
    (check,) = check_bounds(subject, limits={"gaps": {"max": 0}})
    assert (check.status, check.evidence) == ("fail", ("this one",))
