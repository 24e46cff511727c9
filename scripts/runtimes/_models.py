"""One-node models of every operator: the test cases of the specification, and minimal nodes for the rest."""

from collections.abc import Iterator

import numpy as np
import onnx
from msgspec import Struct
from onnx import helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.case.test_case import TestCase

SHAPE = [2, 3, 4, 4]
OLD_ENOUGH = 10  # the file format's version: newer ones are refused before any operator is looked at


class Sample(Struct, frozen=True):
    """A model of one node, with the input elements of its test in the specification."""

    domain: str
    op: str
    model: onnx.ModelProto
    given: dict[str, onnx.TensorProto]

    @property
    def version(self) -> int:
        """Return the version of the operator's definition that applies in the model."""
        opset = next(item.version for item in self.model.opset_import if item.domain == self.domain)
        return int(onnx.defs.get_schema(self.op, opset, self.domain).since_version)

    def plain(self) -> bytes:
        return bytes(self.model.SerializeToString())

    def at(self, opset: int) -> bytes:
        """Return the same node in a model of another opset."""
        copy = onnx.ModelProto.FromString(self.model.SerializeToString())
        for item in copy.opset_import:
            item.version = opset if item.domain == self.domain else item.version
        return bytes(copy.SerializeToString())

    def fixed(self) -> bytes:
        """Return the model with all inputs but the first as constants, as exporters write axes, sizes and weights."""
        copy = onnx.ModelProto.FromString(self.model.SerializeToString())
        keep = [item for at, item in enumerate(copy.graph.input) if at == 0 or item.name not in self.given]
        held = [self.given[item.name] for item in copy.graph.input if item not in keep]
        del copy.graph.input[:]
        copy.graph.input.extend(keep)
        copy.graph.initializer.extend(held)
        return bytes(copy.SerializeToString())


def samples() -> Iterator[Sample]:
    """Yield the node tests of the specification with a single node."""
    for case in collect_testcases(None):
        if case.model is not None and len(case.model.graph.node) == 1 and not case.model.functions:
            node = case.model.graph.node[0]
            case.model.ir_version = OLD_ENOUGH
            yield Sample(node.domain, node.op_type, case.model, dict(_constant_inputs(case)))


def _constant_inputs(case: TestCase) -> Iterator[tuple[str, onnx.TensorProto]]:
    for value, data in zip(case.model.graph.input, case.data_sets[0][0], strict=False):
        if isinstance(data, onnx.TensorProto):
            data = numpy_helper.to_array(data)
        if value.type.HasField("tensor_type") and isinstance(data, np.ndarray):
            yield value.name, numpy_helper.from_array(data, value.name)


def minimal_model(domain: str, op: str, opset: int, inputs: int = 1) -> bytes:
    """Return a node of which only the name is valid, to test whether a runtime knows the operator."""
    given = [helper.make_tensor_value_info(f"x{at}", onnx.TensorProto.FLOAT, SHAPE) for at in range(inputs)]
    made = [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)]
    node = helper.make_node(op, [item.name for item in given], ["y"], domain=domain)
    opsets = {"": 21, domain: opset}
    model = helper.make_model(
        helper.make_graph([node], "g", given, made),
        opset_imports=[helper.make_opsetid(*item) for item in opsets.items()],
    )
    model.ir_version = OLD_ENOUGH
    return bytes(model.SerializeToString())


def versions() -> dict[tuple[str, str], list[int]]:
    """Return the opsets that define each (domain, operator), without those that removed it."""
    found: dict[tuple[str, str], list[int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if not schema.deprecated:
            found.setdefault((schema.domain, schema.name), []).append(schema.since_version)
    return {key: sorted(items) for key, items in found.items()}
