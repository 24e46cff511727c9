"""onnxruntime's profile, and unique names for all nodes, by which its events are assigned to nodes.

Names in files may be missing or repeated. Each call of a function gets a copy of the function: onnxruntime inlines
calls and names their nodes by the function alone. The profile has a line of JSON for each kernel that ran, read line by
line since loops write many. Used in the worker process.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from onnx_autodoc.card import MeasuredOperatorTime
from onnx_autodoc.decoding import json_decoder
from onnx_autodoc.runtime.protocol import NodeExecution, NodePath, OperatorsResult, TensorType

if TYPE_CHECKING:
    import onnx


MAX_NODES: Final = 500_000  # with functions copied at every call
_MAX_DEPTH: Final = 200
_MAX_FUSED_NODES: Final = 4  # in a row
_NODE_NAME: Final = re.compile(r"oad(\d+)e")
_NODE_OR_FUNCTION_NAME: Final = re.compile(r"oad(\d+)([ef])")
_INLINED_NODE_NAME: Final = re.compile(r"(?:_inlfunc_.*_)?oad(\d+)e", re.DOTALL)
MAX_EVENTS: Final = 1_000_000  # that onnxruntime records
_KERNEL_SUFFIX: Final = "_kernel_time"
_MAX_OUTPUT_VARIANTS: Final = 10_000
_SECONDS: Final = 1e-6  # durations are in microseconds


class TooManyNodes(Exception):
    """The model has more nodes, or a deeper nesting, than can be renamed."""


class ShadowedOperator(Exception):
    """A function has the name of an operator that onnxruntime runs instead."""


class NodeNames:
    """The model's bytes with a name on every node; `paths` and `ops` have the path and op type of each by number."""

    def __init__(self, data: bytes, max_nodes: int = MAX_NODES) -> None:
        import onnx

        model = onnx.ModelProto.FromString(data)
        self._max_nodes = max_nodes
        self._functions = {_function_key(proto.domain, proto.name, proto): proto for proto in model.functions}
        self._copies: list[onnx.FunctionProto] = []
        self._called: set[tuple[str, str, str]] = set()
        self._built_in = _built_in_operators() if self._functions else {}
        self.paths: list[NodePath] = []
        self.ops: list[str] = []
        self._labels: list[str] = []
        self._rename(model.graph.node, (), _opset_versions(model.opset_import))
        # of the main graph
        self._inputs = {int(node.name[3:-1]): tuple(node.input) for node in model.graph.node}
        self._producers = {name: int(node.name[3:-1]) for node in model.graph.node for name in node.output}
        self._uses = Counter(name for node in model.graph.node for name in node.input)
        # onnxruntime refuses some functions even without a call, and two of the same name.
        keys = [_function_key(proto.domain, proto.name, proto) for proto in model.functions]
        counts = Counter(keys)
        kept = [proto for key, proto in zip(keys, model.functions) if key not in self._called or counts[key] > 1]
        functions = [*self._copies, *kept]
        del model.functions[:]
        model.functions.extend(functions)
        self.data: bytes = model.SerializeToString()

    def _rename(self, nodes: Iterable["onnx.NodeProto"], scope: NodePath, opsets: Mapping[str, int]) -> None:
        if len(scope) > 2 * _MAX_DEPTH:
            raise TooManyNodes(f"functions and subgraphs are nested more than {_MAX_DEPTH} levels deep")
        for index, node in enumerate(nodes):
            number, path = len(self.paths), (*scope, index)
            if number >= self._max_nodes:
                raise TooManyNodes(f"more than {self._max_nodes:,} nodes with functions expanded at every call")
            self.paths.append(path)
            self.ops.append(node.op_type)
            self._labels.append(node.name or f"{node.op_type}_{index}")
            node.name = f"oad{number}e"
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    self._rename(attribute.g.node, (*path, attribute.name), opsets)
                for at, graph in enumerate(attribute.graphs):
                    self._rename(graph.node, (*path, f"{attribute.name}[{at}]"), opsets)
            key = _function_key(node.domain, node.op_type, node)
            function = self._functions.get(key)
            if function is not None:
                if self._built_in.get(key[:2], math.inf) <= opsets.get(key[0], 0):
                    name = f"{key[0] or 'ai.onnx'}.{key[1]}"
                    raise ShadowedOperator(
                        f"the local function {name} has the name of an operator that onnxruntime runs instead, so the "
                        "model that runs is not the one on the card; rename the function"
                    )
                self._called.add(key)
                copy = type(function)()
                copy.CopyFrom(function)
                copy.name = node.op_type = f"oad{number}f"
                self._rename(copy.node, (*path, function.name), _opset_versions(copy.opset_import))
                self._copies.append(copy)

    def number_of(self, name: str) -> int | None:
        """Return the number of the node with this name; None for a kernel that replaces several nodes."""
        match = _INLINED_NODE_NAME.fullmatch(name)
        return self._parse_number(match[1]) if match else None

    def _parse_number(self, digits: str) -> int | None:
        """Return None if no node has this number: values of a file may have such names."""
        return int(digits) if len(digits) < 10 and int(digits) < len(self.paths) else None

    def find_origin(self, name: str, op: str) -> int | None:
        """Return the number of the node that a kernel with this name and op type most likely stems from.

        A kernel has the name of one of the nodes that were fused into it, or of its output. Of the nodes that feed only
        this one, its origin is the one with the same op type, if there is one such node.
        """
        numbers = set(_NODE_NAME.findall(name))
        if len(numbers) == 1:
            number = self._parse_number(numbers.pop())
        else:
            number = self._producers.get(name.removesuffix("_nchwc")) if name.endswith("_nchwc") else None
        if number is None:
            return None
        level = {number}
        for _ in range(_MAX_FUSED_NODES):
            same_op = [node for node in level if op.endswith(self.ops[node])]  # FusedConv, QLinearConv stem from Conv
            if same_op:
                return same_op[0] if len(same_op) == 1 else number
            names = (name for node in level for name in self._inputs.get(node, ()) if self._uses[name] == 1)
            level = {self._producers[name] for name in names if name in self._producers}
        return number

    def restore_names(self, text: str) -> str:
        """Replace generated names in a message of onnxruntime by those of the file."""

        def original_name(match: re.Match[str]) -> str:
            number = self._parse_number(match[1])
            if number is None:
                return match[0]
            return self._labels[number] if match[2] == "e" else self.ops[number]

        return _NODE_OR_FUNCTION_NAME.sub(original_name, text)


def _function_key(domain: str, name: str, holder: Any) -> tuple[str, str, str]:
    return "" if domain == "ai.onnx" else domain, name, getattr(holder, "overload", "")


def _opset_versions(imports: Iterable["onnx.OperatorSetIdProto"]) -> dict[str, int]:
    return {"" if each.domain == "ai.onnx" else each.domain: each.version for each in imports}


def _built_in_operators() -> dict[tuple[str, str], int]:
    """Return the first opset version of each operator that onnxruntime knows, by domain and name."""
    from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

    first: dict[tuple[str, str], int] = {}
    for schema in get_all_operator_schema():
        key = schema.domain, schema.name
        first[key] = min(first.get(key, schema.since_version), schema.since_version)
    return first


class EventArgs(Struct, frozen=True):
    op_name: str = ""
    output_type_shape: list[dict[str, list[int]]] = []


class Event(Struct, frozen=True):
    cat: str
    name: str
    ts: int
    dur: int
    args: EventArgs

    @property
    def is_kernel(self) -> bool:
        return self.cat == "Node" and self.name.endswith(_KERNEL_SUFFIX)

    @property
    def kernel(self) -> str:
        return self.name.removesuffix(_KERNEL_SUFFIX)


def read_events(path: Path) -> Iterator[Event]:
    """Yield kernels and runs. Skips lines that are no JSON: onnxruntime does not escape quotes in names."""
    decoder = json_decoder(Event)
    with path.open("rb") as file:
        for line in file:
            try:
                yield decoder.decode(line.strip().rstrip(b","))
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue


def collect_executions(events: Iterable[Event], names: NodeNames) -> tuple[tuple[NodeExecution, ...], bool]:
    """Return each node that ran with its outputs, and whether onnxruntime dropped events."""
    outputs: dict[tuple[int, str], dict[tuple[TensorType, ...], None]] = {}
    times: dict[tuple[int, str], int] = {}
    count = 0
    for event in events:
        count += 1
        number = names.number_of(event.kernel) if event.is_kernel else None
        if number is None:
            continue
        key = (number, event.args.op_name)
        times[key] = times.get(key, 0) + 1
        variants = outputs.setdefault(key, {})
        if len(variants) < _MAX_OUTPUT_VARIANTS:
            types = ((dtype, tuple(dims)) for cell in event.args.output_type_shape for dtype, dims in cell.items())
            variants[tuple(types)] = None
    executions = (
        NodeExecution(names.paths[key[0]], key[1], tuple(variants), times[key])
        for key, variants in sorted(outputs.items())
    )
    return tuple(executions), count >= MAX_EVENTS - 1


def sum_operators(events: Iterable[Event], names: NodeNames, runs: int) -> OperatorsResult:
    """Return the time of one run by operator and by node, averaged over the last `runs` runs."""
    everything = list(events)
    starts = sorted(event.ts for event in everything if event.name == "model_run")[-runs:]
    first, count = (starts[0] if starts else 0), max(len(starts), 1)
    kernels = [event for event in everything if event.is_kernel and event.ts >= first]
    by_op: dict[str, tuple[int, float]] = {}
    by_node: dict[tuple[int, bool], float] = {}
    for event, micros in zip(kernels, exclusive_times(kernels)):
        op, seconds = event.args.op_name, micros * _SECONDS / count
        launches, spent = by_op.get(op, (0, 0.0))
        by_op[op] = launches + 1, spent + seconds
        number = names.find_origin(event.kernel, op)
        if number is not None:
            key = (number, names.number_of(event.kernel) != number or names.ops[number] != op)
            by_node[key] = by_node.get(key, 0.0) + seconds
    total = sum(seconds for _, seconds in by_op.values())
    rows = tuple(
        MeasuredOperatorTime(op, round(launches / count), seconds, seconds / total if total else 0.0)
        for op, (launches, seconds) in sorted(by_op.items(), key=lambda row: (-row[1][1], row[0]))
    )
    nodes = tuple((names.paths[number], seconds, fused) for (number, fused), seconds in by_node.items())
    return OperatorsResult(rows, nodes, total)


def exclusive_times(kernels: list[Event]) -> list[int]:
    """Return the duration of each kernel without that of kernels inside it (branches, loop bodies)."""
    exclusive = [event.dur for event in kernels]
    order = sorted(range(len(kernels)), key=lambda at: (kernels[at].ts, -kernels[at].dur))
    enclosing: list[int] = []
    for at in order:
        event = kernels[at]
        while enclosing and kernels[enclosing[-1]].ts + kernels[enclosing[-1]].dur < event.ts + event.dur:
            enclosing.pop()
        if enclosing:
            exclusive[enclosing[-1]] = max(exclusive[enclosing[-1]] - event.dur, 0)
        enclosing.append(at)
    return exclusive
