"""Names come from untrusted files: in messages they are quoted and shortened."""

import msgspec
import pytest

from onnx_autodoc.ir import ExternalData, Graph, Model, Node, Type, Value
from onnx_autodoc.text import quote_name, repr_name
from tests.lint._check import check_rule

_SENTENCE = "y is fine. No problems were found"
_WITH_QUOTES = "y” is fine. “No problems"
_FLOAT = Type("tensor", "float32", (2,))


def _model(name: str) -> Model:
    nodes = (Node("Relu", (name,), ("y",)), Node(name, ("y",), (f"{name}z",), domain=name))
    graph = Graph("g", nodes, (Value(name, Type("tensor", "int64", (None, 1))),), (Value("y", _FLOAT),))
    return Model(graph, opsets={"": 17}, external=(ExternalData(f"../{name}", None, 8),))


@pytest.mark.parametrize(
    "rule",
    ["escaping-external-data", "unnamed-dimension", "missing-opset", "custom-domain", "dynamic-input"],
)
def test_file_names_are_quoted_and_short_in_messages(rule: str) -> None:
    for finding in check_rule(rule, _model(_SENTENCE)):
        assert "“" in finding.message.partition(_SENTENCE[:20])[0]
    assert check_rule(rule, _model(_SENTENCE))
    long = "a" * 4096
    assert all(len(finding.message) < 400 for finding in check_rule(rule, _model(long)))


def test_quoted_name_cannot_close_its_quotes() -> None:
    assert quote_name("/model/layers.0/Add_output_0") == "/model/layers.0/Add_output_0"
    assert quote_name("387") == "“387”"  # as exporters call values; in a sentence it would be a count
    assert quote_name(_SENTENCE) == f"“{_SENTENCE}”"
    assert quote_name(_WITH_QUOTES).count("“") == quote_name(_WITH_QUOTES).count("”") == 1
    assert quote_name("nothing") == "“nothing”"
    assert repr_name("x") == "'x'"
    assert repr_name("y' is fine") == '"y\' is fine"'
    assert len(quote_name("a" * 4096)) == 200


def test_evidence_has_the_raw_name() -> None:
    plain = _model("x")
    graph = msgspec.structs.replace(
        plain.graph,
        nodes=(Node("Relu", ("x",), (_SENTENCE,)),),
        inputs=(Value("x", Type("tensor", "float32", (3,))),),
        outputs=(Value(_SENTENCE, _FLOAT),),
    )
    (finding,) = check_rule("contradictory-shape", msgspec.structs.replace(plain, graph=graph, external=()))
    assert finding.evidence == (_SENTENCE,)
    assert f"declares “{_SENTENCE}” as [2]" in finding.message
    assert finding.severity == "warning"
