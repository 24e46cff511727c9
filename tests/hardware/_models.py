"""Models written as text, whose declared values without a producer are weights, and models of the corpus."""

from functools import cache

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_autodoc.analysis import Facts
from onnx_autodoc.api import measure_model
from onnx_autodoc.readers import read_model
from onnx_autodoc.shapes import Request, parse_request
from tests import _corpus as corpus
from tests._text import proto, save_and_read


def add_weights(text: str) -> onnx.ModelProto:
    model = proto(text)
    for value in list(model.graph.value_info):
        tensor = value.type.tensor_type
        dims = [dim.dim_value for dim in tensor.shape.dim]
        array = np.zeros(dims, onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
        model.graph.initializer.append(numpy_helper.from_array(array, value.name))
    del model.graph.value_info[:]
    return model


def measure_text(text: str, *dims: str) -> Facts:
    return measure_model(save_and_read(add_weights(text)), parse_request(dims=dims))


@cache
def measure_corpus_model(name: str) -> Facts:
    return measure_model(read_model(corpus.graph(name)), Request())
