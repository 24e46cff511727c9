"""Structural errors in reference documents of an earlier tool, one regression test each.

test_corpus_costs.py checks costs.
"""

from functools import cache

import pytest

from onnx_autodoc.card import Box, Card
from onnx_autodoc.render.mermaid import draw_mermaid
from tests._corpus import load_report

E5, MINILM = "e5-small-v2-dynquant-int8", "all-minilm-l6-v2-dynquant-int8"
BERT, YOLO = "bert-base-qa-ts-op12", "yolov8l-nc1"
ENCODERS = pytest.mark.parametrize(("name", "layers"), [(E5, 12), (MINILM, 6)])


@cache
def load_card(name: str) -> Card:
    return load_report(name).card


def find_tree(name: str) -> Box:
    model_card = load_card(name).structure.tree
    assert model_card is not None
    return model_card


def count_blocks(name: str) -> dict[str, int]:
    return {block.kind: block.count for block in load_card(name).structure.blocks}


@ENCODERS
def test_encoder_diagram_is_not_a_detector(name: str, layers: int) -> None:
    kinds = [box.kind for box in find_tree(name).children]
    assert kinds == ["input", "input", "input", "embedding", "encoder-layer", "output"]
    names = [box.label for box in find_tree(name).children if box.kind in ("input", "output")]
    assert names == ["input_ids", "attention_mask", "token_type_ids", "last_hidden_state"]
    assert f"{layers} × Encoder layer" in draw_mermaid(find_tree(name))


@ENCODERS
def test_diagram_edges_are_graph_edges(name: str, layers: int) -> None:
    labels = {box.id: box.label for box in find_tree(name).children}
    assert {(labels[edge.source], labels[edge.target]) for edge in find_tree(name).edges} == {
        ("input_ids", "Embedding"),
        ("token_type_ids", "Embedding"),
        ("attention_mask", "Encoder layer"),
        ("Embedding", "Encoder layer"),
        ("Encoder layer", "last_hidden_state"),
    }


@ENCODERS
def test_dynamic_quantization_is_not_labelled_qdq(name: str, layers: int) -> None:
    precision = load_card(name).model.precision
    assert precision.label == "int8-dynamic"
    products = [group for group in precision.story if group.how == "dynamic"]
    assert sum(group.nodes for group in products) == 6 * layers


def test_twice_the_layers_give_nearly_twice_the_depth() -> None:
    shallow, deep = load_card(MINILM).graph.depth, load_card(E5).graph.depth
    assert 1.9 < deep / shallow < 2.1


def test_encoder_has_all_layers_and_no_kv_cache() -> None:
    model_card = load_card(BERT)
    assert model_card.memory.kv_cache is None
    assert (model_card.structure.layers, model_card.structure.heads) == (12, 12)
    assert model_card.structure.family == "transformer-encoder"


def test_decomposed_norms_are_recognized() -> None:
    assert count_blocks(BERT)["layer-norm"] == 25


def test_shape_arithmetic_bias_and_mean_are_not_skip_connections() -> None:
    assert load_card(BERT).structure.residuals == {"add": 24}


def test_sequence_length_is_not_a_class_count() -> None:
    task = load_card(BERT).task
    assert (task.name, task.classes) == ("question answering", None)
    assert [port.role for port in load_card(BERT).interface.outputs] == ["start logits", "end logits"]


def test_convolutional_detector_has_no_kv_cache_or_hidden_size() -> None:
    model_card = load_card(YOLO)
    assert model_card.structure.family == "cnn"
    assert model_card.memory.kv_cache is None
    assert (model_card.structure.hidden, model_card.structure.heads, model_card.structure.layers) == (None, None, None)
    assert (model_card.task.name, model_card.task.classes) == ("object detection", 1)


def test_silu_is_not_a_gated_skip_connection() -> None:
    assert count_blocks(YOLO)["silu"] == 97
    assert load_card(YOLO).structure.residuals == {"add": 18, "concat": 12}


def test_folded_norm_is_reported() -> None:
    assert "batch-norm" not in count_blocks(YOLO)
    assert any("BatchNorm was folded into the convolutions" in text for text in load_card(YOLO).structure.evidence)


def test_detector_distribution_head_is_not_attention() -> None:
    assert "attention" not in count_blocks(YOLO)
    assert count_blocks(YOLO)["softmax"] == 1
