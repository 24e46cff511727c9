"""What could not be told about a model, and why, in words for the card's reader."""

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from onnx_autodoc.facts._figures import Figures
from onnx_autodoc.graph import Model
from onnx_autodoc.resolve import Binding, Shapes, inputs_of


class Gap(Struct, frozen=True):
    """Something that is not known, and why, in words for the card's reader."""

    section: str
    reason: str


def gaps(model: Model, binding: Binding, shapes: Shapes, reasons: Counter[str], figures: Figures) -> Iterator[Gap]:
    yield from _shape_gaps(shapes, reasons)
    yield from _steering(model, binding, reasons)
    for (op, why), missing in figures.costs.total.missing.items():
        yield Gap("compute", f"the cost of {missing.count:,} {op} node{'s' * (missing.count != 1)} is not known: {why}")
    for why, count in figures.costs.total.unmoved.items():
        if why not in reasons:
            yield Gap("compute", f"the bytes that {count:,} node{'s' * (count != 1)} move are not known: {why}")
    yield from _file_gaps(model)


def resolution(shapes: Shapes) -> tuple[int, int, Counter[str]]:
    """Node outputs with known dims, all node outputs, and the reasons for the difference.

    Branches that are not taken do not count; a function called in the same way many times counts once.
    """
    resolved = outputs = 0
    reasons = Counter[str]()
    waiting = [shapes.steps]
    seen: set[int] = set()
    while waiting:
        steps = waiting.pop()
        if id(steps) in seen:
            continue
        seen.add(id(steps))
        for step in steps:
            waiting.extend(body.steps for body in step.bodies if body.times != 0)
            named = [known for name, known in zip(step.node.outputs, step.outputs) if name]
            known = sum(item.kind != "tensor" or item.concrete is not None for item in named)
            resolved += known
            outputs += len(named)
            if known < len(named):
                reasons[step.gap] += 1
    return resolved, outputs, reasons


def _shape_gaps(shapes: Shapes, reasons: Counter[str]) -> Iterator[Gap]:
    for reason, count in reasons.most_common():
        yield Gap("graph", f"the shapes of {count:,} node{'s' * (count != 1)} are not known: {reason}")
    for text in (*shapes.contradictions, *shapes.misdeclared):
        yield Gap("graph", f"the file contradicts itself: {text}")
    if shapes.assumed:
        names = ", ".join(shapes.assumed[:3]) + (" …" if len(shapes.assumed) > 3 else "")
        yield Gap("graph", f"{len(shapes.assumed):,} shapes are the file's own claim, no rule checks them: {names}")


def _steering(model: Model, binding: Binding, reasons: Counter[str]) -> Iterator[Gap]:
    """Single numbers that nobody gave, where something is not known: one of them may be what decides it."""
    for value in inputs_of(model) if reasons else ():
        single = value.type is not None and value.type.dims is not None and set(value.type.dims) <= {1}
        if single and value.name not in binding.values:
            yield Gap(
                "graph",
                f"the input {value.name} is one number that may decide sizes: give it with --value {value.name}=N",
            )


def _file_gaps(model: Model) -> Iterator[Gap]:
    for file in model.external:
        if file.nbytes is None:
            yield Gap("model", f"the weights in {file.path} are absent: there is no such file beside the model")
        elif file.nbytes < file.needed:
            short = f"{file.path} has {file.nbytes:,} bytes, its tensors need {file.needed:,}"
            yield Gap("model", f"the weights are incomplete: {short}")
    if model.training:
        yield Gap("graph", f"{len(model.training)} training graphs are not documented")
