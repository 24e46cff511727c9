"""Builder of small graphs with random weights."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, ParamSpec

import numpy as np

P = ParamSpec("P")
Proto = Any  # the onnx package is untyped
Array = np.ndarray[Any, Any]
GraphMaker = Callable[[], Proto]
MICROSOFT: Final = "com.microsoft"
FLOAT, UINT8, INT8, INT32, INT64, BOOL = np.float32, np.uint8, np.int8, np.int32, np.int64, np.bool_
Step = Callable[["GraphBuilder", str], str]
_OPSET: Final = 17
_IR_VERSION: Final = 9
_RANDOM_NUMBERS: Final = 100_003  # repeated to fill a weight; prime, so that its rows differ


class GraphBuilder:
    """Adds nodes one by one; each method returns the name of the new value."""

    def __init__(self, *dims: int | str, dtype: Any = FLOAT, name: str = "x") -> None:
        self._nodes: list[Proto] = []
        self._initializers: list[Proto] = []
        self._inputs: list[Proto] = []
        self._domains = {""}
        self._rng = np.random.default_rng(0)
        self.x = self.input(name, dims, dtype)
        self.last = self.x

    def input(self, name: str, dims: Sequence[int | str], dtype: Any = FLOAT) -> str:
        from onnx import helper

        self._inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), dims))
        return name

    def constant(self, values: Any, dtype: Any = FLOAT) -> str:
        from onnx import numpy_helper

        name = f"c{len(self._initializers)}"
        self._initializers.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def weight(self, *dims: int, scale: float | None = None) -> str:
        """Random numbers whose scale keeps deep chains finite: infinities and denormals would change the time."""
        fan = int(np.prod(dims[1:])) if len(dims) > 2 else dims[0] if len(dims) > 1 else 100
        numbers = self._rng.standard_normal(min(int(np.prod(dims)), _RANDOM_NUMBERS), FLOAT)
        return self.constant(np.resize(numbers * FLOAT(scale or 1 / np.sqrt(fan)), dims))

    def random_integers(self, *dims: int, dtype: Any = INT8) -> str:
        low, high = (-60, 60) if dtype is INT8 else (60, 200)
        return self.constant(self._rng.integers(low, high, dims), dtype)

    def op(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        return self.ops(op, *inputs, outputs=1, domain=domain, **attributes)[0]

    def ops(self, op: str, *inputs: str, outputs: int, domain: str = "", **attributes: Any) -> list[str]:
        """Add a node with several outputs."""
        from onnx import helper

        names = [f"v{len(self._nodes)}_{at}" for at in range(outputs)]
        self._nodes.append(
            helper.make_node(op, inputs, names, name=f"n{len(self._nodes)}", domain=domain, **attributes)
        )
        self._domains.add(domain)
        self.last = names[0]
        return names

    def model(self, outputs: Sequence[str] = ()) -> Proto:
        from onnx import ValueInfoProto, helper

        values = [ValueInfoProto(name=name) for name in outputs or [self.last]]
        graph = helper.make_graph(self._nodes, "g", self._inputs, values, self._initializers)
        versions = [helper.make_opsetid(domain, 1 if domain else _OPSET) for domain in sorted(self._domains)]
        return helper.make_model(graph, opset_imports=versions, ir_version=_IR_VERSION)


def deferred(build_model: Callable[P, Proto]) -> Callable[P, GraphMaker]:
    """Let a function return a maker of its model: all graphs together take gigabytes."""
    return lambda *args, **options: partial(build_model, *args, **options)


@deferred
def chain(step: Step, dims: Sequence[int | str], times: int, first: Step | None = None) -> Proto:
    """Apply a step repeatedly, each time to the result of the one before."""
    build = GraphBuilder(*dims)
    value = first(build, build.x) if first else build.x
    for _ in range(times):
        value = step(build, value)
    return build.model()


@deferred
def repeat_parallel(step: Step, dims: Sequence[int | str], times: int) -> Proto:
    """Apply a step to the same input several times."""
    build = GraphBuilder(*dims)
    return build.model([step(build, build.x) for _ in range(times)])


def node(op: str, *constants: float, **attributes: Any) -> Step:
    """Return a step of one node, whose other inputs are constants."""
    return lambda build, x: build.op(op, x, *map(build.constant, constants), **attributes)
