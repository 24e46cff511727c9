"""Random numbers: their dims come from an attribute or from the input."""

from onnx_autodoc.ir import dtype_name
from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost, each
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


def _drawn(call: Call) -> Cost:
    """1 per element of the output: one number drawn; nothing is read"""
    return Cost(other=size(call.output()), read=0)


def _multinomial_cost(call: Call) -> Cost:
    """2 per element of the input: exponential, running sum; 1 per element of the output: one number drawn. Finding its
    class is not counted"""
    return Cost(other=2 * size(call.shape(0)) + size(call.output()))


OPERATORS: dict[str, Operator] = {
    "RandomNormal": Operator(_random, cost=_drawn),
    "RandomUniform": Operator(_random, cost=_drawn),
    "RandomNormalLike": Operator(_random_like, cost=_drawn),
    "RandomUniformLike": Operator(_random_like, cost=_drawn),
    "Bernoulli": Operator(_random_like, cost=each(2, "one number drawn, comparison")),
    "Multinomial": Operator(_multinomial, cost=_multinomial_cost),
}
