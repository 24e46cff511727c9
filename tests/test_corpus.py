"""Shapes of all corpus models equal those recorded from onnxruntime."""

from pathlib import Path

import pytest

from onnx_autodoc.api import card
from onnx_autodoc.readers import read_model
from onnx_autodoc.shapes import Request, bind_and_infer
from tests._corpus import (
    GRAPH_NAMES,
    MODELS,
    REGISTRY,
    graph,
    index_values,
    infer_recorded,
    read_recorded_shapes,
    request,
)


def compare_shapes(path: Path, name: str) -> tuple[int, list[str], list[str]]:
    """Return the number of recorded values, those that differ, and those that are unknown at the top level."""
    values = index_values(infer_recorded(path, name))
    wrong, unknown, count = [], [], 0
    for value, shape in read_recorded_shapes(name).items():
        inferred, gap, scope = values.get(value) or values[value.replace("::", "/")]
        count += 1
        if inferred is None and not scope:
            unknown.append(f"{value}: {gap}")
        elif inferred is None:
            assert gap, f"{value} is unknown without a reason"
        elif list(inferred) != shape:
            wrong.append(f"{value}: {inferred}, recorded {shape}")
    return count, wrong, unknown


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_shapes_equal_recorded_run(name: str) -> None:
    count, wrong, unknown = compare_shapes(graph(name), name)
    assert count == len(read_recorded_shapes(name)) > 0
    assert wrong == []
    assert unknown == []


@pytest.mark.parametrize("name", sorted(name for name in MODELS if MODELS[name]["origin"]["kind"] == "registry"))
def test_file_with_weights_has_the_same_shapes(name: str) -> None:
    path = next((REGISTRY / name).glob("*.onnx"), None) if REGISTRY.is_dir() else None
    if path is None:
        pytest.skip("`make corpus` brings the registry models with their weights")
    _, wrong, unknown = compare_shapes(path, name)
    assert wrong == [] and unknown == []


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_default_sizes_do_not_contradict_the_graph(name: str) -> None:
    model = read_model(graph(name))
    _, shapes = bind_and_infer(model, Request())
    assert shapes.contradictions == ()


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_counts_equal_the_file(name: str) -> None:
    model, record = read_model(graph(name)), MODELS[name]
    counts = card(graph(name)).graph
    assert counts.nodes == record["nodes"]
    assert counts.initializers == record["initializers"]
    inside_functions = sum(len(function.nodes) for function in model.functions)
    assert counts.nodes_total == record["nodes_total"] + inside_functions
    assert sum(row.count for row in counts.operators) == counts.nodes_total
    assert sum(row.share for row in counts.operators) == pytest.approx(1)


PRECISIONS = {
    "all-minilm-l6-v2-dynquant-int8": "int8-dynamic",
    "all-minilm-l6-v2-fp16": "fp16",
    "all-minilm-l6-v2-int4-matmulnbits": "int4-weights",
    "all-minilm-l6-v2-ts-op14": "fp32",
    "ddddocr-common-old": "int8-dynamic",
    "e5-small-v2-dynquant-int8": "int8-dynamic",
    "mobilenetv2-qoperator-int8": "int8-qoperator",
    "onnx-light-resnet50": "fp32",
    "ppocrv4-rec-ch": "fp32",
    "resnet50-qdq-int8": "int8-qdq",
    "silero-vad": "fp32",
    "smollm2-135m-genai-int4": "int4-weights",
}


@pytest.mark.parametrize("name", PRECISIONS)
def test_precision_label_equals_the_record(name: str) -> None:
    precision = card(graph(name)).model.precision
    assert precision.label == PRECISIONS[name]
    assert not precision.weights or sum(precision.weights.values()) == pytest.approx(1)


def test_recorded_binding_is_accepted_for_fixed_dimensions() -> None:
    model = read_model(graph("yolov8l-nc1"))
    assert bind_and_infer(model, request("yolov8l-nc1"))[0].chosen == {}
