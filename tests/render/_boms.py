"""ML-BOMs, held against the specification, and models to make them of."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from onnx import helper, numpy_helper

from onnx_autodoc.api import make_card
from onnx_autodoc.render import Report
from onnx_autodoc.render.cyclonedx import render_cyclonedx
from onnx_autodoc.shapes import Request
from tests._text import proto

VALIDATORS = {"1.7": JsonStrictValidator(SchemaVersion.V1_7), "1.6": JsonStrictValidator(SchemaVersion.V1_6)}

RELU = "g (float[2,3] x) => (float y) { y = Relu(x) }"


def validate_bom(found: Report) -> dict[str, Any]:
    """The document, which is valid and refers to nothing that is not in it."""
    text = render_cyclonedx(found)
    assert VALIDATORS["1.6"].validate_str(text) is None
    made: dict[str, Any] = json.loads(text)
    model = made["metadata"]["component"]
    refs = [model["bom-ref"], *(part["bom-ref"] for part in model.get("components", ()))]
    assert len(set(refs)) == len(refs)
    assert [each["ref"] for each in made["dependencies"]] == refs
    assert made["dependencies"][0].get("dependsOn", []) == refs[1:]
    return made


def save_model(folder: Path, model: onnx.ModelProto) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def make_bom(folder: Path, text: str, **metadata: str) -> dict[str, Any]:
    model = proto(text)
    helper.set_model_props(model, metadata)
    return validate_bom(make_card(save_model(folder, model), Request(), sha256=True))


def read_properties(made: dict[str, Any]) -> dict[str, list[str]]:
    """Properties of the file and of the model, by name."""
    model = made["metadata"]["component"]
    result: dict[str, list[str]] = {}
    for each in (*model["properties"], *model["modelCard"]["properties"]):
        result.setdefault(each["name"].removeprefix("onnx-autodoc:"), []).append(each["value"])
    return result


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def save_external_model(folder: Path) -> Path:
    """A model with weights in two files beside it."""
    model = proto("g (float[1,64] x) => (float y) { h = MatMul(x, a) y = MatMul(h, b) }")
    for at, name in enumerate("ab"):
        tensor = numpy_helper.from_array(np.full((64, 64), at + 1, np.float32), name)
        (folder / f"{name}.bin").write_bytes(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=f"{name}.bin")
        model.graph.initializer.append(tensor)
    return save_model(folder, model)
