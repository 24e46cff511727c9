"""Its loader and metrics, which fill the report of `haoline inspect`, without patterns, risks, plots. It counts FLOPs,
two per MAC, and element-wise work: half of its FLOPs of operators with MACs is compared, without the bias additions
of Conv and Gemm. It has no option for input sizes; it reads those in the file. Its parameters are all elements of
all initializers.
"""

import math

from haoline.analyzer import GraphInfo, MetricsEngine, NodeInfo, ONNXGraphLoader

from benchmarks.peers._contract import PRODUCTS, Figures, Shapes, Values, print_figures


def count(model: str, shapes: Shapes, values: Values) -> Figures:
    _, graph = ONNXGraphLoader().load(model)
    metrics = MetricsEngine()
    metrics.estimate_flops(graph)
    flops = sum(node.flops - bias(node, graph) for node in graph.nodes if node.op_type in PRODUCTS)
    return Figures(macs=flops // 2, params=metrics.count_parameters(graph).total)


def bias(node: NodeInfo, graph: GraphInfo) -> int:
    """Return the bias additions that the tool counted: one per element of the output."""
    shape = graph.value_shapes.get(node.outputs[0], [])
    known = bool(shape) and all(isinstance(dim, int) for dim in shape)
    counted = node.op_type in ("Conv", "Gemm") and len(node.inputs) > 2 and node.flops
    return math.prod(shape) if counted and known else 0


if __name__ == "__main__":
    print_figures(count)
