"""The width of texts, compared with that of a wide font (DejaVu Sans at 12 px, measured once)."""

import pytest

from onnx_autodoc.render.charts.svg import fit_text, text_width

MEASURED = {
    "Encoder layer": 83.0,
    "30,522 × 384": 82.6,
    "11.9 M · 53%": 82.8,
    "DequantizeLinear": 105.8,
    "/m/encoder/layer.0/intermediate/intermediate_act_fn/Erf": 338.9,
    "MMMMWWWW": 88.9,
    "illicit fill": 46.0,
    "4.09 G · >99%": 91.8,
    "512 channels at 224×224": 156.0,
    "gelu, 384 → 1,536 → 384": 149.1,
    "batch 128": 60.6,
    "MATMULNBITS": 86.5,
    "Where the WORK is @ 100%": 174.9,
    '{}$#&+=<>^~`"*?': 126.5,
}


@pytest.mark.parametrize(("text", "real"), MEASURED.items())
def test_text_width_is_an_upper_estimate(text: str, real: float) -> None:
    assert real <= text_width(text) <= real * 1.1


def test_shortened_path_keeps_its_end() -> None:
    assert fit_text("/encoder/layer.0/attention/self/MatMul", 120) == "/enco…self/MatMul"
    assert fit_text("Conv", 120) == "Conv"


def test_shortened_detail_keeps_its_start() -> None:
    assert fit_text("9 heads × 64, 3 for keys and values", 120, cut_end=True) == "9 heads × 64, 3 …"


@pytest.mark.parametrize("room", [-5.0, 0.0, 3.0, 40.0, 300.0])
def test_long_text_is_cut_to_fit(room: float) -> None:
    for text in ("x" * 1_000_000, "宽" * 500, "a\u202eb" * 90):
        assert text_width(fit_text(text, room)) <= max(room, text_width("…"))
