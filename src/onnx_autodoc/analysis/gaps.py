"""Unknown figures of a model and the reasons for them, as sentences for the card."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.analysis.figures import Figures
from onnx_autodoc.card import Gap
from onnx_autodoc.ir import ExternalData, Model, Value, is_integer
from onnx_autodoc.shapes import Binding, Shapes, exclude_subjects, required_inputs
from onnx_autodoc.text import quote_name

_NAMED: Final = 20  # files
_LISTED: Final = 3  # sizes


def gaps(
    model: Model,
    binding: Binding,
    shapes: tuple[Shapes, Shapes],
    reasons: Counter[str],
    figures: Figures,
    doubtful: tuple[str, ...] = (),
) -> Iterator[Gap]:
    """`shapes` are those at the sizes of the card, and those that hold at any size."""
    yield from _shape_gaps(shapes[0], reasons)
    yield from _contradictions(binding, *shapes)
    yield from _steering(model, binding, reasons)
    for (op, why), missing in figures.costs.total.missing.items():
        nodes = f"{missing.count:,} {quote_name(op)} node{'s' * (missing.count != 1)}"
        yield Gap("compute", f"the cost of {nodes} is not known: {why}")
    for why, count in figures.costs.total.unmoved.items():
        if why not in reasons:
            yield Gap("compute", f"the bytes that {count:,} node{'s' * (count != 1)} move are not known: {why}")
    yield from _file_gaps(model)
    if doubtful:
        tensors = "a tensor is" if len(doubtful) == 1 else f"{len(doubtful):,} tensors are"
        yield Gap("parameters", f"{tensors} not counted, as the file contradicts itself: {doubtful[0]:.300}")


def count_resolved(shapes: Shapes) -> tuple[int, int, Counter[str]]:
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
    if shapes.assumed:
        names = ", ".join(map(quote_name, shapes.assumed[:3])) + (" …" if len(shapes.assumed) > 3 else "")
        yield Gap("graph", f"{len(shapes.assumed):,} shapes are the file's own claim, no rule checks them: {names}")


def _contradictions(binding: Binding, shapes: Shapes, unbound: Shapes) -> Iterator[Gap]:
    """Only what is wrong at any size is the file's own: a size that was assumed may be the wrong one."""
    for conflict in (*unbound.contradictions, *unbound.misdeclared):
        yield Gap("graph", f"the file contradicts itself: {conflict.sentence}")
    for conflict in exclude_subjects(shapes.contradictions, unbound.contradictions):
        yield Gap("graph", f"{_sizes(binding)} a node cannot run: {conflict.sentence}; --dim sets other sizes")
    for conflict in exclude_subjects(shapes.misdeclared, unbound.misdeclared):
        yield Gap("graph", f"{_sizes(binding)} {conflict.sentence}; --dim sets other sizes")


def _sizes(binding: Binding) -> str:
    """The sizes that were assumed, or else all that were asked for."""
    taken: dict[str, int | float] = {key: binding.chosen[key] for key in binding.defaults}
    taken = taken or {**binding.chosen, **_single(binding)}
    listed = ", ".join(f"{quote_name(key)} = {size}" for key, size in list(taken.items())[:_LISTED])
    more = " …" if len(taken) > _LISTED else ""
    return f"at the {'assumed sizes' if binding.defaults else 'sizes asked for'} ({listed}{more})"


def _single(binding: Binding) -> dict[str, int | float]:
    return {name: array.reshape(-1).tolist()[0] for name, array in binding.values.items()}


def _steering(model: Model, binding: Binding, reasons: Counter[str]) -> Iterator[Gap]:
    """Single numbers that nobody gave, where something is not known: one of them may be what decides it."""
    for value in required_inputs(model) if reasons else ():
        if _steers(value) and value.name not in binding.values:
            yield Gap(
                "graph",
                f"the input {quote_name(value.name)} is one number that may decide sizes: "
                f"give it with --value {quote_name(value.name)}=N",
            )


def _steers(value: Value) -> bool:
    """Sizes, indices and conditions are whole numbers and truths."""
    said = value.type
    if said is None or said.dims is None or not set(said.dims) <= {1}:
        return False
    return said.dtype == "bool" or is_integer(said.dtype)


def _file_gaps(model: Model) -> Iterator[Gap]:
    missing = [file for file in model.external if file.nbytes is None or file.nbytes < file.required_bytes]
    for file in missing[:_NAMED]:
        yield Gap("model", f"the weights {_missing(file)}")
    if len(missing) > _NAMED:
        yield Gap("model", f"and {len(missing) - _NAMED:,} more files with weights are absent, incomplete or not taken")
    if model.training:
        yield Gap("graph", f"{len(model.training)} training graphs are not documented")


def _missing(file: ExternalData) -> str:
    if file.reason:
        return f"are in a file that is not taken: {quote_name(file.path)} {file.reason}"
    if file.nbytes is None:
        return f"in {quote_name(file.path)} are absent: there is no such file beside the model"
    return (
        f"are incomplete: {quote_name(file.path)} has {file.nbytes:,} bytes, its tensors need {file.required_bytes:,}"
    )
