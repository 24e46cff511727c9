"""Node signatures are checked as the onnx checker checks them, and the schema file is that of the onnx package."""

import json
from collections.abc import Iterator
from itertools import product

import onnx
import pytest
from onnx import defs, helper

from onnx_autodoc.ir import AttributeReference, Graph, Node
from onnx_autodoc.ops import ValueInfo
from onnx_autodoc.ops.node_checks import SCHEMA_FILE, check_signature, schema_of
from scripts.operators_data import collect_operators

_OPSET = 17
_OPSETS = (6, 7, 9, 11, 13, 17, 18, 21, 22, 23)  # those that changed most operators
_OUTPUTS = {"BatchNormalization": (0, 1)}  # others may come in certain numbers alone


def test_schema_file_matches_the_onnx_package() -> None:
    """`make docs` generates the file. The tests of nodes below compare it with the installed release."""
    stored, generated = json.loads(SCHEMA_FILE.read_text(encoding="utf-8")), json.loads(json.dumps(collect_operators()))
    if stored["source"] != generated["source"]:
        pytest.skip(f"the table is of {stored['source']}, installed is {generated['source']}")
    assert stored == generated


def _list_operators() -> Iterator[tuple[str, int]]:
    for opset in _OPSETS:
        for schema in defs.get_all_schemas_with_history():
            if schema.domain == "" and not schema.deprecated and schema.since_version == opset:
                yield schema.name, opset


def _is_rejected(node: onnx.NodeProto, opset: int) -> bool:
    context = onnx.checker.C.CheckerContext()
    context.ir_version, context.opset_imports = 8, {"": opset}
    try:
        onnx.checker.check_node(node, context)
    except onnx.checker.ValidationError:
        return True
    return False


@pytest.mark.parametrize(("op", "opset"), sorted(_list_operators()))
def test_node_is_rejected_where_the_onnx_checker_rejects_it(op: str, opset: int) -> None:
    """Compare nodes with 0 to 7 inputs and 0 to 3 outputs, with and without an unknown attribute."""
    for inputs, outputs, more in product(range(8), _OUTPUTS.get(op, range(4)), ({}, {"wobble": 1})):
        names = tuple(f"i{at}" for at in range(inputs)), tuple(f"o{at}" for at in range(outputs))
        rejected = _is_rejected(helper.make_node(op, *names, **more), opset)
        assert bool(list(check_signature(Node(op, *names, attributes=more), opset))) == rejected, (
            inputs,
            outputs,
            more,
        )


def test_node_without_a_known_schema_is_accepted() -> None:
    node = Node("Relu", ("a", "b"), ("y",), attributes={"axis": 1})
    assert list(check_signature(node, None)) == []
    assert list(check_signature(node, 1_000)) == []
    assert list(check_signature(Node("Relu", ("a", "b"), ("y",), domain="custom"), 1)) == []
    assert schema_of("", "Gelu", 17) is None


def test_attribute_reference_may_have_any_type() -> None:
    assert (
        list(check_signature(Node("Softmax", ("x",), ("y",), attributes={"axis": AttributeReference("outer")}), _OPSET))
        == []
    )


def test_known_types_are_compared() -> None:
    node = Node("Add", ("a", "b"), ("y",))
    both = ValueInfo("float32", ()), ValueInfo("int64", ())
    assert list(check_signature(node, _OPSET, both)) == ["inputs of types float32 and int64 must have the same type"]
    assert list(check_signature(node, _OPSET, (both[0], ValueInfo(None, ())))) == []
    assert list(check_signature(node, _OPSET, (both[0], None))) == []
    mixed = Node("SequenceConstruct", ("a", "b"), ("y",))
    assert len(list(check_signature(mixed, _OPSET, both))) == 1
    loop = Node("Loop", ("n", "c", "a", "b"), ("y", "z"), attributes={"body": Graph("body", ())})
    assert list(check_signature(loop, _OPSET, (None, None, *both))) == []
