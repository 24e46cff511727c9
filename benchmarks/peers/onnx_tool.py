"""Shape inference and profile of its graph, with arrays of the recorded sizes and values as inputs. It counts MACs,
also for additions and activations: their cost is set to zero, and the rest at operators with MACs is compared. Its
parameters are all elements of the initializers that nodes read; no operator is excluded (its command line excludes
Gather, and with it the embeddings).
"""

import numpy as np
import onnx_tool
from onnx import ValueInfoProto, helper

from benchmarks.peers._contract import PRODUCTS, Figures, Shapes, Values, print_figures

FREE = ("ADD_MACS", "EXP_MACS", "TANH_MACS")  # cost of biases and of the activations of recurrent cells


def count(model: str, shapes: Shapes, values: Values) -> Figures:
    for price in FREE:
        setattr(onnx_tool.node, price, 0)
    loaded = onnx_tool.loadmodel(model, {"verbose": False})
    graph = loaded.graph
    graph.graph_reorder_nodes()
    graph.shape_infer(
        {value.name: array(value, shapes, values) for value in loaded.mproto.graph.input if value.name in shapes}
    )
    graph.profile()
    macs = sum(int(node.macs[0]) for node in graph.nodemap.values() if node.op_type in PRODUCTS)
    return Figures(macs=macs, params=int(graph.params))


def array(value: ValueInfoProto, shapes: Shapes, values: Values) -> np.ndarray:
    dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    return np.full(shapes[value.name], values.get(value.name, 0), dtype)


if __name__ == "__main__":
    print_figures(count)
