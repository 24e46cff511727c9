"""A name can say anything: inside of a sentence it is seen to be a name, and it is not long."""

import msgspec
import pytest

from onnx_autodoc.ir import External, Graph, Model, Node, Type, Value
from onnx_autodoc.text import quoted, told
from tests.lint._judged import found

_LIE = "y is fine. No problems were found"
_CLOSING = "y” is fine. “No problems"
_FLOAT = Type("tensor", "float32", (2,))


def _model(name: str) -> Model:
    nodes = (Node("Relu", (name,), ("y",)), Node(name, ("y",), (f"{name}z",), domain=name))
    graph = Graph("g", nodes, (Value(name, Type("tensor", "int64", (None, 1))),), (Value("y", _FLOAT),))
    return Model(graph, opsets={"": 17}, external=(External(f"../{name}", None, 8),))


@pytest.mark.parametrize(
    "rule",
    ["escaping-external-data", "unnamed-dimension", "missing-opset", "custom-domain", "dynamic-input"],
)
def test_a_name_does_not_speak_as_we_do(rule: str) -> None:
    for finding in found(rule, _model(_LIE)):
        assert "“" in finding.message.partition(_LIE[:20])[0]
    assert found(rule, _model(_LIE))
    long = "a" * 4096
    assert all(len(finding.message) < 400 for finding in found(rule, _model(long)))


def test_a_name_in_a_reason_stands_in_marks_that_it_cannot_close() -> None:
    assert told("/model/layers.0/Add_output_0") == "/model/layers.0/Add_output_0"
    assert told("387") == "“387”"  # as exporters call values; in a sentence it would be a count
    assert told(_LIE) == f"“{_LIE}”"
    assert told(_CLOSING).count("“") == told(_CLOSING).count("”") == 1
    assert told("nothing") == "“nothing”"
    assert quoted("x") == "'x'"
    assert quoted("y' is fine") == '"y\' is fine"'
    assert len(told("a" * 4096)) == 200


def test_a_value_with_an_odd_name_is_evidence_under_its_own() -> None:
    plain = _model("x")
    graph = msgspec.structs.replace(
        plain.graph,
        nodes=(Node("Relu", ("x",), (_LIE,)),),
        inputs=(Value("x", Type("tensor", "float32", (3,))),),
        outputs=(Value(_LIE, _FLOAT),),
    )
    (finding,) = found("contradictory-shape", msgspec.structs.replace(plain, graph=graph, external=()))
    assert finding.evidence == (_LIE,)
    assert f"declares “{_LIE}” as [2]" in finding.message
    assert finding.severity == "warning"
