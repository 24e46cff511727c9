"""Short texts on a model: family and sizes, task by confidence, the chain of its blocks."""

from functools import cache

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Card
from onnx_autodoc.card.summary import describe_model
from onnx_autodoc.render.card_text import (
    describe_declared_data,
    describe_float_parts,
    explain_missing_cache,
    format_block_chain,
)
from tests._corpus import load_report


@cache
def card(name: str) -> Card:
    return load_report(name).card


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "all-minilm-l6-v2-ortfused",
            "Transformer encoder, 6 layers of width 384, 12 heads; feature extraction",
        ),
        (
            "smollm2-135m-genai-int4",
            "Transformer decoder, 30 layers of width 576, 9 heads (3 KV heads); text generation",
        ),
        ("yolov8l-nc1", "Convolutional network; object detection, 1 class"),
        ("bilstm-gru-tagger", "Recurrent network, 3 layers of width 128; token classification, 10 classes"),
    ],
)
def test_model_is_described_in_one_line(name: str, text: str) -> None:
    assert describe_model(card(name)) == text


@pytest.mark.parametrize(
    ("confidence", "said"),
    [(0.9, "; object detection"), (0.7, "; probably object detection"), (0.5, "; possibly object detection")],
)
def test_task_is_qualified_by_confidence(confidence: float, said: str) -> None:
    result = card("yolov8l-nc1")
    assert said in describe_model(replace(result, task=replace(result.task, confidence=confidence)))


def test_missing_task_is_stated() -> None:
    result = card("yolov8l-nc1")
    unknown = replace(result, task=replace(result.task, name=None, classes=None))
    assert describe_model(unknown).endswith("; task unknown")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("bert-base-qa-dynamo", "none (encoder)"),
        ("vit-tiny-dynamo", "none (encoder)"),
        ("whisper-tiny-decoder", "none: each run recomputes the whole sequence"),
        ("resnet50-ts-op17", None),
    ],
)
def test_missing_cache_is_explained(name: str, why: str | None) -> None:
    assert explain_missing_cache(card(name)) == why


def test_block_chain_opens_layer_with_most_macs() -> None:
    assert format_block_chain(card("bert-base-qa-dynamo")) == (
        "Embedding → 12 × [Attention 12 heads × 64 → Add → LayerNorm → MLP gelu, 768 → 3,072 → 768 → Add → LayerNorm]"
        " → Linear"
    )


def test_long_block_chain_is_cut_with_count() -> None:
    result = format_block_chain(card("yolov8l-nc1"))
    assert result is not None
    assert result.startswith("Conv → Conv → CSP block → ")
    assert result.endswith(" more, see --format mermaid")


def test_float_parts_of_quantized_model_are_listed() -> None:
    assert describe_float_parts(card("all-minilm-l6-v2-int4-matmulnbits")) == "; in floating point: norms, embeddings"
    assert describe_float_parts(card("resnet50-qdq-int8")) == ""


def test_declared_data_is_described() -> None:
    result = card("yolov8l-nc1")
    assert describe_declared_data(result) is None
    text = replace(
        result.dataset.said, classes=2, names=("cat", "dog"), image_size=(640, 480), sources={"classes": "here"}
    )
    text = replace(result, dataset=replace(result.dataset, said=text))
    assert describe_declared_data(text) == "2 classes (cat, dog), 640×480: here"
