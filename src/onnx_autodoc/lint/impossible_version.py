"""A version that the file says of itself does not exist.

Why it matters: the version of an operator set decides what its operators do, that of the format how the file is read.
With one that was never there, or with two at once, nobody can tell what was meant: checkers refuse the file, and each
runtime takes something else.

What to do: export again. If only the number was lost, write in what the exporter uses: model.ir_version = 8,
model.opset_import[0].version = 17.

An error where no runtime takes it. Versions that are newer than what is known are future-opset's.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import Model
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.ops import judged
from onnx_autodoc.text import clean, named

SEVERITY: Final = Severity.WARNING
VERSIONS: Final = "the version of"  # how the reader begins to speak of two


def check(case: Case) -> Iterator[Found]:
    model = case.model
    yield from _format(model)
    used = {node.domain for node in model.graph.nodes}
    low = [(domain, version) for domain, version in model.opsets.items() if version < 1]
    for domain, version in low:
        text = f"the file is written in opset {version} of {named(domain or 'ai.onnx', 40)}; the first one is 1"
        yield Found(text, severity=Severity.ERROR if domain in used else None, about=clean(domain, 40) or "ai.onnx")
    version = model.opsets.get(judged.MICROSOFT, 1)
    if version > 1:
        text = f"the file is written in opset {version} of {judged.MICROSOFT}; there is only 1"
        yield Found(text, severity=Severity.ERROR, about=judged.MICROSOFT)
    for flaw in (text for text in model.flaws if text.startswith(VERSIONS)):
        yield Found(f"{clean(flaw, 200)}; which one holds cannot be told", about="opsets")
    for function in model.functions:
        name = clean(function.name, 40)
        yield from (
            Found(f"in the function {named(function.name, 40)} {clean(flaw, 200)}", about=name)
            for flaw in function.flaws
            if flaw.startswith(VERSIONS)
        )


def _format(model: Model) -> Iterator[Found]:
    version = model.ir_version
    if version is None:
        yield Found("the file does not say its IR version", severity=Severity.ERROR, about="IR version")
    elif version < 1:
        yield Found(f"the file is of IR version {version}; the first one is 1", about="IR version")
    elif version > judged.NEWEST_IR:
        text = f"the file is of IR version {version}, the newest known here is {judged.NEWEST_IR}"
        yield Found(text, about="IR version")
