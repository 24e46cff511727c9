"""Builder of small graphs with random weights, in the notation of onnxscript: `op.Mul(x, op.Sigmoid(x))`."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, ParamSpec

import numpy as np

P = ParamSpec("P")
Proto = Any  # the onnx package is untyped
GraphMaker = Callable[[], Proto]
Step = Callable[["GraphBuilder", str], str]
MICROSOFT: Final = "com.microsoft"
FLOAT, UINT8, INT8, INT32, INT64 = np.float32, np.uint8, np.int8, np.int32, np.int64
_OPSET: Final = 17
_IR_VERSION: Final = 9
_RANDOM_NUMBERS: Final = 100_003  # repeated to fill a weight; prime, so that its rows differ


class GraphBuilder:
    """Adds nodes one by one: a method for each op type adds a node and returns the name of its output."""

    def __init__(self, *dims: int | str, dtype: Any = FLOAT) -> None:
        self._nodes: list[Proto] = []
        self._initializers: list[Proto] = []
        self._inputs: list[Proto] = []
        self._domains = {""}
        self._rng = np.random.default_rng(0)
        self.x = self._last = self.input("x", dims, dtype)

    def __getattr__(self, op_type: str) -> Callable[..., str]:
        return lambda *inputs, **options: self.add_node(op_type, *inputs, **options)[0]

    def add_node(self, op_type: str, *inputs: Any, outputs: int = 1, domain: str = "", **attributes: Any) -> list[str]:
        """Add a node and return the names of its outputs. Inputs that are not names become constants."""
        from onnx import helper

        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        number, self._domains = len(self._nodes), self._domains | {domain}
        results = [f"v{number}_{index}" for index in range(outputs)]
        self._nodes.append(helper.make_node(op_type, names, results, name=f"n{number}", domain=domain, **attributes))
        self._last = results[0]
        return results

    def input(self, name: str, dims: Sequence[int | str], dtype: Any = FLOAT) -> str:
        from onnx import helper

        self._inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), dims))
        return name

    def constant(self, values: Any) -> str:
        """Python's floating-point numbers become float32, its integers int64; arrays keep their type."""
        from onnx import numpy_helper

        array, name = np.asarray(values), f"c{len(self._initializers)}"
        array = array.astype(FLOAT) if array.dtype == np.float64 else array
        self._initializers.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, *dims: int, scale: float | None = None) -> str:
        """Random numbers whose scale keeps deep chains finite: infinities and denormals would change the time."""
        fan = int(np.prod(dims[1:])) if len(dims) > 2 else dims[0] if len(dims) > 1 else 100
        numbers = self._rng.standard_normal(min(int(np.prod(dims)), _RANDOM_NUMBERS), FLOAT)
        return self.constant(np.resize(numbers * FLOAT(scale or 1 / np.sqrt(fan)), dims))

    def random_integers(self, *dims: int, dtype: Any = INT8) -> str:
        low, high = (-60, 60) if dtype is INT8 else (60, 200)
        return self.constant(self._rng.integers(low, high, dims).astype(dtype))

    def model(self, outputs: Sequence[str] = ()) -> Proto:
        """Return the model; its output is the last value, if none is named."""
        from onnx import ValueInfoProto, helper

        values = [ValueInfoProto(name=name) for name in outputs or [self._last]]
        graph = helper.make_graph(self._nodes, "g", self._inputs, values, self._initializers)
        versions = [helper.make_opsetid(domain, 1 if domain else _OPSET) for domain in sorted(self._domains)]
        return helper.make_model(graph, opset_imports=versions, ir_version=_IR_VERSION)


def deferred(build_model: Callable[P, Proto]) -> Callable[P, GraphMaker]:
    """Let a function return a maker of its model: all graphs together take gigabytes."""
    return lambda *args, **options: partial(build_model, *args, **options)


@deferred
def chain(step: Step, dims: Sequence[int | str], times: int, first: Step | None = None) -> Proto:
    """Apply a step repeatedly, each time to the result of the one before."""
    op = GraphBuilder(*dims)
    value = first(op, op.x) if first else op.x
    for _ in range(times):
        value = step(op, value)
    return op.model()


@deferred
def repeat_parallel(step: Step, dims: Sequence[int | str], times: int) -> Proto:
    """Apply a step to the same input several times."""
    op = GraphBuilder(*dims)
    return op.model([step(op, op.x) for _ in range(times)])


def node(op_type: str, *constants: float, **attributes: Any) -> Step:
    """Return a step of one node, whose other inputs are constants."""
    return lambda op, x: op.add_node(op_type, x, *constants, **attributes)[0]


def name_cases(label: str, make: Callable[..., GraphMaker], cases: Iterable[tuple[Any, ...]]) -> dict[str, GraphMaker]:
    """Return a graph for each tuple of arguments, named by them."""
    return {f"{label} {case}": make(*case) for case in cases}
