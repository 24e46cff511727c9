"""A model as the kernels that onnxruntime runs on a CPU, each with its class and work, from the graph alone."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Costs, Facts, Row
from onnx_autodoc.ir import Model
from onnx_autodoc.patterns import find_blocks
from onnx_autodoc.readers import read_model
from onnx_autodoc.runtime.calibration import ort_fusions
from onnx_autodoc.runtime.calibration.fusion import PatternMatch, find_reorders, fuse_nodes
from onnx_autodoc.runtime.calibration.kernel_costs import Quantities, count_work, split_bytes
from onnx_autodoc.runtime.calibration.scope_graph import ScopeGraph, computed_bytes
from onnx_autodoc.shapes import Request, Shapes, bind_and_infer, dynamic_axes

_FUSED_BLOCKS: Final = ("layer-norm", "rms-norm", "gelu", "silu")
_MAX_ROWS: Final = 200_000


class KernelWork(Struct, frozen=True):
    """One kernel over the whole run. `rows` are its nodes; none if onnxruntime inserted it.

    `weight_bytes` counts weights once, however often the kernel runs, and for the first kernel that reads them.
    """

    kind: str  # class of kernels with the same seconds for each quantity
    quantities: Quantities
    rows: tuple[int, ...] = ()
    weight_bytes: float = 0.0


def lower_model(model: Model, shapes: Shapes, costs: Costs) -> list[KernelWork]:
    rows = list(enumerate(islice(costs.rows(), _MAX_ROWS)))
    net = find_blocks(model, shapes, [row.cost is not None for _, row in rows])
    matches = [(op.kind, op.rows) for op in net.walk() if op.kind in _FUSED_BLOCKS and op.rows]
    scopes: dict[str, list[tuple[int, Row]]] = defaultdict(list)
    for at, row in rows:
        scopes[row.scope].append((at, row))
    outputs, has_dynamic_dims = [value.name for value in model.graph.outputs], bool(dynamic_axes(model))
    bound, seen_weights = _bind_constants(model, rows), set[str]()
    kernels: list[KernelWork] = []
    for scope, own in scopes.items():
        graph = ScopeGraph(own, [] if scope else outputs, has_dynamic_dims, bound.get(scope, {}))
        kernels += _lower_scope(graph, matches, seen_weights)
    return kernels


def lower_facts(facts: Facts) -> list[KernelWork]:
    return lower_model(facts.model, facts.shapes, facts.costs)


def lower_file(path: str | PathLike[str], dims: Mapping[str, Sequence[int]]) -> list[KernelWork]:
    """Lower a model file at the given dims of its inputs."""
    model = read_model(path)
    sizes = {f"{name}.{axis}": size for name, own in dims.items() for axis, size in enumerate(own)}
    _, shapes = bind_and_infer(model, Request(dims=sizes))
    return lower_model(model, shapes, Costs(model, shapes))


def _bind_constants(model: Model, rows: Iterable[tuple[int, Row]]) -> dict[str, dict[str, str]]:
    """Return the constants that functions are called with, by scope: onnxruntime inlines the calls."""
    bound: dict[str, dict[str, str]] = {}
    for _, row in rows:
        node, outer, flow = row.step.node, bound.get(row.scope, {}), row.flow
        function = model.functions_by_key.get(node.function_key)
        if function is None or flow is None:
            continue
        pairs = zip(function.inputs, node.inputs)
        is_constant = {value: value in outer or (value and not flow.varies(value)) for value in node.inputs}
        own = {name: outer.get(value, value) for name, value in pairs if is_constant[value]}
        prefix = f"{row.scope}/" if row.scope else ""
        bound.update((f"{prefix}{node.label(row.step.at)}/{body.name}", own) for body in row.step.bodies)
    return bound


def _lower_scope(graph: ScopeGraph, matches: list[PatternMatch], seen_weights: set[str]) -> Iterator[KernelWork]:
    fuse_nodes(graph, matches)
    for known, times in find_reorders(graph):
        yield KernelWork("reorder", _repeat(split_bytes(2 * computed_bytes(known)), times))
    for node in graph.kernels():
        kind, quantities = count_work(graph, node)
        if kind:
            is_first = _is_first_reader(graph, node, seen_weights)
            weight_bytes = quantities.get("weights", 0.0) if is_first else 0.0
            times = max(graph.rows[node].times, 1)
            yield KernelWork(kind, _repeat(quantities, times), graph.nodes(node), weight_bytes)


def _repeat(quantities: Quantities, times: int) -> Quantities:
    return {"kernels": times, **{name: amount * times for name, amount in quantities.items() if amount}}


def _is_first_reader(graph: ScopeGraph, node: int, seen_weights: set[str]) -> bool:
    """Return whether no kernel before reads the same weights; the steps of an unrolled cell share theirs."""
    names, index = graph.inputs(node), ort_fusions.SECOND_FACTOR.get(graph.op(node), 1)
    if index >= len(names) or not graph.is_constant(node, names[index]):
        return True
    name = graph.bound_constants.get(names[index], names[index])
    is_first = name not in seen_weights
    seen_weights.add(name)
    return is_first
