"""Costs of all corpus models equal the values recorded from onnxruntime and PyTorch."""

from functools import cache
from pathlib import Path

import pytest

from onnx_autodoc.api import make_card
from onnx_autodoc.render import Report
from tests._corpus import KEPT, MODELS, REGISTRY, graph, reported, request

# The data decide which branch of these runs; the recorded run took the cheaper one.
BRANCHING = {"control-flow-loop-if", "openwakeword-hey-jarvis"}


@cache
def made(path: Path, name: str) -> Report:
    return make_card(path, request(name))


def assert_macs_are_recorded(path: Path, name: str) -> None:
    compute = made(path, name).card.compute
    assert not any(gap.macs for gap in compute.coverage.gaps)
    assert {gap.op for gap in compute.coverage.gaps} <= {"TreeEnsembleClassifier"}
    assert (compute.cheapest is not None) == (name in BRANCHING)
    macs = compute.cheapest.macs if compute.cheapest else compute.macs
    assert 2 * macs == MODELS[name]["flops_2mac"]
    assert (compute.flops is None) == (name == "openjtalk-nani-model")  # trees: the data decide how deep rows fall
    assert compute.flops is None or compute.flops >= 2 * compute.macs >= 2 * macs


@pytest.mark.parametrize("name", KEPT)
def test_macs_equal_recorded_run(name: str) -> None:
    assert_macs_are_recorded(graph(name), name)


@pytest.mark.parametrize("name", sorted(name for name in MODELS if MODELS[name]["origin"]["kind"] == "registry"))
def test_file_with_weights_has_the_same_macs(name: str) -> None:
    path = next((REGISTRY / name).glob("*.onnx"), None) if REGISTRY.is_dir() else None
    if path is None:
        pytest.skip("`make corpus` brings the registry models with their weights")
    assert_macs_are_recorded(path, name)


@pytest.mark.parametrize("name", [name for name in KEPT if "weights_in_file" in MODELS[name]])
def test_parameters_equal_the_architecture(name: str) -> None:
    record, found = MODELS[name], made(graph(name), name).card.parameters
    assert found.total == record["weights_in_file"]
    assert found.statistics == (record.get("statistics") or 0)
    assert found.total == sum(found.by_dtype.values())
    assert found.unread == 0


@pytest.mark.parametrize("name", KEPT)
def test_rows_sum_to_totals(name: str) -> None:
    report = made(graph(name), name)
    card, rows = report.card, list(report.nodes())
    assert sum(row.macs or 0 for row in rows) == card.compute.macs
    assert sum(row.flops or 0 for row in rows) == card.compute.flops
    assert sum((row.read_bytes or 0) + (row.written_bytes or 0) for row in rows) == card.compute.bytes_moved
    assert sum(row.params for row in rows) + card.parameters.unread == card.parameters.total
    assert all(row.macs is not None or row.gap for row in rows)


@pytest.mark.parametrize("name", KEPT)
def test_operators_and_layers_sum_to_totals(name: str) -> None:
    card = made(graph(name), name).card
    assert sum(row.macs for row in card.graph.operators) == card.compute.macs
    assert sum(row.flops for row in card.graph.operators) == card.compute.flops
    assert sum(row.params for row in card.graph.operators) == card.parameters.total - card.parameters.unread
    assert sum(row.weight_bytes for row in card.graph.operators) == card.memory.weights_bytes
    assert sum(row.params for row in card.parameters.by_layer) == card.parameters.total - card.parameters.unread
    assert max((moment.bytes for moment in card.memory.timeline), default=None) == card.memory.peak_activation_bytes


def test_bert_and_yolo_costs_equal_reference() -> None:
    bert = made(graph("bert-base-qa-ts-op12"), "bert-base-qa-ts-op12").card.compute
    yolo = made(graph("yolov8l-nc1"), "yolov8l-nc1").card.compute
    assert 2 * bert.macs == 45_903_249_408
    assert 2 * yolo.macs == 164_808_755_200
    assert yolo.flops == pytest.approx(165.09e9, rel=1e-3)


@pytest.mark.parametrize("other", ["fp16", "int4-matmulnbits", "ortfused", "dynquant-int8"])
def test_other_export_has_the_same_costs(other: str) -> None:
    plain, form = (made(graph(name), name).card for name in (f"all-minilm-l6-v2-{each}" for each in ("ts-op14", other)))
    assert form.compute.macs == plain.compute.macs
    assert form.parameters.total == plain.parameters.total
    if other != "dynquant-int8":  # quantizing activations is arithmetic of its own
        assert form.compute.flops == pytest.approx(plain.compute.flops, rel=1e-3)


CACHED = {"smollm2-135m-genai-int4", "smollm2-135m-kv-op17"}


@pytest.mark.parametrize("name", KEPT)
def test_only_decoders_with_past_state_have_a_kv_cache(name: str) -> None:
    found = made(graph(name), name).card.memory.kv_cache
    assert (found is not None) == (name in CACHED)
    if found:
        record = MODELS[name]
        assert (found.layers, found.kv_heads, found.head_dim) == (record["layers"], record["kv_heads"], 64)
        assert found.bytes_per_token == 2 * 30 * 3 * 64 * 4
        sizes = {size.tokens: size.bytes for size in found.at}
        assert sizes == {tokens: tokens * found.bytes_per_token for tokens in (2048, 8192, 32768, 131072)}


def test_encoder_formula_is_exact() -> None:
    formula = reported("all-minilm-l6-v2-ts-op14").card.compute.formula
    assert formula.macs == "batch_size·(10,616,832·sequence_length + 4,608·sequence_length²)"
    assert formula.variables == ("batch_size", "sequence_length")


@pytest.mark.parametrize(
    ("name", "steps"), [("ppocr-mobile-cls-v2", (64, 4)), ("ppocrv4-det-ch", (32, 32)), ("ppocrv4-rec-ch", (8,))]
)
def test_formula_with_strides_holds_in_steps(name: str, steps: tuple[int, ...]) -> None:
    formula = reported(name).card.compute.formula
    assert formula.macs is not None
    assert tuple(formula.steps[name] for name in formula.variables[1:]) == steps


def test_size_dependent_branch_has_no_formula() -> None:
    assert reported("silero-vad").card.compute.formula.macs is None


def test_unknown_iterations_do_not_cost_zero() -> None:
    """A loop whose trips only the data decide: its operators are unknown, and bytes are "at least"."""
    found = reported("control-flow-loop-if").card
    rows = {row.op: row for row in found.graph.operators}
    assert (rows["Gemm"].macs, rows["Tanh"].flops, rows["Tanh"].bytes_moved) == (None, None, None)
    assert found.compute.coverage.unmoved
    assert found.compute.formula.bytes_moved is None


def test_unknown_iterations_do_not_write_zero_bytes() -> None:
    found = reported("control-flow-loop-if").card.memory
    rows = {row.op: row.written_bytes for row in found.by_op}
    assert (rows["Gemm"], rows["Tanh"], rows["Gather"]) == (None, None, 8)
    assert found.peak_activation_bytes is not None
    assert found.run_bytes == found.weights_bytes + found.peak_activation_bytes
