"""The specification's own test cases: well over a thousand models with recorded inputs and outputs.

Every case is read from its bytes and resolved twice: as it is (a size that hangs on an input's data must be unknown,
with a reason), and with the recorded inputs as constants (then nearly everything can be known).
"""

import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnx_autodoc.ir import Model, dtype_name
from onnx_autodoc.ops import find
from onnx_autodoc.readers import read_model
from onnx_autodoc.shapes import Request, Shapes, bind, infer_shapes, parse_request


@cache
def cases() -> list[Any]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [case for case in collect_testcases(None) if case.model is not None and case.data_sets]


def shapes_of(model: onnx.ModelProto, inputs: list[object], path: Path) -> Shapes:
    parsed, request = read_case(model, inputs, path)
    return infer_shapes(parsed, bind(parsed, request))


def read_case(model: onnx.ModelProto, inputs: list[object], path: Path) -> tuple[Model, Request]:
    """A case read from its bytes, and the sizes of its recorded inputs."""
    path.write_bytes(model.SerializeToString())
    parsed = read_model(path)
    initializers = {tensor.name for tensor in parsed.graph.initializers}
    dims = [
        f"{value.name}.{axis}={size}"
        for value, item in zip(model.graph.input, inputs)
        if isinstance(item, np.ndarray) and value.name and value.name not in initializers
        for axis, size in enumerate(item.shape)
    ]
    return parsed, parse_request(dims=tuple(dims))


def as_constants(model: onnx.ModelProto, inputs: list[object]) -> onnx.ModelProto:
    """Return the model with its recorded inputs as initializers."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for value, item in zip(model.graph.input, inputs):
        if isinstance(item, np.ndarray | np.generic) and value.name and value.type.WhichOneof("value") == "tensor_type":
            tensor = numpy_helper.from_array(np.asarray(item), value.name)
            if tensor.data_type == value.type.tensor_type.elem_type:
                copy.graph.initializer.append(tensor)
    return copy


def list_outcomes(tmp_path: Path, constant: bool) -> Iterator[tuple[str, str, str]]:
    """Yield for each output of each case: the case, the outcome, and the inferred shape."""
    for case in cases():
        inputs, outputs = case.data_sets[0]
        model = as_constants(case.model, inputs) if constant else case.model
        shapes = shapes_of(model, inputs, tmp_path / "case.onnx")
        yield from ((case.name, "wrong", text) for text in shapes.contradictions)
        for value, item in zip(case.model.graph.output, outputs):
            if isinstance(item, np.ndarray) and value.name:
                yield case.name, *compare_shape(shapes, value, item)


def compare_shape(shapes: Shapes, value: onnx.ValueInfoProto, item: np.ndarray) -> tuple[str, str]:
    known = shapes.values[value.name]
    if known.dtype is not None and known.dtype != dtype_name(value.type.tensor_type.elem_type):
        return "wrong", f"{known.dtype} is really {dtype_name(value.type.tensor_type.elem_type)}"
    if known.concrete is None:
        return ("unknown", known.reason) if known.reason else ("silent", "unknown without a reason")
    return ("right", "") if known.concrete == item.shape else ("wrong", f"{known.concrete} is really {item.shape}")


@pytest.mark.parametrize("constant", [False, True], ids=["as they are", "with constant inputs"])
def test_no_shape_of_the_specification_cases_is_wrong(constant: bool, tmp_path: Path) -> None:
    counts, bad, unknown = Counter[str](), [], []
    for name, how, text in list_outcomes(tmp_path, constant):
        counts[how] += 1
        if how in ("wrong", "silent"):
            bad.append(f"{name}: {text}")
        elif how == "unknown":
            unknown.append(f"{name}: {text}")
    assert bad == []
    assert counts["right"] > 1500
    share = counts["unknown"] / counts.total()
    assert share < (0.03 if constant else 0.18), "\n".join(unknown)


def test_every_operator_of_the_specification_has_a_row() -> None:
    control = {"If", "Loop", "Scan", "SequenceMap"}
    known_gap = {("ai.onnx.preview.training", "Gradient")}  # its outputs follow from other nodes, not from its inputs
    missing = {
        (schema.domain, schema.name)
        for schema in onnx.defs.get_all_schemas()
        if find(schema.domain, schema.name) is None and schema.name not in control
    }
    assert missing <= known_gap
