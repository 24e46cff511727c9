"""Cost rules of ai.onnx and its small domains agree with each other where less of the inputs is known."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import structs
from onnx import AttributeProto, helper

from onnx_autodoc.ops import OPERATORS, attention, convolution, matmul, microsoft_decoding, recurrent
from onnx_autodoc.ops.call import Call
from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.operator import Operator
from onnx_autodoc.ops.values import InferenceError, Unknown, ValueInfo
from tests.ops._calls import Case, call_of, hide_input_info, vary_input_ranks
from tests.ops.test_onnx_cases import cases

DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")
TESTED_ELSEWHERE = {
    *(op for family in (attention, convolution, matmul, recurrent) for op in family.OPERATORS),
    *microsoft_decoding.UNSPECIFIED,
}
ENTRIES: dict[str, Operator] = {
    op: row
    for (domain, op), row in OPERATORS.items()
    if domain in DOMAINS and row.cost is not None and op not in TESTED_ELSEWHERE
}


def single_nodes() -> Iterator[tuple[str, Case, str]]:
    """The specification's cases of one node with tensors for inputs."""
    for case in cases():
        nodes, (inputs, _) = case.model.graph.node, case.data_sets[0]
        plain = all(isinstance(item, np.ndarray) for item in inputs)
        if len(nodes) == 1 and plain and nodes[0].op_type in ENTRIES and not _has_graph(nodes[0]):
            yield case.name, _case(case.model, inputs), nodes[0].domain


def _has_graph(node: Any) -> bool:
    return any(item.type == AttributeProto.GRAPH for item in node.attribute)


def _case(model: Any, inputs: list[Any]) -> Case:
    node, (opset, *_) = model.graph.node[0], model.opset_import
    by_name = dict(zip((value.name for value in model.graph.input), inputs, strict=True))
    attributes = {item.name: helper.get_attribute_value(item) for item in node.attribute}
    return Case(node.op_type, [by_name.get(name) for name in node.input], attributes, len(node.output), opset.version)


def cost_or_none(case: Case, domain: str, inputs: list[ValueInfo | None] | None = None) -> Cost | None:
    """Return the cost of a node, or None if it is unknown."""
    entry, call = ENTRIES[case.op], call_of(case, domain, inputs)
    assert entry.cost is not None
    try:
        outputs = tuple(entry.infer(call))[: case.outputs]
        return entry.cost(Call(call.node, call.inputs, case.opset, outputs))
    except InferenceError as gap:
        assert str(gap)
        return None


def costs_agree(partial: Cost, whole: Cost) -> bool:
    pairs = zip(structs.astuple(partial), structs.astuple(whole), strict=True)
    return all(isinstance(number, Unknown) or number == expected for number, expected in pairs)


def test_cost_of_less_known_inputs_agrees_with_the_full_cost() -> None:
    known = 0
    for name, case, domain in single_nodes():
        whole = cost_or_none(case, domain)
        known += whole is not None
        for inputs in hide_input_info(case):
            partial = cost_or_none(case, domain, inputs)
            assert partial is None or whole is not None, (name, inputs, partial)
            assert partial is None or costs_agree(partial, whole), (name, inputs, partial, whole)
    assert known > 700


def test_cost_of_inconsistent_inputs_has_a_reason() -> None:
    calls = [(case, domain, inputs) for _, case, domain in single_nodes() for inputs in vary_input_ranks(case)]
    assert calls
    for call in calls:
        cost_or_none(*call)  # fails at any exception but an `InferenceError` with a reason
