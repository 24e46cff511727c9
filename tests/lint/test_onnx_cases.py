"""The specification's own test cases are right: no rule may call one of them wrong, at whatever sizes."""

from pathlib import Path

import onnx
import pytest

from onnx_autodoc.lint import RULES
from onnx_autodoc.readers import read_model
from tests.lint._check import lint_context
from tests.ops.test_onnx_cases import cases

WRONG = (
    *("contradictory-declaration", "contradictory-shape", "cycle", "duplicate-definition", "impossible-version"),
    *("malformed-function", "malformed-node", "malformed-tensor", "undefined-value", "unknown-operator"),
)
EACH = 8  # of the cases with open sizes, which take longest


def opened(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same model, whose inputs may be of any size."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for at, value in enumerate(made.graph.input):
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            dim.dim_param = f"d{at}_{axis}"
    for value in made.graph.output:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    del made.graph.value_info[:]
    return made


@pytest.mark.parametrize("is_open", [False, True], ids=["as they are", "with open sizes"])
def test_specification_cases_are_not_reported(is_open: bool, tmp_path: Path) -> None:
    path, said = tmp_path / "case.onnx", list[str]()
    for each in cases()[:: EACH if is_open else 1]:
        path.write_bytes((opened(each.model) if is_open else each.model).SerializeToString())
        judged = lint_context(read_model(path))
        said += [f"{each.name}: {found.message}" for rule in WRONG for found in RULES[rule].check(judged)]
        said += [f"{each.name}: {gap.reason}" for gap in judged.facts.gaps if "contradicts itself" in gap.reason]
    assert said == []
