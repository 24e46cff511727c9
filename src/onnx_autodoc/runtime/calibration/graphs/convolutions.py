"""Convolutions as picture and sound models have them: many sizes, since each reaches another part of the peak."""

from collections.abc import Callable
from typing import Any, Final

from onnx_autodoc.runtime.calibration.graphs._builder import Builder, Make, chain

Step = Callable[[Builder, str], str]


def conv(build: Builder, x: str, cin: int, cout: int, kernel: int, **more: int | str) -> str:
    """With bias and an activation; `group`, `stride`, `rank` of the picture, `act` ("" for none)."""
    group, stride, rank = int(more.get("group", 1)), int(more.get("stride", 1)), int(more.get("rank", 2))
    weight = build.weight(cout, cin // group, *[kernel] * rank)
    sizes: dict[str, Any] = {
        "kernel_shape": [kernel] * rank,
        "pads": [kernel // 2] * (2 * rank),
        "strides": [stride] * rank,
    }
    y = build.op("Conv", x, weight, build.weight(cout, scale=0.1), group=group, **sizes)
    act = str(more.get("act", "Relu"))
    return build.op(act, y) if act else y


def _same(channels: int, size: int, kernel: int, times: int, group: int = 1) -> Make:
    return chain(lambda b, x: conv(b, x, channels, channels, kernel, group=group), (1, channels, size, size), times)


def _points(narrow: int, wide: int, size: int, times: int) -> Make:
    def step(build: Builder, x: str) -> str:
        return conv(build, conv(build, x, narrow, wide, 1), wide, narrow, 1, act="")

    return chain(step, (1, narrow, size, size), times)


def _first(cin: int, cout: int, size: int, kernel: int, stride: int) -> Make:
    return chain(lambda b, x: conv(b, x, cin, cout, kernel, stride=stride), (1, cin, size, size), 1)


def _sound(channels: int, length: int, kernel: int, times: int, group: int = 1) -> Make:
    step: Step = lambda b, x: conv(b, x, channels, channels, kernel, group=group, rank=1)  # noqa: E731
    return chain(step, (1, channels, length), times)


def _transposed(cin: int, cout: int, size: int, kernel: int) -> Make:
    def step(build: Builder, x: str) -> str:
        weight = build.weight(cin, cout, kernel, kernel)
        return build.op("ConvTranspose", x, weight, build.weight(cout), kernel_shape=[kernel] * 2, strides=[2, 2])

    return chain(step, (1, cin, size, size), 1)


_SAME: Final = (
    *((16, 112, 3, 6), (24, 40, 3, 8), (32, 56, 3, 8), (64, 56, 3, 4), (64, 112, 3, 2), (96, 20, 3, 8)),
    *((128, 28, 3, 4), (192, 80, 3, 1), (256, 14, 3, 4), (512, 7, 3, 4), (512, 28, 3, 2), (128, 160, 3, 1)),
    *((32, 28, 5, 6), (8, 120, 3, 6), (8, 60, 9, 3), (16, 40, 7, 4)),
)
_POINTS: Final = (
    *((16, 96, 56, 4), (32, 192, 28, 6), (64, 256, 56, 2), (96, 96, 40, 6), (256, 64, 56, 2), (512, 128, 28, 3)),
    *((256, 1024, 14, 3), (512, 2048, 7, 2), (160, 960, 7, 5), (24, 72, 80, 3), (64, 64, 10, 10)),
)
_DEPTHS: Final = ((32, 112, 3, 6), (96, 56, 3, 6), (192, 28, 5, 8), (384, 14, 3, 12), (960, 7, 5, 12), (64, 160, 3, 3))
_FIRSTS: Final = (
    (3, 32, 224, 3, 2),
    (3, 64, 224, 7, 2),
    (3, 16, 640, 3, 2),
    (1, 32, 96, 3, 1),
    (3, 192, 224, 16, 16),
    (1, 8, 150, 9, 1),
)
_SOUNDS: Final = (
    (64, 1000, 3, 6),
    (384, 1500, 3, 1),
    (128, 40, 5, 10),
    (32, 200, 1, 10),
    (256, 8, 3, 8),
    (128, 3, 3, 8),
)
_TRANSPOSED: Final = ((64, 32, 40, 2), (24, 24, 80, 2), (128, 64, 20, 4))

GRAPHS: Final[dict[str, Make]] = {
    **{f"convolution {sizes}": _same(*sizes) for sizes in _SAME},
    **{f"pointwise convolution {sizes}": _points(*sizes) for sizes in _POINTS},
    **{f"depthwise {sizes}": _same(*sizes, group=sizes[0]) for sizes in _DEPTHS},
    **{f"first convolution {sizes}": _first(*sizes) for sizes in _FIRSTS},
    **{f"sound convolution {sizes}": _sound(*sizes) for sizes in _SOUNDS},
    "sound depthwise": _sound(128, 300, 5, 8, group=128),
    **{f"transposed convolution {sizes}": _transposed(*sizes) for sizes in _TRANSPOSED},
}
