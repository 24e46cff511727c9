"""Structure of corpus models equals the record: family, layers, widths, heads and blocks, from every exporter."""

from functools import cache
from typing import Any

import pytest

from onnx_autodoc.api import make_card
from onnx_autodoc.card import Box, Card
from onnx_autodoc.shapes import Request
from tests._corpus import GRAPH_NAMES, MODELS, REGISTRY, graph, load_report

PORTS = ("input", "output")
SIZES = ("layers", "hidden", "heads", "kv_heads", "head_dim", "vocab")


@cache
def load_card(name: str) -> Card:
    return load_report(name).card


def count_blocks(model_card: Card, kind: str) -> int:
    if kind == "residual-add":
        return model_card.structure.residuals.get("add", 0)
    return {block.kind: block.count for block in model_card.structure.blocks}.get(kind, 0)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_family_matches_the_record(name: str) -> None:
    path = (
        graph(name)
        if name in GRAPH_NAMES
        else next((REGISTRY / name).glob("*.onnx"), None)
        if REGISTRY.is_dir()
        else None
    )
    if path is None:
        pytest.skip("`make corpus` brings the registry models with their weights")
    assert make_card(path, Request()).card.structure.family in MODELS[name]["family_accept"]


@pytest.mark.parametrize("name", [name for name in GRAPH_NAMES if any(MODELS[name].get(size) for size in SIZES)])
def test_sizes_equal_the_record(name: str) -> None:
    record: dict[str, Any] = MODELS[name]
    expected = {size: record[size] for size in SIZES if record.get(size) is not None}
    assert {size: getattr(load_card(name).structure, size) for size in expected} == expected


@pytest.mark.parametrize("name", [name for name in GRAPH_NAMES if MODELS[name].get("blocks")])
def test_blocks_equal_the_record(name: str) -> None:
    record: dict[str, int] = MODELS[name]["blocks"]
    assert {kind: count_blocks(load_card(name), kind) for kind in record} == record


@pytest.mark.parametrize(
    "names",
    [
        ["all-minilm-l6-v2-" + form for form in ("ts-op14", "fp16", "dynquant-int8", "int4-matmulnbits", "ortfused")],
        ["bert-base-qa-" + form for form in ("ts-op12", "dynamo", "ortfused")],
        ["smollm2-135m-kv-op17", "smollm2-135m-genai-int4"],
        ["resnet50-ts-op17", "resnet50-qdq-int8", "resnet50-unfused-bn-op13", "onnx-light-resnet50"],
    ],
    ids=lambda names: names[0],
)
def test_every_exporter_gives_the_same_structure(names: list[str]) -> None:
    """Compare the kinds of blocks that no exporter folds away."""
    kinds = ("attention", "layer-norm", "rms-norm", "gelu", "silu", "mlp", "gated-mlp", "embedding", "residual-add")
    structures = {
        (
            load_card(name).structure.family,
            *(getattr(load_card(name).structure, size) for size in SIZES),
            *(count_blocks(load_card(name), kind) for kind in kinds),
            tuple(box.kind for box in load_card(name).structure.tree.children if box.count > 1),  # type: ignore[union-attr]
        )
        for name in names
    }
    assert len(structures) == 1


def list_boxes(box: Box) -> list[Box]:
    return [box, *(inner for child in box.children for inner in list_boxes(child))]


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_diagram_is_small_and_connected(name: str) -> None:
    tree = load_card(name).structure.tree
    assert tree is not None
    assert 2 <= len(tree.children) <= 30
    for box in list_boxes(tree):
        ids = [child.id for child in box.children]
        assert len(ids) == len(set(ids))
        assert all(edge.source in ids and edge.target in ids for edge in box.edges)
        assert box.share is None or 0 <= box.share <= 1


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_diagram_boxes_sum_to_totals(name: str) -> None:
    model_card = load_card(name)
    tree = model_card.structure.tree
    assert tree is not None
    assert sum(box.macs or 0 for box in tree.children) == (model_card.compute.macs or 0)
    assert sum(part.macs for part in model_card.structure.work) == (model_card.compute.macs or 0)
    assert tree.macs == model_card.compute.macs
    used = model_card.parameters.total - model_card.parameters.unread
    drawn = sum(box.params for box in tree.children)
    assert drawn < used if name == "silero-vad" else drawn == used  # two models in one file: the branch that runs


# Bytes outside of all boxes: scales of model inputs and of other scales; the branch that does not run.
BYTES_OUTSIDE_OF_BOXES = {
    "all-minilm-l6-v2-dynquant-int8": 144,
    "ddddocr-common-old": 88,
    "e5-small-v2-dynquant-int8": 288,
    "mobilenetv2-qoperator-int8": 5,
    "resnet50-qdq-int8": 5,
    "silero-vad": 942_596,
}


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_diagram_box_bytes_sum_to_weights(name: str) -> None:
    model_card = load_card(name)
    tree = model_card.structure.tree
    assert tree is not None
    assert sum(box.weight_bytes for box in tree.children) == tree.weight_bytes
    assert model_card.memory.weights_bytes - tree.weight_bytes == BYTES_OUTSIDE_OF_BOXES.get(name, 0)


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_diagram_inputs_and_outputs_are_connected(name: str) -> None:
    tree = load_card(name).structure.tree
    assert tree is not None
    joined = {end for edge in tree.edges for end in (edge.source, edge.target)}
    ports = {box.id for box in tree.children if box.kind in ("input", "output")}
    assert ports <= joined


CONTROL_INPUTS = {"control-flow-loop-if": 1, "silero-vad": 1}  # inputs that only select a branch or a trip count


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_diagram_has_every_input_and_output(name: str) -> None:
    model_card = load_card(name)
    assert model_card.structure.tree is not None
    drawn = {kind: sum(box.count for box in model_card.structure.tree.children if box.kind == kind) for kind in PORTS}
    assert drawn["input"] == len(model_card.interface.inputs) - CONTROL_INPUTS.get(name, 0)
    assert drawn["output"] == len(model_card.interface.outputs)


REPEATED = {
    "all-minilm-l6-v2-ts-op14": [(6, "encoder-layer")],
    "e5-small-v2-dynquant-int8": [(12, "encoder-layer")],
    "smollm2-135m-kv-op17": [(30, "decoder-layer")],
    "whisper-tiny-decoder": [(4, "decoder-layer")],
    "vit-tiny-dynamo": [(12, "encoder-layer")],
    "resnet50-ts-op17": [(3, "bottleneck"), (4, "bottleneck"), (6, "bottleneck"), (3, "bottleneck")],
    "onnx-light-densenet121": [(6, "dense-layer"), (12, "dense-layer"), (24, "dense-layer"), (16, "dense-layer")],
}


@pytest.mark.parametrize(("name", "layers"), REPEATED.items())
def test_repeated_layers_are_collapsed(name: str, layers: list[tuple[int, str]]) -> None:
    tree = load_card(name).structure.tree
    assert tree is not None
    folded = [box for box in tree.children if box.repeats]
    assert [(box.count, box.kind) for box in folded] == layers
    assert all(len(box.children) > 1 for box in folded)


@pytest.mark.parametrize("name", [name for name in GRAPH_NAMES if name.startswith(("all-minilm", "e5-small"))])
def test_context_length_equals_position_table(name: str) -> None:
    model_card = load_card(name)
    assert (model_card.structure.context, model_card.compute.formula.most) == (512, {"sequence_length": 512})
