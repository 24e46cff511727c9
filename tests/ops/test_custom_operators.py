"""Operators of custom domains: registered from Python and by entry point."""

import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from onnx_autodoc import card
from onnx_autodoc.ops import OPERATORS, Call, Cost, Operator, ValueInfo, load_plugins, register_operator

DOCS = Path(__file__).parents[2] / "docs"


def infer_double(call: Call) -> list[ValueInfo]:
    return [ValueInfo(call.dtype(0), tuple(2 * dim for dim in call.shape(0)))]


def count_double(call: Call) -> Cost:
    return Cost(macs=7)


DOUBLE = Operator(infer_double, cost=count_double, domain="acme", op_type="Double")


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("onnx_autodoc.ops.registry._REGISTERED", {})
    built_in = dict(OPERATORS)
    load_plugins.cache_clear()
    yield
    OPERATORS.clear()
    OPERATORS.update(built_in)
    load_plugins.cache_clear()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    nodes = [helper.make_node("Double", ["x"], ["h"], domain="acme"), helper.make_node("Relu", ["h"], ["y"])]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("acme", 1)]
    path = tmp_path / "custom.onnx"
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=opsets, ir_version=10), path)
    return path


def use_entry_points(monkeypatch: pytest.MonkeyPatch, *values: str) -> None:
    points = [EntryPoint(f"plugin{at}", value, "onnx_autodoc.operators") for at, value in enumerate(values)]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: points)


def test_unregistered_operator_is_a_gap(model: Path) -> None:
    result = card(model)
    assert [gap.op for gap in result.compute.coverage.gaps][:1] == ["Double"]
    assert result.interface.outputs[0].bound is None


@pytest.mark.parametrize("isolated", [False, True])
def test_registered_operator_is_inferred_and_counted(model: Path, isolated: bool) -> None:
    register_operator(DOUBLE)
    result = card(model, isolated=isolated)
    assert result.compute.coverage.gaps == ()
    assert result.compute.macs == 7
    assert result.interface.outputs[0].bound == (4, 6)


def test_operator_of_an_entry_point_is_counted(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_entry_points(monkeypatch, f"{__name__}:DOUBLE")
    assert card(model).compute.macs == 7


def test_broken_plugin_is_named_in_the_gap(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_entry_points(monkeypatch, "no_such_package:ROWS", f"{__name__}:infer_double")
    (gap, *_) = card(model).compute.coverage.gaps
    assert "no shape rule for operator Double of domain acme" in gap.reason
    assert "plugin0 could not be loaded" in gap.reason and "ModuleNotFoundError" in gap.reason
    assert "plugin1 could not be loaded" in gap.reason and "\n" not in gap.reason


def test_broken_plugin_does_not_hide_another(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_entry_points(monkeypatch, "no_such_package:ROWS", f"{__name__}:DOUBLE")
    assert card(model).compute.coverage.gaps == ()


def test_failing_rule_is_the_gap_of_its_node(model: Path) -> None:
    def fail(call: Call) -> Cost:
        raise RuntimeError("two\nlines")

    register_operator(Operator(infer_double, cost=fail, domain="acme", op_type="Double"))
    result = card(model)
    (gap,) = result.compute.coverage.gaps
    assert "acme.Double" in gap.reason and "RuntimeError" in gap.reason
    assert result.interface.outputs[0].bound == (4, 6)


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (Operator(infer_double, op_type="Double"), "requires a domain"),
        (Operator(infer_double, domain="acme"), "an op_type"),
        (Operator(infer_double, domain="com.microsoft", op_type="MatMulNBits"), "built-in"),
    ],
)
def test_invalid_registration_is_rejected(operator: Operator, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        register_operator(operator)


def test_documented_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (DOCS / "custom-operators.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec("\n".join(re.findall(r"```python\n(.*?)```", text, re.S)), {"__name__": "example"})
    assert capsys.readouterr().out == "1024 ()\n"
