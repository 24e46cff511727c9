"""Fourier transforms, windows and mel filters."""

from onnx_autodoc.ir import dtype_name
from onnx_autodoc.ops.call import Call, integer_element, normalize_axis, size, size_element
from onnx_autodoc.ops.cost import Cost, per_output_element
from onnx_autodoc.ops.input_constraints import ONE
from onnx_autodoc.ops.operator import Operator, constants
from onnx_autodoc.ops.values import Contradiction, Dim, Shape, Unknown, ValueInfo, tensor


def _dft(call: Call) -> list[ValueInfo]:
    """[..., n, ..., 1 or 2] is [..., n', ..., 2]; only the inverse of a one-sided spectrum is real."""
    x = call.shape(0)
    axis, is_real = _dft_axis(call, len(x)), _is_real_inverse(call)
    length = _dft_length(call, x[axis])
    bins = length // 2 + 1 if call.attr_int("onesided", 0) and not is_real else length
    return [tensor(call.dtype(0), (*x[:axis], bins, *x[axis + 1 : -1], 1 if is_real else 2))]


def _is_real_inverse(call: Call) -> bool:
    return bool(call.attr_int("onesided", 0) and call.attr_int("inverse", 0))


def _dft_length(call: Call, dim: Dim) -> Dim:
    whole = 2 * (dim - 1) if _is_real_inverse(call) else dim
    length = size_element(call, 1) if call.has(1) else whole
    if isinstance(length, int) and length < 0:
        raise Contradiction("DFT has a negative length")
    return length


def _dft_axis(call: Call, rank: int) -> int:
    # An attribute that defaults to 1 until opset 19, since then an input that defaults to the last axis of the signal.
    axis: Dim = integer_element(call, 2) if call.has(2) else call.attr_int("axis", -2 if call.opset >= 20 else 1)
    axis = normalize_axis(axis, rank)
    if axis == rank - 1:
        raise Contradiction("DFT cannot run along the axis of real and imaginary parts")
    return axis


def _stft(call: Call) -> list[ValueInfo]:
    """[batch, n, 1 or 2] is [batch, frames, bins, 2]."""
    x, step = call.shape(0), size_element(call, 1)
    if len(x) not in (2, 3):
        raise Contradiction(f"STFT requires rank 2 or 3, got rank {len(x)}")
    length = _frame_length(call, x)
    bins, last = length // 2 + 1 if call.attr_int("onesided", 1) else length, x[1] - length
    if type(step) is int and step < 1:
        raise Contradiction(f"STFT requires a positive frame step, got {step}")
    if type(last) is int and last < 0:
        raise Contradiction(f"STFT has frames of length {length}, longer than its signal ({x[1]})")
    return [tensor(call.dtype(0), (x[0], last // step + 1, bins, 2))]


def _frame_length(call: Call, x: Shape) -> Dim:
    declared = size_element(call, 3) if call.has(3) else None
    if call.has(2) and (declared is None or isinstance(declared, Unknown)):
        return call.shape(2)[0] if call.rank(2) == 1 else Unknown("the window of STFT is not one-dimensional")
    return x[1] if declared is None else declared


def _window(call: Call) -> list[ValueInfo]:
    return [tensor(_output_datatype(call), (size_element(call, 0),))]


def _output_datatype(call: Call) -> str | None:
    return dtype_name(call.attr_int("output_datatype", 1))


def fourier(length: Dim, parts: Dim) -> Dim:
    """Return the operations of an FFT of one signal: 5 n log2 n if it is complex, half of that if it is real."""
    if isinstance(length, Unknown):
        return Unknown(length.why)
    return 5 * length * max(length - 1, 0).bit_length() * parts // 2


def _dft_cost(call: Call) -> Cost:
    """5 n log2 n FLOPs per signal of n complex numbers, half for real numbers: FFT, log2 rounded up"""
    x = call.shape(0)
    axis = _dft_axis(call, len(x))
    parts = 1 if _is_real_inverse(call) else x[-1]
    return Cost(other=size(x[:axis] + x[axis + 1 : -1]) * fourier(_dft_length(call, x[axis]), parts))


def _stft_cost(call: Call) -> Cost:
    """5 n log2 n FLOPs per frame of n complex numbers, half for real numbers: FFT, log2 rounded up; 1 per frame element
    for a window"""
    x, frames = call.shape(0), size(call.output()[:2])
    length, parts = _frame_length(call, x), x[2] if len(x) == 3 else 1
    return Cost(other=frames * (fourier(length, parts) + (length * parts if call.has(2) else 0)))


_one_cosine = per_output_element(4, "angle, cos, multiply, subtract")

OPERATORS: dict[str, Operator] = {
    "DFT": Operator(_dft, cost=_dft_cost),
    "STFT": Operator(_stft, cost=_stft_cost, roles=constants(2)),
    "MelWeightMatrix": Operator(
        lambda call: [tensor(_output_datatype(call), (size_element(call, 1) // 2 + 1, size_element(call, 0)))],
        cost=per_output_element(2, "subtract, divide, as on the slope of a filter"),
        roles=constants(3, 4),
    ),
    "HannWindow": Operator(_window, cost=_one_cosine, constraints={0: ONE}),
    "HammingWindow": Operator(_window, cost=_one_cosine, constraints={0: ONE}),
    "BlackmanWindow": Operator(
        _window, cost=per_output_element(8, "two each of angle, cos, multiply and add"), constraints={0: ONE}
    ),
}
