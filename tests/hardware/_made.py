"""Models written as text, whose declared values without a maker are weights."""

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_autodoc.analysis import Facts
from onnx_autodoc.api import facts_of
from onnx_autodoc.shapes import Request
from tests._text import loaded, proto


def weighted(text: str) -> onnx.ModelProto:
    made = proto(text)
    for value in list(made.graph.value_info):
        tensor = value.type.tensor_type
        dims = [dim.dim_value for dim in tensor.shape.dim]
        array = np.zeros(dims, onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
        made.graph.initializer.append(numpy_helper.from_array(array, value.name))
    del made.graph.value_info[:]
    return made


def facts(text: str, *dims: str) -> Facts:
    return facts_of(loaded(weighted(text)), Request(dims=dims))
