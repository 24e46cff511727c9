"""The card on paper, and charts as PNG: made by libraries that not everyone has."""

import io
import sys

import pytest
from pypdf import PdfReader

from onnx_autodoc.errors import BadInput
from onnx_autodoc.render import FORMATS, Report, chart_files
from onnx_autodoc.render.sections import card_sections
from tests._corpus import load_report


@pytest.fixture(scope="module")
def report() -> Report:
    return load_report("bilstm-gru-tagger")


def test_a_pdf_has_every_section(report: Report) -> None:
    data = FORMATS["pdf"].render(report)
    assert isinstance(data, bytes)
    text = "".join(page.extract_text() for page in PdfReader(io.BytesIO(data)).pages)
    assert "bilstm-gru-tagger.onnx" in text and "83.4 MMACs" in text
    assert [section.title for section in card_sections(report.card) if section.title not in text] == []


def test_png_has_full_width(report: Report) -> None:
    drawn = chart_files(report, ".png")
    assert set(drawn) == {name.replace(".svg", ".png") for name in chart_files(report, ".svg")}
    for data in drawn.values():
        assert isinstance(data, bytes) and data.startswith(b"\x89PNG\r\n\x1a\n")
        assert int.from_bytes(data[16:20]) == 1440


@pytest.mark.parametrize(
    ("module", "extra", "make"),
    [
        ("weasyprint", "pdf", lambda found: FORMATS["pdf"].render(found)),
        ("resvg_py", "png", lambda found: chart_files(found, ".png")),
    ],
)
def test_missing_extra_is_named_with_its_command(
    module: str, extra: str, make: object, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert callable(make)
    with pytest.raises(BadInput, match=rf"pip install 'onnx-autodoc\[{extra}\]'"):
        make(report)
