"""GitHub-flavoured Markdown: for a pull request, a wiki, a mail."""

from onnx_autodoc.compare import Comparison
from onnx_autodoc.render._escape import escaped
from onnx_autodoc.render.comparison._sections import sections
from onnx_autodoc.render.comparison._words import headline
from onnx_autodoc.render.markdown import written


def render_markdown(comparison: Comparison) -> str:
    return f"# {escaped(headline(comparison))}\n\n{written(sections(comparison), None, None)}"
