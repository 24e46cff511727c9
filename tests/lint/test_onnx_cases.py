"""The test cases of the specification are valid: no rule reports an error in them, at any size."""

from pathlib import Path

import onnx
import pytest

from onnx_autodoc.lint import RULES
from onnx_autodoc.readers import read_model
from tests.lint._check import lint_context
from tests.ops.test_onnx_cases import cases

ERROR_RULES = (
    *("contradictory-declaration", "contradictory-shape", "cycle", "duplicate-definition", "impossible-version"),
    *("malformed-function", "malformed-node", "malformed-tensor", "undefined-value", "unknown-operator"),
)
DYNAMIC_STEP = 8  # every eighth case, because dynamic shapes take longest


def with_dynamic_inputs(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with dynamic dimensions for all inputs."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for at, value in enumerate(copy.graph.input):
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            dim.dim_param = f"d{at}_{axis}"
    for value in copy.graph.output:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    del copy.graph.value_info[:]
    return copy


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["as declared", "dynamic"])
def test_specification_cases_are_not_reported(is_dynamic: bool, tmp_path: Path) -> None:
    path, problems = tmp_path / "case.onnx", list[str]()
    for case in cases()[:: DYNAMIC_STEP if is_dynamic else 1]:
        path.write_bytes((with_dynamic_inputs(case.model) if is_dynamic else case.model).SerializeToString())
        context = lint_context(read_model(path))
        violations = [violation for rule in ERROR_RULES for violation in RULES[rule].check(context)]
        problems += [f"{case.name}: {violation.message}" for violation in violations]
        problems += [f"{case.name}: {gap.reason}" for gap in context.facts.gaps if "contradicts itself" in gap.reason]
    assert problems == []
