"""Shape inference and profile of its graph, with arrays of the recorded sizes and values as inputs. It counts MACs, and
gives additions and activations a price in MACs as well: these prices are set to zero, and compared is what is left at
the operators that hold multiply-adds. Its parameters are all elements of the initializers that nodes read; no operator
is left out (its command line leaves out Gather, and with it the embeddings).
"""

import numpy as np
import onnx_tool
from onnx import ValueInfoProto, helper

from benchmarks.peers._contract import PRODUCTS, Answer, Shapes, Values, answer

FREE = ("ADD_MACS", "EXP_MACS", "TANH_MACS")  # what biases and the activations of recurrent cells are priced at


def count(model: str, shapes: Shapes, values: Values) -> Answer:
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
    return Answer(macs=macs, params=int(graph.params))


def array(value: ValueInfoProto, shapes: Shapes, values: Values) -> np.ndarray:
    dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    return np.full(shapes[value.name], values.get(value.name, 0), dtype)


if __name__ == "__main__":
    answer(count)
