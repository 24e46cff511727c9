"""Spectra: operators, convolutions with a window, and learned filters that are not spectra."""

import pytest

from tests.patterns._nets import Value, build_net, count_blocks

SOUND: dict[str, Value] = {"x": (1, 1, 4096), "W": (258, 1, 256), "K": (32, 1, 256), "B": (258,)}
MAGNITUDE = "y = Sqrt(Add(Mul(r, r), Mul(i, i)))"
HALVES = "r = Slice(c, [0], [129], [1]) i = Slice(c, [129], [258], [1])"


def test_windowed_convolution_with_squared_halves_is_a_spectrum() -> None:
    net = build_net(f"c = Conv<strides = [128]>(x, W) {HALVES} {MAGNITUDE}", **SOUND)
    assert (count_blocks(net, "stft"), count_blocks(net, "conv")) == (1, 0)


def test_powers_are_squares() -> None:
    net = build_net(f"c = Conv<strides = [128]>(x, W) {HALVES} y = Sqrt(Add(Pow(r, 2.0), Pow(i, 2.0)))", **SOUND)
    assert count_blocks(net, "stft") == 1


@pytest.mark.parametrize(
    "body",
    [
        "y = Relu(Conv<strides = [128]>(x, W))",
        f"c = Conv<strides = [128]>(x, W, B) {HALVES} {MAGNITUDE}",
    ],
    ids=["learned filters of a raw-audio net", "filters with a bias"],
)
def test_learned_audio_filters_are_not_a_spectrum(body: str) -> None:
    net = build_net(body, **SOUND)
    assert (count_blocks(net, "stft"), count_blocks(net, "conv")) == (0, 1)
