"""Costs of all corpus models equal the values recorded from onnxruntime and PyTorch."""

from functools import cache
from pathlib import Path

import pytest

from onnx_autodoc.api import make_card
from onnx_autodoc.render import Report
from tests._corpus import GRAPH_NAMES, MODELS, REGISTRY, graph, load_report, request

# Which branch runs is data-dependent; the recorded run took the least expensive one.
BRANCHING = {"control-flow-loop-if", "openwakeword-hey-jarvis"}


@cache
def make_report(path: Path, name: str) -> Report:
    return make_card(path, request(name))


def assert_macs_are_recorded(path: Path, name: str) -> None:
    compute = make_report(path, name).card.compute
    assert not any(gap.macs for gap in compute.coverage.gaps)
    assert {gap.op for gap in compute.coverage.gaps} <= {"TreeEnsembleClassifier"}
    assert (compute.cheapest is not None) == (name in BRANCHING)
    macs = compute.cheapest.macs if compute.cheapest else compute.macs
    assert 2 * macs == MODELS[name]["flops_2mac"]
    assert (compute.flops is None) == (name == "openjtalk-nani-model")  # trees: the depth of a row is data-dependent
    assert compute.flops is None or compute.flops >= 2 * compute.macs >= 2 * macs


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_macs_equal_recorded_run(name: str) -> None:
    assert_macs_are_recorded(graph(name), name)


@pytest.mark.parametrize("name", sorted(name for name in MODELS if MODELS[name]["origin"]["kind"] == "registry"))
def test_file_with_weights_has_the_same_macs(name: str) -> None:
    path = next((REGISTRY / name).glob("*.onnx"), None) if REGISTRY.is_dir() else None
    if path is None:
        pytest.skip("`make corpus` brings the registry models with their weights")
    assert_macs_are_recorded(path, name)


@pytest.mark.parametrize("name", [name for name in GRAPH_NAMES if "weights_in_file" in MODELS[name]])
def test_parameters_equal_the_architecture(name: str) -> None:
    record, parameters = MODELS[name], make_report(graph(name), name).card.parameters
    assert parameters.total == record["weights_in_file"]
    assert parameters.statistics == (record.get("statistics") or 0)
    assert parameters.total == sum(parameters.by_dtype.values())
    assert parameters.unread == 0


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_rows_sum_to_totals(name: str) -> None:
    report = make_report(graph(name), name)
    card, rows = report.card, list(report.nodes())
    assert sum(row.macs or 0 for row in rows) == card.compute.macs
    assert sum(row.flops or 0 for row in rows) == card.compute.flops
    assert sum((row.read_bytes or 0) + (row.written_bytes or 0) for row in rows) == card.compute.bytes_moved
    assert sum(row.params for row in rows) + card.parameters.unread == card.parameters.total
    assert all(row.macs is not None or row.gap for row in rows)


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_operators_and_layers_sum_to_totals(name: str) -> None:
    card = make_report(graph(name), name).card
    assert sum(row.macs for row in card.graph.operators) == card.compute.macs
    assert sum(row.flops for row in card.graph.operators) == card.compute.flops
    assert sum(row.params for row in card.graph.operators) == card.parameters.total - card.parameters.unread
    assert sum(row.weight_bytes for row in card.graph.operators) == card.memory.weights_bytes
    assert sum(row.params for row in card.parameters.by_layer) == card.parameters.total - card.parameters.unread
    assert max((moment.bytes for moment in card.memory.timeline), default=None) == card.memory.peak_activation_bytes


def test_bert_and_yolo_costs_equal_reference() -> None:
    bert = make_report(graph("bert-base-qa-ts-op12"), "bert-base-qa-ts-op12").card.compute
    yolo = make_report(graph("yolov8l-nc1"), "yolov8l-nc1").card.compute
    assert 2 * bert.macs == 45_903_249_408
    assert 2 * yolo.macs == 164_808_755_200
    assert yolo.flops == pytest.approx(165.09e9, rel=1e-3)


@pytest.mark.parametrize("suffix", ["fp16", "int4-matmulnbits", "ortfused", "dynquant-int8"])
def test_other_export_has_the_same_costs(suffix: str) -> None:
    plain, variant = (
        make_report(graph(name), name).card for name in (f"all-minilm-l6-v2-{name}" for name in ("ts-op14", suffix))
    )
    assert variant.compute.macs == plain.compute.macs
    assert variant.parameters.total == plain.parameters.total
    if suffix != "dynquant-int8":  # quantizing activations is extra arithmetic
        assert variant.compute.flops == pytest.approx(plain.compute.flops, rel=1e-3)


CACHED_DECODERS = {"smollm2-135m-genai-int4", "smollm2-135m-kv-op17"}


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_only_decoders_with_past_state_have_a_kv_cache(name: str) -> None:
    kv_cache = make_report(graph(name), name).card.memory.kv_cache
    assert (kv_cache is not None) == (name in CACHED_DECODERS)
    if kv_cache:
        record = MODELS[name]
        assert (kv_cache.layers, kv_cache.kv_heads, kv_cache.head_dim) == (record["layers"], record["kv_heads"], 64)
        assert kv_cache.bytes_per_token == 2 * 30 * 3 * 64 * 4
        sizes = {size.tokens: size.bytes for size in kv_cache.at}
        assert sizes == {tokens: tokens * kv_cache.bytes_per_token for tokens in (2048, 8192, 32768, 131072)}


def test_encoder_formula_is_exact() -> None:
    formula = load_report("all-minilm-l6-v2-ts-op14").card.compute.formula
    assert formula.macs == "batch_size·(10,616,832·sequence_length + 4,608·sequence_length²)"
    assert formula.variables == ("batch_size", "sequence_length")


@pytest.mark.parametrize(
    ("name", "steps"), [("ppocr-mobile-cls-v2", (64, 4)), ("ppocrv4-det-ch", (32, 32)), ("ppocrv4-rec-ch", (8,))]
)
def test_formula_with_strides_holds_in_steps(name: str, steps: tuple[int, ...]) -> None:
    formula = load_report(name).card.compute.formula
    assert formula.macs is not None
    assert tuple(formula.steps[name] for name in formula.variables[1:]) == steps


def test_size_dependent_branch_has_no_formula() -> None:
    assert load_report("silero-vad").card.compute.formula.macs is None


def test_unknown_iterations_do_not_cost_zero() -> None:
    """The trip count of the loop is data-dependent: costs of its operators are unknown, bytes are lower bounds."""
    card = load_report("control-flow-loop-if").card
    rows = {row.op: row for row in card.graph.operators}
    assert (rows["Gemm"].macs, rows["Tanh"].flops, rows["Tanh"].bytes_moved) == (None, None, None)
    assert card.compute.coverage.unmoved
    assert card.compute.formula.bytes_moved is None


def test_unknown_iterations_do_not_write_zero_bytes() -> None:
    memory = load_report("control-flow-loop-if").card.memory
    rows = {row.op: row.written_bytes for row in memory.by_op}
    assert (rows["Gemm"], rows["Tanh"], rows["Gather"]) == (None, None, 8)
    assert memory.peak_activation_bytes is not None
    assert memory.run_bytes == memory.weights_bytes + memory.peak_activation_bytes
