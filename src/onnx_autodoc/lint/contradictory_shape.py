"""Shapes in the file contradict each other.

Why it matters: a node whose inputs do not fit stops the model with an error. An output that is declared otherwise than
its nodes make it misleads its callers, and onnxruntime warns of it; inside the graph a wrong declaration
misleads tools that trust it.

What to do: of a node that cannot run, look at the last step that changed the file, and export again. Declarations are
made anew by python -m onnxruntime.tools.symbolic_shape_infer --input model.onnx --output new.onnx, after deleting the
old ones (del model.graph.value_info[:]; it needs sympy); those of outputs are corrected in model.graph.output.

Said only of what is wrong at any size: the open dimensions are left open for this, so no size that was assumed or asked
for can be the cause. Values inside the graph that are declared as single numbers are passed over: some exporters write
that where they know no shape.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import label
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.shapes import Shapes, subject
from onnx_autodoc.text import clean, told

SEVERITY: Final = Severity.WARNING
_LONGEST: Final = 200
_UNMADE: Final = "is read, but nothing makes it"  # undefined-value and cycle speak of these
_NO_SHAPE: Final = " as [], its nodes give "  # what some exporters write inside a graph where they know none


def check(case: Case) -> Iterator[Found]:
    shapes = case.facts.lasting
    wrong = tuple(text for text in shapes.contradictions if not text.endswith(_UNMADE))
    if wrong:
        text = _told(wrong, "a node cannot run", "nodes cannot run")
        yield Found(text, _evidence(case, wrong), severity=Severity.ERROR, about="nodes")
    yield from _misdeclared(case, shapes)


def _misdeclared(case: Case, shapes: Shapes) -> Iterator[Found]:
    outputs = {value.name for value in case.model.graph.outputs}
    made = (name for spot in case.spots() for name in spot.node.outputs) if shapes.misdeclared else ()
    names = {told(name): name for name in made}
    wrong = {text: names.get(subject(text), subject(text)) for text in shapes.misdeclared}
    wrong = {text: name for text, name in wrong.items() if name in outputs or _NO_SHAPE not in text}
    if wrong:
        text = _told(tuple(wrong), "a value has another shape", "values have other shapes")
        severity = Severity.NOTE if outputs.isdisjoint(wrong.values()) else Severity.WARNING
        yield Found(text, tuple(dict.fromkeys(wrong.values())), severity=severity, about="declarations")


def _told(texts: tuple[str, ...], one: str, many: str) -> str:
    head = one if len(texts) == 1 else f"{len(texts):,} {many}, first"
    return f"{head}: {clean(texts[0], _LONGEST)}"


def _evidence(case: Case, texts: tuple[str, ...]) -> tuple[str, ...]:
    """The nodes that the sentences begin with."""
    heads = set(map(subject, texts))
    spots = (spot for spot in case.spots() if spot.step.gap)
    return tuple(spot.path for spot in spots if told(label(spot.node, spot.step.at)) in heads)
