"""Structural errors in reference documents of an earlier tool, one regression test each.

Costs are held to the record elsewhere (test_corpus_costs.py); these are about what a model is.
"""

from functools import cache

import pytest

from onnx_autodoc.card import Box, Card
from onnx_autodoc.render.mermaid import draw_mermaid
from tests._corpus import reported

E5, MINILM = "e5-small-v2-dynquant-int8", "all-minilm-l6-v2-dynquant-int8"
BERT, YOLO = "bert-base-qa-ts-op12", "yolov8l-nc1"
ENCODERS = pytest.mark.parametrize(("name", "layers"), [(E5, 12), (MINILM, 6)])


@cache
def card(name: str) -> Card:
    return reported(name).card


def tree(name: str) -> Box:
    found = card(name).structure.tree
    assert found is not None
    return found


def counted(name: str) -> dict[str, int]:
    return {block.kind: block.count for block in card(name).structure.blocks}


@ENCODERS
def test_encoder_diagram_is_not_a_detector(name: str, layers: int) -> None:
    kinds = [box.kind for box in tree(name).children]
    assert kinds == ["input", "input", "input", "embedding", "encoder-layer", "output"]
    names = [box.label for box in tree(name).children if box.kind in ("input", "output")]
    assert names == ["input_ids", "attention_mask", "token_type_ids", "last_hidden_state"]
    assert f"{layers} × Encoder layer" in draw_mermaid(tree(name))


@ENCODERS
def test_diagram_edges_are_graph_edges(name: str, layers: int) -> None:
    labels = {box.id: box.label for box in tree(name).children}
    assert {(labels[edge.source], labels[edge.target]) for edge in tree(name).edges} == {
        ("input_ids", "Embedding"),
        ("token_type_ids", "Embedding"),
        ("attention_mask", "Encoder layer"),
        ("Embedding", "Encoder layer"),
        ("Encoder layer", "last_hidden_state"),
    }


@ENCODERS
def test_dynamic_quantization_is_not_labelled_qdq(name: str, layers: int) -> None:
    precision = card(name).model.precision
    assert precision.label == "int8-dynamic"
    products = [group for group in precision.story if group.how == "dynamic"]
    assert sum(group.nodes for group in products) == 6 * layers


def test_twice_the_layers_give_nearly_twice_the_depth() -> None:
    one, other = card(MINILM).graph.depth, card(E5).graph.depth
    assert 1.9 < other / one < 2.1


def test_encoder_has_all_layers_and_no_kv_cache() -> None:
    found = card(BERT)
    assert found.memory.kv_cache is None
    assert (found.structure.layers, found.structure.heads) == (12, 12)
    assert found.structure.family == "transformer-encoder"


def test_decomposed_norms_are_recognized() -> None:
    assert counted(BERT)["layer-norm"] == 25


def test_shape_arithmetic_bias_and_mean_are_not_skip_connections() -> None:
    assert card(BERT).structure.residuals == {"add": 24}


def test_sequence_length_is_not_a_class_count() -> None:
    task = card(BERT).task
    assert (task.name, task.classes) == ("question answering", None)
    assert [port.role for port in card(BERT).interface.outputs] == ["start logits", "end logits"]


def test_convolutional_detector_has_no_kv_cache_or_hidden_size() -> None:
    found = card(YOLO)
    assert found.structure.family == "cnn"
    assert found.memory.kv_cache is None
    assert (found.structure.hidden, found.structure.heads, found.structure.layers) == (None, None, None)
    assert (found.task.name, found.task.classes) == ("object detection", 1)


def test_silu_is_not_a_gated_skip_connection() -> None:
    assert counted(YOLO)["silu"] == 97
    assert card(YOLO).structure.residuals == {"add": 18, "concat": 12}


def test_folded_norm_is_reported() -> None:
    assert "batch-norm" not in counted(YOLO)
    assert any("BatchNorm was folded into the convolutions" in text for text in card(YOLO).structure.evidence)


def test_detector_distribution_head_is_not_attention() -> None:
    assert "attention" not in counted(YOLO)
    assert counted(YOLO)["softmax"] == 1
