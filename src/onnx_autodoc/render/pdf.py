"""PDF: the page's print style, by weasyprint."""

from onnx_autodoc.errors import BadInput
from onnx_autodoc.render._report import Report
from onnx_autodoc.render.html import render_print


def render_pdf(report: Report) -> bytes:
    try:
        from weasyprint import HTML
    except ImportError:
        raise BadInput("PDF needs weasyprint: pip install 'onnx-autodoc[pdf]'") from None
    except OSError:
        raise BadInput("PDF needs the pango library: on Debian, apt install libpangoft2-1.0-0") from None
    made: bytes = HTML(string=render_print(report)).write_pdf()
    return made
