"""The fields of a README for the Hub are what the file proves, in the Hub's own words."""

import ast
from importlib import import_module
from pathlib import Path

import pytest
from msgspec.structs import replace

from onnx_autodoc import architecture as structure
from onnx_autodoc.architecture import family
from onnx_autodoc.render import _hub
from onnx_autodoc.render.huggingface import front_matter
from tests.render._readmes import HOSTILE, card, saying


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
def test_the_fields_are_those_that_the_file_proves(name: str, fields: dict[str, object]) -> None:
    assert front_matter(card(name)) == {"library_name": "onnx", **fields}


def test_a_task_that_is_only_likely_is_no_tag() -> None:
    found = card("vit-tiny-dynamo")
    assert "pipeline_tag" not in front_matter(replace(found, task=replace(found.task, confidence=0.84)))


def test_features_of_pictures_have_another_tag_than_those_of_text() -> None:
    found = card("vit-tiny-dynamo")
    features = replace(found.task, name="feature extraction")
    assert front_matter(replace(found, task=features))["pipeline_tag"] == "image-feature-extraction"
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
def test_a_licence_is_said_only_where_the_file_names_one_of_the_hubs(said: str, known: str | None) -> None:
    assert front_matter(saying(card("yolov8l-nc1"), license=said)).get("license") == known


def test_every_task_of_the_tool_has_a_tag_or_is_known_to_have_none() -> None:
    task = import_module("onnx_autodoc.architecture.task")
    said = {*task._WORDS.values(), *task._OURS}
    for file in ("_text_tasks", "_vision_tasks", "_classification_tasks"):
        said |= _verdicts(ast.parse((Path(structure.__file__).parent / f"{file}.py").read_text(encoding="utf-8")))
    assert len(said) > 30
    assert {"speech recognition", "pose estimation", "image-to-text", "video classification"} <= said
    assert said - {"feature extraction"} == _hub.TASKS.keys() | _hub.UNTAGGED_TASKS
    assert not _hub.TASKS.keys() & _hub.UNTAGGED_TASKS
    assert {*_hub.TASKS.values(), *_hub.FEATURES.values()} <= _hub.PIPELINE_TAGS


def _verdicts(tree: ast.Module) -> set[str]:
    """Every word that can be the name of a verdict: written in it, or in what its variable is taken from."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == "Verdict"]
    names = [call.args[0] for call in calls]
    also = [word.value for call in calls for word in call.keywords if word.arg in ("also", "near")]
    used = {node.id for part in (*names, *also) for node in ast.walk(part) if isinstance(node, ast.Name)}
    for _ in range(2):  # a name may come from a loop over a table
        for node in ast.walk(tree):
            target, value = _bound(node)
            if value is not None and used & {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}:
                also.append(value)
                used |= {part.id for part in ast.walk(value) if isinstance(part, ast.Name)} - {"_HEARD"}
    words = [node.value for part in (*names, *also) for node in ast.walk(part) if isinstance(node, ast.Constant)]
    return {word for word in words if isinstance(word, str) and (" " in word or word.startswith("image-"))}


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _bound(node: ast.AST) -> tuple[ast.AST, ast.AST | None]:
    if isinstance(node, ast.For):
        return node.target, node.iter
    if isinstance(node, ast.Assign):
        return node.targets[0], node.value
    return (node.target, node.value) if isinstance(node, ast.AnnAssign) else (node, None)


def test_every_family_of_the_tool_is_a_tag_or_is_known_to_be_none() -> None:
    tree = ast.parse(Path(family.__code__.co_filename).read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == "Family"]
    said = {part.value for call in calls for part in ast.walk(call.args[0]) if isinstance(part, ast.Constant)}
    assert said == _hub.FAMILIES | _hub.UNTAGGED_FAMILIES


def test_every_precision_of_the_tool_is_a_tag() -> None:
    precision = import_module("onnx_autodoc.analysis.precision")
    tree = ast.parse(Path(precision.__file__).read_text(encoding="utf-8"))
    pairs = [
        node.value for node in ast.walk(tree) if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple)
    ]
    said = {pair.elts[0].value for pair in pairs if isinstance(pair.elts[0], ast.Constant)} - {None}
    assert "int8-qdq" in said
    said |= {*precision._SHORT.values(), *(f"{bits}-weights" for bits in precision._FEW_BITS.values()), "fp8"}
    assert said == _hub.PRECISIONS.keys()
