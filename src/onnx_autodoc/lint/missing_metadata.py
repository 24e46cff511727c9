"""The file does not say what it is.

Why it matters: once a file has left the folder of its project, nobody can tell which version it is, what it was trained
on, or under which license it may be used.

What to do: write it into the file: model = onnx.load(path, load_external_data=False); model.doc_string = "What it is";
onnx.helper.set_model_props(model, {"author": "…", "license": "…", "version": "…"}); onnx.save(model, path).

Said only where there is nothing at all: no description, no version and no metadata but what tools leave there for
themselves. The name of the exporter tells nothing of the model.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import Model
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.text import named

SEVERITY: Final = Severity.INFO
_MOST: Final = 3  # keys that are listed in the sentence
_OF_TOOLS: Final = ("onnx.", "pkg.", "onnx_", "optimum")  # how keys begin that optimizers and exporters write


def check(case: Case) -> Iterator[Found]:
    if not _says_something(case.model):
        maker = "" if case.model.producer.strip() else ", nor what made it"
        keys = ", ".join(named(key, 40) for key in list(case.model.metadata)[:_MOST])
        more = " …" if len(case.model.metadata) > _MOST else ""
        left = f" but what tools left there ({keys}{more})" if keys else ""
        yield Found(f"the file has no description, no version and no metadata{left}{maker}")


def _says_something(model: Model) -> bool:
    told = any(value.strip() and not key.lower().startswith(_OF_TOOLS) for key, value in model.metadata.items())
    return told or bool(model.doc.strip() or model.graph.doc.strip() or model.version)
