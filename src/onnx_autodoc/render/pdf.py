"""PDF: the page's print style, by weasyprint."""

from typing import NoReturn

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
    made: bytes = HTML(string=render_print(report), url_fetcher=_refused).write_pdf()
    return made


def _refused(url: str, *_: object, **__: object) -> NoReturn:
    """The page brings all it needs; whatever else is asked for, no word of a model may ask for it."""
    raise ValueError("nothing is fetched")
