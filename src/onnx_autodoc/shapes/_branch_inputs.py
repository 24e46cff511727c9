"""Inputs that pick a branch: a decoder that runs with its past or without, in one file.

Default sizes are those of a run over a past; so by default the branch that reads it is the one that runs.
"""

from collections.abc import Collection

import numpy as np

from onnx_autodoc.ir import Model, Node, Value
from onnx_autodoc.ops import Array, kinds


def switches(model: Model, inputs: Collection[Value], past: Collection[str]) -> dict[str, Array]:
    """The flags that alone decide whether what is called past is read, set so that it is."""
    flags = {value.name: value for value in inputs if value.type is not None and value.type.dtype == "bool"}
    made = {name: node for node in model.graph.nodes for name in node.outputs} if flags else {}
    found: dict[str, Array] = {}
    for node in model.graph.nodes if flags else ():
        flag = (
            flags.get(_origin(node.inputs[0], made))
            if node.nested and node.op == kinds.BRANCH and node.inputs
            else None
        )
        reads = {name: not graph.outer.isdisjoint(past) for name, graph in node.graphs()} if flag else {}
        dims = (flag.type.dims if flag is not None and flag.type else None) or ()
        if flag is not None and len(set(reads.values())) == 2 and all(dim == 1 for dim in dims):
            found[flag.name] = np.full((1,) * len(dims), reads.get("then_branch", False))
    return found


def _origin(name: str, made: dict[str, Node]) -> str:
    """What a flag was before it was brought into shape."""
    for _ in range(len(made)):
        node = made.get(name)
        if node is None or node.op not in kinds.RESHAPED or not node.inputs:
            break
        name = node.inputs[0]
    return name
