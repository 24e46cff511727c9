"""The model as the file has it: frozen values that every other room reads and none changes."""

from onnx_autodoc.graph._deep import Deep, deeply
from onnx_autodoc.graph._dtypes import BITS, dtype_name, dtype_spelled, is_float, is_integer, stored_bytes
from onnx_autodoc.graph._order import execution_order, needed_names
from onnx_autodoc.graph._types import (
    Attribute,
    External,
    Function,
    Graph,
    Long,
    Model,
    Node,
    Payload,
    Place,
    Reference,
    Tensor,
    Type,
    Value,
    all_graphs,
    constants_of,
    inner_graphs,
    label,
    tensors_of,
)
from onnx_autodoc.graph._varints import signed, varints

__all__ = [
    "BITS",
    "Attribute",
    "Deep",
    "External",
    "Function",
    "Graph",
    "Long",
    "Model",
    "Node",
    "Payload",
    "Place",
    "Reference",
    "Tensor",
    "Type",
    "Value",
    "all_graphs",
    "constants_of",
    "deeply",
    "dtype_name",
    "dtype_spelled",
    "execution_order",
    "inner_graphs",
    "is_float",
    "is_integer",
    "label",
    "needed_names",
    "signed",
    "stored_bytes",
    "tensors_of",
    "varints",
]
