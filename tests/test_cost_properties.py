"""What must hold for the costs of any model: linear in the batch, the same in any order, the same in any folder."""

import random

import onnx
import pytest

from onnx_autodoc.api import card, facts_of
from onnx_autodoc.ir import Model
from onnx_autodoc.readers import read
from onnx_autodoc.shapes import Request
from tests._corpus import graph
from tests._text import loaded

# Models that lead with a batch and do nothing that is shared by all of it.
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
def test_costs_of_a_batch_are_those_of_its_items(name: str) -> None:
    one = card(graph(name), batch=1).compute
    for batch in (2, 7):
        many = card(graph(name), batch=batch).compute
        assert many.macs == batch * one.macs
        if "dynquant" not in name:  # the range of a quantized batch is sought once
            assert many.flops == batch * one.flops


def shuffled(model: onnx.ModelProto, seed: int) -> onnx.ModelProto:
    nodes = list(model.graph.node)
    random.Random(seed).shuffle(nodes)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def totals(model: Model) -> tuple[object, ...]:
    facts = facts_of(model, Request())
    total, held = facts.costs.total, facts.parameters
    return total.macs, total.flops, total.read + total.written, total.counted, held.total, held.nbytes, held.by_dtype


@pytest.mark.parametrize(
    "name", ["all-minilm-l6-v2-dynquant-int8", "yolov8l-nc1", "ppocr-mobile-cls-v2", "slanet-table-en", "silero-vad"]
)
def test_no_total_hangs_on_the_order_of_the_nodes(name: str) -> None:
    plain = totals(read(graph(name)))
    for seed in (1, 2):
        model = onnx.load(graph(name), load_external_data=False)
        assert totals(loaded(shuffled(model, seed))) == plain
