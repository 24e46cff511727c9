"""What could not be told about a model, and why, in words for the card's reader."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from onnx_autodoc.facts._figures import Figures
from onnx_autodoc.graph import External, Model
from onnx_autodoc.resolve import Binding, Shapes, inputs_of
from onnx_autodoc.say import told

_NAMED: Final = 20  # files


class Gap(Struct, frozen=True):
    """Something that is not known, and why, in words for the card's reader."""

    section: str
    reason: str


def gaps(
    model: Model,
    binding: Binding,
    shapes: Shapes,
    reasons: Counter[str],
    figures: Figures,
    doubtful: tuple[str, ...] = (),
) -> Iterator[Gap]:
    yield from _shape_gaps(shapes, reasons)
    yield from _steering(model, binding, reasons)
    for (op, why), missing in figures.costs.total.missing.items():
        nodes = f"{missing.count:,} {told(op)} node{'s' * (missing.count != 1)}"
        yield Gap("compute", f"the cost of {nodes} is not known: {why}")
    for why, count in figures.costs.total.unmoved.items():
        if why not in reasons:
            yield Gap("compute", f"the bytes that {count:,} node{'s' * (count != 1)} move are not known: {why}")
    yield from _file_gaps(model)
    if doubtful:
        tensors = "a tensor is" if len(doubtful) == 1 else f"{len(doubtful):,} tensors are"
        yield Gap("parameters", f"{tensors} not counted, as the file contradicts itself: {doubtful[0]:.300}")


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
        names = ", ".join(map(told, shapes.assumed[:3])) + (" …" if len(shapes.assumed) > 3 else "")
        yield Gap("graph", f"{len(shapes.assumed):,} shapes are the file's own claim, no rule checks them: {names}")


def _steering(model: Model, binding: Binding, reasons: Counter[str]) -> Iterator[Gap]:
    """Single numbers that nobody gave, where something is not known: one of them may be what decides it."""
    for value in inputs_of(model) if reasons else ():
        single = value.type is not None and value.type.dims is not None and set(value.type.dims) <= {1}
        if single and value.name not in binding.values:
            yield Gap(
                "graph",
                f"the input {told(value.name)} is one number that may decide sizes: "
                f"give it with --value {told(value.name)}=N",
            )


def _file_gaps(model: Model) -> Iterator[Gap]:
    missing = [file for file in model.external if file.nbytes is None or file.nbytes < file.needed]
    for file in missing[:_NAMED]:
        yield Gap("model", f"the weights {_missing(file)}")
    if len(missing) > _NAMED:
        yield Gap("model", f"and {len(missing) - _NAMED:,} more files with weights are absent, incomplete or not taken")
    if model.training:
        yield Gap("graph", f"{len(model.training)} training graphs are not documented")


def _missing(file: External) -> str:
    if file.reason:
        return f"are in a file that is not taken: {told(file.path)} {file.reason}"
    if file.nbytes is None:
        return f"in {told(file.path)} are absent: there is no such file beside the model"
    return f"are incomplete: {told(file.path)} has {file.nbytes:,} bytes, its tensors need {file.needed:,}"
