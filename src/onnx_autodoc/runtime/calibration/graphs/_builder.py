"""Small graphs with random weights, built node by node in memory."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

Proto = Any  # of the onnx package, which has no types of its own
Array = np.ndarray[Any, Any]
Make = Callable[[], Proto]
MICROSOFT: Final = "com.microsoft"
FLOAT, UINT8, INT8, INT32, INT64, BOOL = np.float32, np.uint8, np.int8, np.int32, np.int64, np.bool_
_OPSET: Final = 17
_IR: Final = 9
_DRAWN: Final = 100_003  # numbers; prime, so that rows differ


class Builder:
    """Nodes one after the other; each method gives the name of what it makes."""

    def __init__(self, *dims: int | str, dtype: Any = FLOAT, name: str = "x") -> None:
        self._nodes: list[Proto] = []
        self._held: list[Proto] = []
        self._inputs: list[Proto] = []
        self._domains = {""}
        self._rng = np.random.default_rng(0)
        self.x = self.input(name, dims, dtype)
        self.last = self.x

    def input(self, name: str, dims: Sequence[int | str], dtype: Any = FLOAT) -> str:
        from onnx import helper

        self._inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), dims))
        return name

    def held(self, values: Any, dtype: Any = FLOAT) -> str:
        """A constant."""
        from onnx import numpy_helper

        name = f"c{len(self._held)}"
        self._held.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def weight(self, *dims: int, scale: float | None = None) -> str:
        """Random numbers at which deep chains stay finite: neither infinities nor tiny ones change the time."""
        fan = int(np.prod(dims[1:])) if len(dims) > 2 else dims[0] if len(dims) > 1 else 100
        drawn = self._rng.standard_normal(min(int(np.prod(dims)), _DRAWN), FLOAT)  # and so on over again
        return self.held(np.resize(drawn * FLOAT(scale or 1 / np.sqrt(fan)), dims))

    def integers(self, *dims: int, dtype: Any = INT8) -> str:
        low, high = (-60, 60) if dtype is INT8 else (60, 200)
        return self.held(self._rng.integers(low, high, dims), dtype)

    def op(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        return self.ops(op, *inputs, outputs=1, domain=domain, **attributes)[0]

    def ops(self, op: str, *inputs: str, outputs: int, domain: str = "", **attributes: Any) -> list[str]:
        """A node with several outputs."""
        from onnx import helper

        made = [f"v{len(self._nodes)}_{at}" for at in range(outputs)]
        self._nodes.append(helper.make_node(op, inputs, made, name=f"n{len(self._nodes)}", domain=domain, **attributes))
        self._domains.add(domain)
        self.last = made[0]
        return made

    def model(self, outputs: Sequence[str] = ()) -> Proto:
        from onnx import ValueInfoProto, helper

        named = [ValueInfoProto(name=name) for name in outputs or [self.last]]
        graph = helper.make_graph(self._nodes, "g", self._inputs, named, self._held)
        versions = [helper.make_opsetid(domain, 1 if domain else _OPSET) for domain in sorted(self._domains)]
        return helper.make_model(graph, opset_imports=versions, ir_version=_IR)


def chain(step: Callable[[Builder, str], str], dims: Sequence[int | str], times: int) -> Make:
    """One step after the other, each on what the one before made."""

    def make() -> Proto:
        build = Builder(*dims)
        value = build.x
        for _ in range(times):
            value = step(build, value)
        return build.model()

    return make


def side_by_side(step: Callable[[Builder, str], str], dims: Sequence[int | str], times: int) -> Make:
    """The same step on the same data, so often."""

    def make() -> Proto:
        build = Builder(*dims)
        return build.model([step(build, build.x) for _ in range(times)])

    return make
