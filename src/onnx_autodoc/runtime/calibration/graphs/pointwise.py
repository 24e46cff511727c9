"""Elementwise functions, norms, softmaxes, reductions: from sizes where only the call counts to some beyond caches."""

from collections.abc import Callable
from typing import Final

from onnx_autodoc.runtime.calibration.graphs._builder import Builder, Make, Proto, chain, side_by_side

Step = Callable[[Builder, str], str]
_SIZES: Final = ((256, 30), (16_384, 20), (200_000, 10), (1_500_000, 4))
_FEWER: Final = ((16_384, 8), (300_000, 3))


def _unary(op: str) -> Step:
    return lambda build, x: build.op(op, x)


def silu(build: Builder, x: str) -> str:
    return build.op("Mul", x, build.op("Sigmoid", x))


def _gelu(build: Builder, x: str) -> str:
    return build.op("Gelu", x, domain="com.microsoft")


def _exp(build: Builder, x: str) -> str:
    return build.op("Exp", build.op("Neg", x))


def _log(build: Builder, x: str) -> str:
    return build.op("Abs", build.op("Log", build.op("Add", x, build.held(2.0))))


def _power(exponent: float) -> Step:
    return lambda build, x: build.op("Pow", build.op("Abs", x), build.held(exponent))


def _clip(build: Builder, x: str) -> str:
    return build.op("Clip", x, build.held(-1.0), build.held(6.0))


def _select(build: Builder, x: str) -> str:
    return build.op("Where", build.op("Greater", x, build.held(0.0)), x, build.held(0.0))


def _cast(to: int) -> Step:
    return lambda build, x: build.op("Cast", build.op("Cast", x, to=to), to=1)


def _softmax(build: Builder, x: str) -> str:
    return build.op("Softmax", x, axis=-1)


def _softmax_across(build: Builder, x: str) -> str:
    return build.op("Softmax", x, axis=1)


def _layer_norm(width: int) -> Step:
    return lambda build, x: build.op("LayerNormalization", x, build.weight(width), build.weight(width))


def _instance_norm(build: Builder, x: str) -> str:
    return build.op("InstanceNormalization", x, build.weight(32), build.weight(32))


def _across(build: Builder, x: str) -> str:
    return build.op("LRN", x, size=5)


def _binary(op: str, dims: tuple[int, ...], other: tuple[int, ...], times: int) -> Make:
    def make() -> Proto:
        build = Builder(*dims)
        second, x = build.input("z", other), build.x
        for _ in range(times):
            x = build.op(op, x, second)
        return build.model()

    return make


def _reduce(op: str, axis: int) -> Step:
    return lambda build, x: build.op(op, x, axes=[axis])


_SPREAD: Final = (
    *(((1, 128, 384), (384,), 20), ((1, 64, 56, 56), (1, 64, 1, 1), 8), ((1, 256, 14, 14), (1, 256, 1, 1), 15)),
    *(((1, 12, 128, 128), (1, 1, 128, 128), 8), ((1, 16, 160, 160), (1, 16, 1, 1), 5), ((1, 1500, 384), (384,), 5)),
    *(((1, 300), (1,), 30), ((1, 200_000), (1,), 10)),
)
_SOFTMAXES: Final = (
    *(((1, 12, 128, 128), 8), ((1, 1000), 40), ((1, 6, 400, 400), 3), ((1, 9, 1, 128), 30), ((1, 40, 6625), 6)),
)
_NORMS: Final = (((1, 128, 384), 15), ((1, 1500, 384), 4), ((1, 1, 576), 40), ((1, 197, 192), 15))
_REDUCED: Final = (
    *(("ReduceMean", (1, 128, 384), -1, 12), ("ReduceMax", (1, 64, 56, 56), 1, 6), ("ReduceMean", (1, 64), -1, 30)),
    *(("ReduceMean", (1, 128, 384), 1, 12), ("ReduceMax", (1, 300_000), -1, 8)),
)
_OFTEN: Final = ("Relu", "Erf", "Tanh", "Sigmoid", "Sqrt", "Floor", "Neg")
_STEPS: Final[dict[str, Step]] = {"silu": silu, "gelu": _gelu}
_RARE: Final[dict[str, Step]] = {"Sin": _unary("Sin"), "Exp": _exp, "Log": _log, "Pow 2": _power(2.0), "Where": _select}

GRAPHS: Final[dict[str, Make]] = {
    **{f"{op} {size}": chain(_unary(op), (1, size), times) for op in _OFTEN for size, times in _SIZES},
    **{f"{name} {size}": chain(step, (1, size), n) for name, step in _STEPS.items() for size, n in _SIZES[1:]},
    **{f"{name} {size}": chain(step, (1, size), n) for name, step in _RARE.items() for size, n in _FEWER},
    "Pow 1.5": chain(_power(1.5), (1, 100_000), 2),
    "Clip": chain(_clip, (1, 300_000), 6),
    "Where, small": chain(_select, (1, 1000), 15),
    **{
        f"cast {to} {size}": chain(_cast(to), (1, size), times)
        for to in (10, 7)
        for size, times in ((500, 20), (50_000, 8), (800_000, 3))
    },
    **{f"{op} {n}": _binary(op, (1, n), (1, n), times) for op in ("Add", "Mul", "Div") for n, times in _SIZES},
    **{f"spread {dims} {other}": _binary("Mul", dims, other, times) for dims, other, times in _SPREAD},
    **{f"softmax {dims}": chain(_softmax, dims, times) for dims, times in _SOFTMAXES},
    **{f"softmax across {dims}": chain(_softmax_across, dims, 3) for dims in ((1, 2, 160, 160), (1, 21, 64, 64))},
    **{f"layer norm {dims}": chain(_layer_norm(dims[-1]), dims, times) for dims, times in _NORMS},
    **{f"norm across {size}": chain(_across, (1, 64, size, size), 2) for size in (13, 55)},
    "instance norm": chain(_instance_norm, (1, 32, 128, 128), 4),
    **{f"{op} {dims} {axis}": side_by_side(_reduce(op, axis), dims, n) for op, dims, axis, n in _REDUCED},
}
