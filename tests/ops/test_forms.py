"""What is known of operators' forms is what the specification says, and is held against nodes as its checker does."""

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


def test_the_table_is_that_of_the_onnx_package() -> None:
    """Written anew by `make docs`. The nodes below hold it to whichever release is installed."""
    stored, current = json.loads(SCHEMA_FILE.read_text(encoding="utf-8")), json.loads(json.dumps(collect_operators()))
    if stored["source"] != current["source"]:
        pytest.skip(f"the table is of {stored['source']}, installed is {current['source']}")
    assert stored == current


def _names() -> Iterator[tuple[str, int]]:
    for opset in _OPSETS:
        for schema in defs.get_all_schemas_with_history():
            if schema.domain == "" and not schema.deprecated and schema.since_version == opset:
                yield schema.name, opset


def _refused(node: onnx.NodeProto, opset: int) -> bool:
    context = onnx.checker.C.CheckerContext()
    context.ir_version, context.opset_imports = 8, {"": opset}
    try:
        onnx.checker.check_node(node, context)
    except onnx.checker.ValidationError:
        return True
    return False


@pytest.mark.parametrize(("op", "opset"), sorted(_names()))
def test_a_node_is_refused_where_the_checker_refuses_it(op: str, opset: int) -> None:
    """Of every operator: nodes of so many inputs and outputs, without attributes and with one that nobody has."""
    for inputs, outputs, more in product(range(8), _OUTPUTS.get(op, range(4)), ({}, {"wobble": 1})):
        names = tuple(f"i{at}" for at in range(inputs)), tuple(f"o{at}" for at in range(outputs))
        refused = _refused(helper.make_node(op, *names, **more), opset)
        assert bool(list(check_signature(Node(op, *names, attributes=more), opset))) == refused, (inputs, outputs, more)


def test_what_is_not_known_is_not_held_against_a_node() -> None:
    node = Node("Relu", ("a", "b"), ("y",), attributes={"axis": 1})
    assert list(check_signature(node, None)) == []
    assert list(check_signature(node, 1_000)) == []
    assert list(check_signature(Node("Relu", ("a", "b"), ("y",), domain="custom"), 1)) == []
    assert schema_of("", "Gelu", 17) is None


def test_an_attribute_from_a_call_may_be_of_any_kind() -> None:
    assert (
        list(check_signature(Node("Softmax", ("x",), ("y",), attributes={"axis": AttributeReference("outer")}), _OPSET))
        == []
    )


def test_types_are_compared_where_they_are_known() -> None:
    node = Node("Add", ("a", "b"), ("y",))
    both = ValueInfo("float32", ()), ValueInfo("int64", ())
    assert list(check_signature(node, _OPSET, both)) == ["its inputs of float32 and int64 must be of one type"]
    assert list(check_signature(node, _OPSET, (both[0], ValueInfo(None, ())))) == []
    assert list(check_signature(node, _OPSET, (both[0], None))) == []
    mixed = Node("SequenceConstruct", ("a", "b"), ("y",))
    assert len(list(check_signature(mixed, _OPSET, both))) == 1
    loop = Node("Loop", ("n", "c", "a", "b"), ("y", "z"), attributes={"body": Graph("body", ())})
    assert list(check_signature(loop, _OPSET, (None, None, *both))) == []
