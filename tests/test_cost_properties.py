"""Invariants of costs: linear in the batch, independent of node order and of the folder."""

import random

import onnx
import pytest

from onnx_autodoc.api import card, measure_model
from onnx_autodoc.ir import Model
from onnx_autodoc.readers import read_model
from onnx_autodoc.shapes import Request
from tests._corpus import graph
from tests._text import save_and_read

# Models with a leading batch dimension and no work that is shared by the whole batch.
BATCHED = [
    "all-minilm-l6-v2-fp16",
    "all-minilm-l6-v2-ortfused",
    "all-minilm-l6-v2-ts-op14",
    "basic-pitch-nmp",
    "bert-base-qa-dynamo",
    "bilstm-gru-tagger",
    "e5-small-v2-dynquant-int8",
    "local-functions-mlp",
    "mobilenetv2-qoperator-int8",
    "ppocrv4-det-ch",
    "resnet50-qdq-int8",
    "resnet50-unfused-bn-op13",
    "sd-vae-decoder",
    "vit-tiny-dynamo",
    "whisper-tiny-decoder",
]


@pytest.mark.parametrize("name", BATCHED)
def test_costs_are_linear_in_the_batch(name: str) -> None:
    single = card(graph(name), batch=1).compute
    for batch in (2, 7):
        batched = card(graph(name), batch=batch).compute
        assert batched.macs == batch * single.macs
        if "dynquant" not in name:  # the range of a batch is computed once
            assert batched.flops == batch * single.flops


def shuffle_nodes(model: onnx.ModelProto, seed: int) -> onnx.ModelProto:
    nodes = list(model.graph.node)
    random.Random(seed).shuffle(nodes)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def measure_totals(model: Model) -> tuple[object, ...]:
    facts = measure_model(model, Request())
    total, parameters = facts.costs.total, facts.parameters
    return (
        total.macs,
        total.flops,
        total.read + total.written,
        total.counted,
        parameters.total,
        parameters.nbytes,
        parameters.by_dtype,
    )


@pytest.mark.parametrize(
    "name", ["all-minilm-l6-v2-dynquant-int8", "yolov8l-nc1", "ppocr-mobile-cls-v2", "slanet-table-en", "silero-vad"]
)
def test_totals_do_not_depend_on_node_order(name: str) -> None:
    plain = measure_totals(read_model(graph(name)))
    for seed in (1, 2):
        model = onnx.load(graph(name), load_external_data=False)
        assert measure_totals(save_and_read(shuffle_nodes(model, seed))) == plain
