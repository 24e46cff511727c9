"""What a card says of a model in a line: family and sizes, its task by how sure it is, the way through its blocks."""

from functools import cache

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Card
from onnx_autodoc.card._summary import what_it_is
from onnx_autodoc.render._headline import cache_of, kept_in_float, said_of_data, way
from tests._corpus import reported


@cache
def card(name: str) -> Card:
    return reported(name).card


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "all-minilm-l6-v2-ortfused",
            "Transformer encoder, 6 layers of width 384, 12 heads; feature extraction",
        ),
        (
            "smollm2-135m-genai-int4",
            "Transformer decoder, 30 layers of width 576, 9 heads (3 for keys and values); text generation",
        ),
        ("yolov8l-nc1", "Convolutional network; object detection, 1 class"),
        ("bilstm-gru-tagger", "Recurrent network, 3 layers of width 128; token classification, 10 classes"),
    ],
)
def test_a_model_in_one_line(name: str, text: str) -> None:
    assert what_it_is(card(name)) == text


@pytest.mark.parametrize(
    ("confidence", "said"),
    [(0.9, "; object detection"), (0.7, "; probably object detection"), (0.5, "; perhaps object detection")],
)
def test_how_sure_it_is(confidence: float, said: str) -> None:
    found = card("yolov8l-nc1")
    assert said in what_it_is(replace(found, task=replace(found.task, confidence=confidence)))


def test_no_task_is_said() -> None:
    found = card("yolov8l-nc1")
    unknown = replace(found, task=replace(found.task, name=None, classes=None))
    assert what_it_is(unknown).endswith("the graph does not tell its task")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("bert-base-qa-dynamo", "none: an encoder"),
        ("vit-tiny-dynamo", "none: an encoder"),
        ("whisper-tiny-decoder", "none: every run computes the whole sequence anew"),
        ("resnet50-ts-op17", None),
    ],
)
def test_why_there_is_no_cache(name: str, why: str | None) -> None:
    assert cache_of(card(name)) == why


def test_the_way_opens_the_layer_with_the_most_work() -> None:
    assert way(card("bert-base-qa-dynamo")) == (
        "Embedding → 12 × [Attention 12 heads × 64 → Add → LayerNorm → MLP gelu, 768 → 3,072 → 768 → Add → LayerNorm]"
        " → Linear"
    )


def test_a_long_way_is_cut_and_says_by_how_much() -> None:
    found = way(card("yolov8l-nc1"))
    assert found is not None
    assert found.startswith("Conv → Conv → CSP block → ")
    assert found.endswith(" more, see --format mermaid")


def test_what_stayed_in_floating_point() -> None:
    assert kept_in_float(card("all-minilm-l6-v2-int4-matmulnbits")) == "; in floating point: norms, embeddings"
    assert kept_in_float(card("resnet50-qdq-int8")) == ""


def test_what_the_metadata_say_of_the_data() -> None:
    found = card("yolov8l-nc1")
    assert said_of_data(found) is None
    said = replace(
        found.dataset.said, classes=2, names=("cat", "dog"), image_size=(640, 480), sources={"classes": "here"}
    )
    told = replace(found, dataset=replace(found.dataset, said=said))
    assert said_of_data(told) == "2 classes (cat, dog), 640×480: here"
