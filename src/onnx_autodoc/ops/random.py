"""Random numbers: their dims come from an attribute or from the input."""

from onnx_autodoc.graph import dtype_name
from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._known import Contradiction, Known, tensor
from onnx_autodoc.ops._operator import Operator


def _random(call: Call) -> list[Known]:
    shape = call.attr_ints("shape")
    if shape is None or any(dim < 0 for dim in shape):
        raise Contradiction(f"{call.node.op} needs a shape, it has {shape}")
    return [tensor(dtype_name(call.attr_int("dtype", 1)), shape)]


def _random_like(call: Call) -> list[Known]:
    named = call.attribute("dtype") is not None
    return [tensor(dtype_name(call.attr_required("dtype")) if named else call.dtype(0), call.shape(0))]


def _multinomial(call: Call) -> list[Known]:
    x, samples = call.shape(0), call.attr_int("sample_size", 1)
    if len(x) != 2 or samples < 1:
        raise Contradiction(f"Multinomial of {len(x)} dimensions, not 2, for {samples} samples")
    return [tensor(dtype_name(call.attr_int("dtype", 6)), (x[0], samples))]


OPERATORS: dict[str, Operator] = {
    "RandomNormal": Operator(_random),
    "RandomUniform": Operator(_random),
    "RandomNormalLike": Operator(_random_like),
    "RandomUniformLike": Operator(_random_like),
    "Bernoulli": Operator(_random_like),
    "Multinomial": Operator(_multinomial),
}
