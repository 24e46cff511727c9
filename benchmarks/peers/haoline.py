"""Its loader and its metrics, which are what fills the report of `haoline inspect`, without patterns, risks and plots.
It counts FLOPs, two for a multiply-add, and element-wise work as well: compared is half of what it gives the operators
that hold multiply-adds, less the bias additions of Conv and Gemm. It has no option for input sizes of ONNX files; those
in the file are all it needs. Its parameters are all elements of all initializers.
"""

import math

from haoline.analyzer import GraphInfo, MetricsEngine, NodeInfo, ONNXGraphLoader

from benchmarks.peers._contract import PRODUCTS, Answer, Shapes, Values, answer


def count(model: str, shapes: Shapes, values: Values) -> Answer:
    _, graph = ONNXGraphLoader().load(model)
    metrics = MetricsEngine()
    metrics.estimate_flops(graph)
    flops = sum(node.flops - bias(node, graph) for node in graph.nodes if node.op_type in PRODUCTS)
    return Answer(macs=flops // 2, params=metrics.count_parameters(graph).total)


def bias(node: NodeInfo, graph: GraphInfo) -> int:
    """One FLOP for each element of the output, where it counted them."""
    shape = graph.value_shapes.get(node.outputs[0], [])
    known = bool(shape) and all(isinstance(dim, int) for dim in shape)
    counted = node.op_type in ("Conv", "Gemm") and len(node.inputs) > 2 and node.flops
    return math.prod(shape) if counted and known else 0


if __name__ == "__main__":
    answer(count)
