"""The fields of a README for the Hub are what the file proves, in the Hub's own words."""

import ast
from importlib import import_module
from pathlib import Path

import pytest
from msgspec.structs import replace

from onnx_autodoc.architecture import TASK_NAMES, family
from onnx_autodoc.render import hub_metadata
from onnx_autodoc.render.huggingface import front_matter
from tests.render._readmes import HOSTILE, card, declare


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        (
            "all-minilm-l6-v2-dynquant-int8",
            {"pipeline_tag": "feature-extraction", "tags": ["onnx", "int8", "transformer-encoder"]},
        ),
        ("vit-tiny-dynamo", {"pipeline_tag": "image-classification", "tags": ["onnx", "fp32", "vision-transformer"]}),
        (
            "smollm2-135m-genai-int4",
            {"pipeline_tag": "text-generation", "tags": ["onnx", "int4", "transformer-decoder"]},
        ),
        ("silero-vad", {"tags": ["onnx", "fp32"]}),  # not sure enough of its task, and of two families
        ("sd-vae-decoder", {"tags": ["onnx", "fp32", "cnn"]}),  # sure of its task, which is none of the Hub's
    ],
)
def test_metadata_is_proved_by_the_file(name: str, fields: dict[str, object]) -> None:
    assert front_matter(card(name)) == {"library_name": "onnx", **fields}


def test_uncertain_task_is_no_tag() -> None:
    result = card("vit-tiny-dynamo")
    assert "pipeline_tag" not in front_matter(replace(result, task=replace(result.task, confidence=0.84)))


def test_feature_tag_follows_input_role() -> None:
    result = card("vit-tiny-dynamo")
    features = replace(result.task, name="feature extraction")
    assert front_matter(replace(result, task=features))["pipeline_tag"] == "image-feature-extraction"
    heard = replace(card("whisper-tiny-encoder"), task=features)
    assert "pipeline_tag" not in front_matter(heard)


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("AGPL-3.0 License (https://ultralytics.com/license)", "agpl-3.0"),
        ("AGPL-3.0 https://ultralytics.com/license", "agpl-3.0"),
        ("MIT License", "mit"),
        ("The MIT License (MIT)", "mit"),
        ("Apache License, Version 2.0", "apache-2.0"),
        ("apache2", None),
        ("Apache", None),
        ("GNU General Public License v3.0", "gpl-3.0"),
        ("GPL-3.0-or-later", "gpl-3.0"),
        ("GPLv3", "gpl-3.0"),
        ("BSD 3-Clause", "bsd-3-clause"),
        ("CC BY-NC-SA 4.0", "cc-by-nc-sa-4.0"),
        ("MIT or Apache-2.0", None),
        ("not MIT", None),
        ("MIT, for research only", None),
        ("see LICENSE", None),
        ("unknown", None),
        ("other", None),
        ("", None),
        ("MIT" + " " * 500, None),
        ("license: mit", None),
        ("MIT\nGPL-3.0", None),
        *((text, None) for text in HOSTILE),
    ],
)
def test_license_is_listed_only_if_known_to_the_hub(said: str, known: str | None) -> None:
    assert front_matter(declare(card("yolov8l-nc1"), license=said)).get("license") == known


def test_every_task_is_tagged_or_listed_as_untagged() -> None:
    assert {"speech recognition", "pose estimation", "image-to-text", "video classification"} <= TASK_NAMES
    assert TASK_NAMES - {"feature extraction"} == hub_metadata.TASKS.keys() | hub_metadata.UNTAGGED_TASKS
    assert not hub_metadata.TASKS.keys() & hub_metadata.UNTAGGED_TASKS
    assert {*hub_metadata.TASKS.values(), *hub_metadata.FEATURE_TASKS.values()} <= hub_metadata.PIPELINE_TAGS


def test_every_family_is_tagged_or_listed_as_untagged() -> None:
    tree = ast.parse(Path(family.__file__).read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Family"]
    labels = {part.value for call in calls for part in ast.walk(call.args[0]) if isinstance(part, ast.Constant)}
    assert labels == hub_metadata.FAMILIES | hub_metadata.UNTAGGED_FAMILIES


def test_every_precision_has_a_tag() -> None:
    precision = import_module("onnx_autodoc.analysis.precision")
    tree = ast.parse(Path(precision.__file__).read_text(encoding="utf-8"))
    pairs = [
        node.value for node in ast.walk(tree) if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple)
    ]
    labels = {pair.elts[0].value for pair in pairs if isinstance(pair.elts[0], ast.Constant)} - {None}
    assert "int8-qdq" in labels
    labels |= {
        *precision.FLOAT_LABELS.values(),
        *(f"{bits}-weights" for bits in precision.SUB_BYTE_LABELS.values()),
        "fp8",
    }
    assert labels == hub_metadata.PRECISIONS.keys()
