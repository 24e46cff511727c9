"""One input as an expression of numpy."""

from collections.abc import Callable
from typing import Final

from onnx_autodoc.card import Port, Sample
from onnx_autodoc.render._snippet_words import Sizes, literal

_NUMPY: Final = {
    **{name: f"np.{name}" for name in ("float32", "float64", "float16", "complex64", "complex128")},
    **{f"{sign}int{bits}": f"np.{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "bool": "bool",
    "string": "object",
}
# types that numpy does not have: what ml_dtypes calls them, how wide they are, their number in ONNX
BORROWED: Final = {
    "bfloat16": ("bfloat16", 16, 16),
    "float8e4m3fn": ("float8_e4m3fn", 8, 17),
    "float8e4m3fnuz": ("float8_e4m3fnuz", 8, 18),
    "float8e5m2": ("float8_e5m2", 8, 19),
    "float8e5m2fnuz": ("float8_e5m2fnuz", 8, 20),
}
_HALVES: Final = {"uint4": 21, "int4": 22, "float4e2m1": 23}  # two numbers in a byte, whatever its bits are
ALIEN: Final = frozenset((*BORROWED, *_HALVES))
_LISTS: Final = ("sequence", "optional")
_DRAWN: Final = ("float32", "float64")  # what the generator makes itself


def can_be_made(port: Port) -> bool:
    """Whether there is an array for it, or a list of them."""
    made = port.dtype in _NUMPY or (port.dtype in ALIEN and port.kind == "tensor")
    return made and port.kind in ("tensor", *_LISTS)


def expression(port: Port, sizes: Sizes) -> str:
    """The array for an input; zeros where nothing is known of it."""
    sample = port.sample or (Sample("text", value="text") if port.dtype == "string" else Sample("constant", value=0))
    dtype = port.dtype or ""
    if port.kind == "sequence":
        return f"[{_FILLS[sample.fill](port, sample, sizes, dtype)}]"
    if dtype in _HALVES:
        bits = f"rng.integers(0, 256, {sizes.of(port)}, np.uint8)"
        return f"ort.OrtValue.ortvalue_from_numpy_with_onnx_type({bits}, {_HALVES[dtype]})"
    if dtype in BORROWED:
        return _borrowed(_FILLS[sample.fill](port, sample, sizes, "float32"), dtype)
    return _FILLS[sample.fill](port, sample, sizes, dtype)


def _borrowed(made: str, dtype: str) -> str:
    """onnxruntime takes such numbers as bits, with their type beside them."""
    name, width, number = BORROWED[dtype]
    bits = f"{made}.astype(ml_dtypes.{name}).view(np.uint{width})"
    return f"ort.OrtValue.ortvalue_from_numpy_with_onnx_type({bits}, {number})"


def _normal(port: Port, sample: Sample, sizes: Sizes, dtype: str) -> str:
    scale = "" if sample.high in (None, 1) else f"{sample.high} * "
    if dtype in _DRAWN:
        return f"{scale}rng.standard_normal({sizes.of(port)}, {_NUMPY[dtype]})"
    made = f"rng.standard_normal({sizes.of(port)})"
    return f"({scale}{made}).astype({_NUMPY[dtype]})" if scale else f"{made}.astype({_NUMPY[dtype]})"


def _uniform(port: Port, sample: Sample, sizes: Sizes, dtype: str) -> str:
    if (sample.low, sample.high) != (0, 1):
        return f"rng.uniform({sample.low}, {sample.high}, {sizes.of(port)}).astype({_NUMPY[dtype]})"
    if dtype in _DRAWN:
        return f"rng.random({sizes.of(port)}, {_NUMPY[dtype]})"
    return f"rng.random({sizes.of(port)}).astype({_NUMPY[dtype]})"


def _integers(port: Port, sample: Sample, sizes: Sizes, dtype: str) -> str:
    bounds = f"{sample.low}, {sample.high}, {sizes.of(port)}"
    if "int" in dtype:
        return f"rng.integers({bounds}, {_NUMPY[dtype]})"
    return f"rng.integers({bounds}).astype({_NUMPY[dtype]})"


def _constant(port: Port, sample: Sample, sizes: Sizes, dtype: str) -> str:
    shape, kind = sizes.of(port), _NUMPY[dtype]
    if shape == "()":
        return f"np.array({_number(port, sample, sizes)}, {kind})"
    if sample.value in (0, 1):
        return f"np.{'ones' if sample.value else 'zeros'}({shape}, {kind})"
    return f"np.full({shape}, {_number(port, sample, sizes)}, {kind})"


def _number(port: Port, sample: Sample, sizes: Sizes) -> str:
    """A length is the size that it measures, so that it stays right when that is changed."""
    if port.role == "lengths" and isinstance(sample.value, int):
        return sizes.measured(sample.value)
    return str(bool(sample.value)) if port.dtype == "bool" else str(sample.value)


def _range(port: Port, sample: Sample, sizes: Sizes, dtype: str) -> str:
    last = sizes.last(port)
    bounds = f"{sample.low}, {sample.low} + {last}" if sample.low else last
    counted = f"np.arange({bounds}, dtype={_NUMPY[dtype]})"
    return counted if len(port.bound or ()) == 1 else f"np.broadcast_to({counted}, {sizes.of(port)})"


def _text(port: Port, sample: Sample, sizes: Sizes, _: str) -> str:
    shape, word = sizes.of(port), literal(str(sample.value))
    return f"np.array({word}, object)" if shape == "()" else f"np.full({shape}, {word}, object)"


_FILLS: Final[dict[str, Callable[[Port, Sample, Sizes, str], str]]] = {
    "normal": _normal,
    "uniform": _uniform,
    "integers": _integers,
    "constant": _constant,
    "range": _range,
    "text": _text,
}
