"""One node, run by onnxruntime and inferred by its rule, for the operator tests."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper
from onnxruntime.capi._pybind_state import get_all_operator_schema

from onnx_autodoc.ir import Attribute, Node, Tensor, dtype_name
from onnx_autodoc.ops.call import Call
from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.operator import Operator
from onnx_autodoc.ops.values import Array, Contradiction, InferenceError, Unknown, ValueInfo

SMALL = 64  # elements of an input up to which a rule gets their values
_DTYPES = {dtype_name(number): number for number in range(1, 29)}
_RANDOM = np.random.default_rng(0)


# inputs
def floats(*shape: int, dtype: Any = np.float32) -> Array:
    return _RANDOM.standard_normal(shape).astype(dtype)


def ints(*shape: int, below: int = 2, dtype: Any = np.int32) -> Array:
    return _RANDOM.integers(0, below, shape).astype(dtype)


class Case(NamedTuple):
    """One node: an input that is None is absent; inputs at `fixed` are weights.

    The element type of outputs at `free` is not inferred. `unknown` outputs have data-dependent sizes.
    """

    op: str
    inputs: Sequence[Any]
    attributes: Mapping[str, Any] = {}
    outputs: int = 1
    opset: int = 1
    fixed: Sequence[int] = ()
    free: Sequence[int] = ()
    unknown: int = 0

    def node(self, domain: str) -> onnx.NodeProto:
        names = [f"x{at}" if array is not None else "" for at, array in enumerate(self.inputs)]
        results = [f"y{at}" for at in range(self.outputs)]
        return helper.make_node(self.op, names, results, domain=domain, **self.attributes)


def case_id(case: Case) -> str:
    dims = "-".join("x".join(map(str, x.shape)) or "scalar" for x in case.inputs[:3] if hasattr(x, "shape"))
    return "-".join([case.op, dims, *(f"{key}{value}" for key, value in case.attributes.items() if type(value) is int)])


# inputs of the rule
def value_info(array: Any, is_stored: bool = False) -> ValueInfo:
    """Return the type, dims and small values of an array; of a map, only its kind."""
    if isinstance(array, dict):
        return ValueInfo(None, kind="map", why="a map has no shape", element=ValueInfo("float32"))
    return ValueInfo(_dtype(array), array.shape, array if array.size <= SMALL else None, is_stored=is_stored)


def call_of(case: Case, domain: str, inputs: Sequence[ValueInfo | None] | None = None) -> Call:
    node = case.node(domain)
    attributes = {item.name: _attribute(helper.get_attribute_value(item)) for item in node.attribute}
    ours = Node(node.op_type, tuple(node.input), tuple(node.output), domain=domain, attributes=attributes)
    whole = [None if array is None else value_info(array, at in case.fixed) for at, array in enumerate(case.inputs)]
    return Call(ours, whole if inputs is None else inputs, case.opset)


def cost_of(entry: Operator, case: Case, domain: str) -> Cost:
    """Return the cost of a node with its inferred outputs."""
    call = call_of(case, domain)
    assert entry.cost is not None
    return entry.cost(Call(call.node, call.inputs, case.opset, tuple(entry.infer(call))[: case.outputs]))


def unknown_reason(cost: Cost) -> str:
    """Return the reason for the unknown arithmetic of a node without MACs."""
    assert cost.macs == 0 and isinstance(cost.other, Unknown)
    return cost.other.why


def hide_input_info(case: Case) -> Iterator[list[ValueInfo | None]]:
    """Yield the inputs with a part unknown: one size, all sizes, the elements, the whole shape."""
    whole = [None if array is None else value_info(array) for array in case.inputs]
    for at, info in enumerate(whole):
        if info is None or info.shape is None:
            continue
        rank = range(len(info.shape))
        hidden = [[*info.shape[:axis], Unknown("hidden"), *info.shape[axis + 1 :]] for axis in rank]
        for shape in (*hidden, [Unknown("hidden") for _ in rank]):
            yield [*whole[:at], ValueInfo(info.dtype, tuple(shape)), *whole[at + 1 :]]
        yield [*whole[:at], ValueInfo(info.dtype, info.shape), *whole[at + 1 :]]
        yield [*whole[:at], ValueInfo(info.dtype, why="hidden"), *whole[at + 1 :]]


def vary_input_ranks(case: Case) -> Iterator[list[ValueInfo | None]]:
    """Yield the inputs with one of them in an unusual rank."""
    whole = [None if array is None else value_info(array) for array in case.inputs]
    for at, info in enumerate(whole):
        if info is not None:
            for shape in ((), (3,), (2, 3), (2,) * 7):
                yield [*whole[:at], ValueInfo(info.dtype, shape), *whole[at + 1 :]]


# onnxruntime
@cache
def list_ort_operators(domain: str) -> frozenset[str]:
    """Return the operators of a domain that this onnxruntime has a schema for, with or without a kernel."""
    return frozenset(schema.name for schema in get_all_operator_schema() if schema.domain == domain)


def is_registered(domain: str, op: str) -> bool:
    return op in list_ort_operators(domain)


TypeAndDims = tuple[str | None, tuple[int, ...]]


def run(case: Case, domain: str) -> list[Any]:
    """Return the outputs of the node in onnxruntime."""
    fed = {f"x{at}": x for at, x in enumerate(case.inputs) if x is not None and at not in case.fixed}
    weights = [onnx.numpy_helper.from_array(case.inputs[at], f"x{at}") for at in case.fixed]
    declared = [_declared(name, x) for name, x in fed.items()]
    results = [_result(f"y{at}", at in case.free) for at in range(case.outputs)]
    return list(_session(case, domain, declared, results, weights).run(None, fed))


def types_and_dims(results: Sequence[Any]) -> list[TypeAndDims]:
    """Return the element types and dims of outputs, named as in rules."""
    return [(_dtype(array), array.shape) for array in results]


def find_ort_error(case: Case, domain: str, shapes: Sequence[tuple[str, Sequence[int]]]) -> str:
    """Return the type or shape error of onnxruntime for a model that declares these outputs; empty if there is none.

    Needs no kernel: onnxruntime checks types and shapes before it selects one.
    """
    declared = [_declared(f"x{at}", x) for at, x in enumerate(case.inputs) if x is not None and at not in case.fixed]
    weights = [onnx.numpy_helper.from_array(case.inputs[at], f"x{at}") for at in case.fixed]
    results = [helper.make_tensor_value_info(f"y{at}", _DTYPES[dtype], dims) for at, (dtype, dims) in enumerate(shapes)]
    try:
        _session(case, domain, declared, results, weights)
    except Exception as error:
        return str(error) if any(name in str(error) for name in _INFERENCE_ERRORS) else ""
    return ""


_INFERENCE_ERRORS = ("ShapeInferenceError", "TypeInferenceError", "does not match expected type")


def _session(
    case: Case, domain: str, declared: list[Any], results: list[Any], weights: list[Any]
) -> onnxruntime.InferenceSession:
    opsets = {"": 21, domain: case.opset} if domain else {"": case.opset}
    graph = helper.make_graph([case.node(domain)], "one", declared, results, weights)
    imports = [helper.make_opsetid(*item) for item in opsets.items()]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.add_session_config_entry("session.strict_shape_type_inference", "1")
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


# rule compared with onnxruntime
def find_differences(inferred: Sequence[ValueInfo], actual: Sequence[TypeAndDims]) -> list[str]:
    """Return the inferred types and dims that differ from the actual ones. Unknown ones do not differ."""
    differences = []
    for at, (ours, (dtype, shape)) in enumerate(zip(inferred, actual, strict=False)):
        if ours.dtype not in (None, dtype):
            differences.append(f"result {at} is {dtype}, not {ours.dtype}")
        if ours.shape is not None and (len(ours.shape) != len(shape) or any(map(_differ, ours.shape, shape))):
            differences.append(f"result {at} is {shape}, not {ours.shape}")
    return differences


def assert_right_with_unknowns(rule: Any, case: Case, domain: str, actual: Sequence[TypeAndDims]) -> None:
    """Assert that with partly unknown inputs a rule infers nothing else, and no contradiction."""
    for inputs in hide_input_info(case):
        try:
            inferred = rule(call_of(case, domain, inputs))
        except InferenceError as gap:
            assert not isinstance(gap, Contradiction), (gap, inputs)
        else:
            assert not find_differences(inferred, actual), inputs


Expected = list[tuple[str, tuple[int, ...]]]


def assert_as_run(rule: Any, case: Case, domain: str) -> None:
    """Assert that the rule infers the outputs of onnxruntime, and nothing else with partly unknown inputs."""
    if not is_registered(domain, case.op):
        pytest.skip("not in this version of onnxruntime")
    actual, inferred = types_and_dims(run(case, domain)), rule(call_of(case, domain))[: case.outputs]
    assert len(inferred) == len(actual)
    assert not find_differences(inferred, actual)
    assert sum(info.concrete is None for info in inferred) == case.unknown
    assert all(info.dtype is not None or at in case.free for at, info in enumerate(inferred))
    assert_right_with_unknowns(rule, case, domain, actual)


def assert_as_inferred(rule: Any, case: Case, domain: str, expected: Expected) -> None:
    """Assert that the rule infers `expected`, and that onnxruntime accepts these dims and rejects larger ones."""
    assert [(info.dtype, info.shape) for info in rule(call_of(case, domain))][: case.outputs] == expected
    assert_right_with_unknowns(rule, case, domain, expected)
    assert_survives_any_rank(rule, case, domain)
    if is_registered(domain, case.op):
        assert find_ort_error(case, domain, expected) == ""
        grown = [(dtype, tuple(dim + 1 for dim in shape)) for dtype, shape in expected]
        assert find_ort_error(case, domain, grown) != ""


def assert_survives_any_rank(rule: Any, case: Case, domain: str) -> None:
    """Assert that with inputs of unusual ranks a rule infers outputs or raises with a reason."""
    for inputs in vary_input_ranks(case):
        try:
            rule(call_of(case, domain, inputs))
        except InferenceError as gap:
            assert str(gap)


def _differ(ours: object, real: int) -> bool:
    return not isinstance(ours, Unknown) and ours != real


def _dtype(array: Array) -> str | None:
    return "string" if array.dtype.kind in "OU" else dtype_name(helper.np_dtype_to_tensor_dtype(array.dtype))


def _declared(name: str, x: Any) -> onnx.ValueInfoProto:
    if isinstance(x, dict):
        inner = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
        return helper.make_value_info(name, helper.make_map_type_proto(_element(np.asarray(next(iter(x)))), inner))
    return helper.make_tensor_value_info(name, _element(x), list(x.shape))


def _result(name: str, free: bool) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None) if free else onnx.ValueInfoProto(name=name)


def _element(array: Array) -> int:
    return TensorProto.STRING if array.dtype.kind in "OU" else helper.np_dtype_to_tensor_dtype(array.dtype)


def _attribute(value: Any) -> Attribute:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, TensorProto):
        return Tensor(value.name, dtype_name(value.data_type), tuple(value.dims))
    if isinstance(value, (int, float, str)):
        return value
    return tuple(_attribute(item) for item in value)  # type: ignore[return-value]
