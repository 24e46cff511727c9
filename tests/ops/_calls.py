"""One node, run for real and as its rule sees it: the truth of the operator tests."""

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

SMALL = 64  # elements of an input that a rule may see
_DTYPES = {dtype_name(number): number for number in range(1, 29)}
_RANDOM = np.random.default_rng(0)


# inputs
def floats(*shape: int, dtype: Any = np.float32) -> Array:
    return _RANDOM.standard_normal(shape).astype(dtype)


def ints(*shape: int, below: int = 2, dtype: Any = np.int32) -> Array:
    return _RANDOM.integers(0, below, shape).astype(dtype)


class Case(NamedTuple):
    """One use of an operator: an input that is None is left out; those at `fixed` are weights.

    Results at `free` have no element type of their own. `unknown` results have sizes that only the data decides.
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


def name_of(case: Case) -> str:
    dims = "-".join("x".join(map(str, x.shape)) or "scalar" for x in case.inputs[:3] if hasattr(x, "shape"))
    return "-".join([case.op, dims, *(f"{key}{value}" for key, value in case.attributes.items() if type(value) is int)])


# what the rule sees
def known(array: Any, held: bool = False) -> ValueInfo:
    """What is known of an array, which a file may hold; of a sequence or a map, only that it is one."""
    if isinstance(array, dict):
        return ValueInfo(None, kind="map", why="a map has no shape", element=ValueInfo("float32"))
    return ValueInfo(_dtype(array), array.shape, array if array.size <= SMALL else None, is_stored=held)


def call_of(case: Case, domain: str, inputs: Sequence[ValueInfo | None] | None = None) -> Call:
    node = case.node(domain)
    attributes = {item.name: _attribute(helper.get_attribute_value(item)) for item in node.attribute}
    ours = Node(node.op_type, tuple(node.input), tuple(node.output), domain=domain, attributes=attributes)
    whole = [None if array is None else known(array, at in case.fixed) for at, array in enumerate(case.inputs)]
    return Call(ours, whole if inputs is None else inputs, case.opset)


def cost_of(entry: Operator, case: Case, domain: str) -> Cost:
    """What an entry says that a node costs, with the outputs that it says it has."""
    call = call_of(case, domain)
    assert entry.cost is not None
    return entry.cost(Call(call.node, call.inputs, case.opset, tuple(entry.infer(call))[: case.outputs]))


def unsaid(cost: Cost) -> str:
    """Why the arithmetic of a node without multiply-adds is not told."""
    assert cost.macs == 0 and isinstance(cost.other, Unknown)
    return cost.other.why


def less_known(case: Case) -> Iterator[list[ValueInfo | None]]:
    """The inputs with something of them hidden: one size, all sizes, the elements, the whole shape."""
    whole = [None if array is None else known(array) for array in case.inputs]
    for at, each in enumerate(whole):
        if each is None or each.shape is None:
            continue
        rank = range(len(each.shape))
        hidden = [[*each.shape[:axis], Unknown("hidden"), *each.shape[axis + 1 :]] for axis in rank]
        for shape in (*hidden, [Unknown("hidden") for _ in rank]):
            yield [*whole[:at], ValueInfo(each.dtype, tuple(shape)), *whole[at + 1 :]]
        yield [*whole[:at], ValueInfo(each.dtype, each.shape), *whole[at + 1 :]]
        yield [*whole[:at], ValueInfo(each.dtype, why="hidden"), *whole[at + 1 :]]


def misshapen(case: Case) -> Iterator[list[ValueInfo | None]]:
    """The inputs with one of them in a rank that no operator wants."""
    whole = [None if array is None else known(array) for array in case.inputs]
    for at, each in enumerate(whole):
        if each is not None:
            for shape in ((), (3,), (2, 3), (2,) * 7):
                yield [*whole[:at], ValueInfo(each.dtype, shape), *whole[at + 1 :]]


# what onnxruntime does
@cache
def schemas(domain: str) -> frozenset[str]:
    """The operators that this onnxruntime knows in a domain, whether or not it can run them here."""
    return frozenset(each.name for each in get_all_operator_schema() if each.domain == domain)


def registered(domain: str, op: str) -> bool:
    return op in schemas(domain)


Seen = tuple[str | None, tuple[int, ...]]


def run(case: Case, domain: str) -> list[Any]:
    """The node's results in onnxruntime."""
    fed = {f"x{at}": x for at, x in enumerate(case.inputs) if x is not None and at not in case.fixed}
    weights = [onnx.numpy_helper.from_array(case.inputs[at], f"x{at}") for at in case.fixed]
    declared = [_declared(name, x) for name, x in fed.items()]
    results = [_result(f"y{at}", at in case.free) for at in range(case.outputs)]
    return list(_session(case, domain, declared, results, weights).run(None, fed))


def seen(results: Sequence[Any]) -> list[Seen]:
    """The element type and dims of real results, as the rules spell them."""
    return [(_dtype(array), array.shape) for array in results]


def complaint(case: Case, domain: str, shapes: Sequence[tuple[str, Sequence[int]]]) -> str:
    """What onnxruntime says against these results when it reads a model that declares them; else nothing.

    This works for operators that no processor here can run: types and shapes are checked before a kernel is sought.
    """
    declared = [_declared(f"x{at}", x) for at, x in enumerate(case.inputs) if x is not None and at not in case.fixed]
    weights = [onnx.numpy_helper.from_array(case.inputs[at], f"x{at}") for at in case.fixed]
    results = [helper.make_tensor_value_info(f"y{at}", _DTYPES[dtype], dims) for at, (dtype, dims) in enumerate(shapes)]
    try:
        _session(case, domain, declared, results, weights)
    except Exception as error:
        return str(error) if any(sign in str(error) for sign in _AGAINST) else ""
    return ""


_AGAINST = ("ShapeInferenceError", "TypeInferenceError", "does not match expected type")


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


# rule against truth
def wrong(said: Sequence[ValueInfo], truth: Sequence[Seen]) -> list[str]:
    """Where a rule says something that is not so. An unknown type or size is not wrong."""
    found = []
    for at, (ours, (dtype, shape)) in enumerate(zip(said, truth, strict=False)):
        if ours.dtype not in (None, dtype):
            found.append(f"result {at} is {dtype}, not {ours.dtype}")
        if ours.shape is not None and (len(ours.shape) != len(shape) or any(map(_differ, ours.shape, shape))):
            found.append(f"result {at} is {shape}, not {ours.shape}")
    return found


def stays_right(rule: Any, case: Case, domain: str, truth: Sequence[Seen]) -> None:
    """Of inputs that are less known, a rule says less, never something else; and never that they cannot be run."""
    for inputs in less_known(case):
        try:
            said = rule(call_of(case, domain, inputs))
        except InferenceError as gap:
            assert not isinstance(gap, Contradiction), (gap, inputs)
        else:
            assert not wrong(said, truth), inputs


Expected = list[tuple[str, tuple[int, ...]]]


def assert_as_run(rule: Any, case: Case, domain: str) -> None:
    """The rule says what onnxruntime really makes; less, but nothing else, of inputs that are less known."""
    if not registered(domain, case.op):
        pytest.skip("not in this version of onnxruntime")
    truth, said = seen(run(case, domain)), rule(call_of(case, domain))[: case.outputs]
    assert len(said) == len(truth)
    assert not wrong(said, truth)
    assert sum(each.concrete is None for each in said) == case.unknown
    assert all(each.dtype is not None or at in case.free for at, each in enumerate(said))
    stays_right(rule, case, domain, truth)


def assert_as_inferred(rule: Any, case: Case, domain: str, expected: Expected) -> None:
    """The rule says what is expected, and onnxruntime's own inference has nothing against that, but against more."""
    assert [(each.dtype, each.shape) for each in rule(call_of(case, domain))][: case.outputs] == expected
    stays_right(rule, case, domain, expected)
    refuses_politely(rule, case, domain)
    if registered(domain, case.op):
        assert complaint(case, domain, expected) == ""
        grown = [(dtype, tuple(dim + 1 for dim in shape)) for dtype, shape in expected]
        assert complaint(case, domain, grown) != ""


def refuses_politely(rule: Any, case: Case, domain: str) -> None:
    """Of inputs that make no sense, a rule gives a reason, or results; it does not break."""
    for inputs in misshapen(case):
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
