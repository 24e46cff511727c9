"""Unknown figures of a model and the reasons for them, as sentences for the card."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.analysis.figures import Figures
from onnx_autodoc.card import Gap
from onnx_autodoc.ir import Model, is_integer
from onnx_autodoc.shapes import Binding, Shapes, exclude_subjects, required_inputs
from onnx_autodoc.text import pluralize, quote_name

_MAX_NAMED_FILES: Final = 20
_MAX_NAMED_SIZES: Final = 3


def gaps(
    model: Model,
    binding: Binding,
    shapes: tuple[Shapes, Shapes],
    reasons: Counter[str],
    figures: Figures,
    doubtful: tuple[str, ...] = (),
) -> Iterator[Gap]:
    """Yield the gaps. `shapes` are those at the sizes of the card, and those that hold at any size."""
    yield from _shape_gaps(shapes[0], reasons)
    yield from _contradictions(binding, *shapes)
    yield from _unbound_numbers(model, binding) if reasons else ()
    for (op, why), missing in figures.costs.total.missing.items():
        nodes = f"{missing.count:,} {quote_name(op)} node{'s' * (missing.count != 1)}"
        yield Gap("compute", f"the cost of {nodes} is unknown: {why}")
    for why, count in figures.costs.total.unmoved.items():
        if why not in reasons:
            yield Gap("compute", f"the bytes moved by {count:,} node{'s' * (count != 1)} are unknown: {why}")
    yield from _file_gaps(model)
    if doubtful:
        tensors = pluralize(len(doubtful), "malformed tensor is", "malformed tensors are")
        yield Gap("parameters", f"{tensors} not counted: {doubtful[0]:.300}")


def count_resolved(shapes: Shapes) -> tuple[int, int, Counter[str]]:
    """Return the node outputs with known dims, all node outputs, and the reasons for the difference.

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
            if not step.gap:  # all outputs are known
                count = len(step.outputs) - step.node.outputs[: len(step.outputs)].count("")
                resolved, outputs = resolved + count, outputs + count
                continue
            named = [output for name, output in zip(step.node.outputs, step.outputs) if name]
            known = sum(output.kind != "tensor" or output.concrete is not None for output in named)
            resolved += known
            outputs += len(named)
            if known < len(named):
                reasons[step.gap] += 1
    return resolved, outputs, reasons


def _shape_gaps(shapes: Shapes, reasons: Counter[str]) -> Iterator[Gap]:
    for reason, count in reasons.most_common():
        yield Gap("graph", f"the shapes of {count:,} node{'s' * (count != 1)} are unknown: {reason}")
    if shapes.assumed:
        names = ", ".join(map(quote_name, shapes.assumed[:3])) + (" …" if len(shapes.assumed) > 3 else "")
        declared = pluralize(len(shapes.assumed), "shape is", "shapes are")
        yield Gap("graph", f"{declared} declared by the file and not checked by any rule: {names}")


def _contradictions(binding: Binding, shapes: Shapes, unbound: Shapes) -> Iterator[Gap]:
    """Yield conflicts in the file. Only one at any size is the file's fault: an assumed size may be the wrong one."""
    for conflict in (*unbound.contradictions, *unbound.misdeclared):
        yield Gap("graph", f"the file is inconsistent: {conflict.sentence}")
    for conflict in exclude_subjects(shapes.contradictions, unbound.contradictions):
        yield Gap(
            "graph", f"{_format_sizes(binding)} a node cannot run: {conflict.sentence}; set other sizes with --dim"
        )
    for conflict in exclude_subjects(shapes.misdeclared, unbound.misdeclared):
        yield Gap("graph", f"{_format_sizes(binding)} {conflict.sentence}; set other sizes with --dim")


def _format_sizes(binding: Binding) -> str:
    """Format the sizes that were assumed, or else all that were requested."""
    sizes: dict[str, int | float] = {key: binding.chosen[key] for key in binding.defaults}
    if not sizes:
        single = {name: array.reshape(-1).tolist()[0] for name, array in binding.values.items()}
        sizes = {**binding.chosen, **single}
    listed = ", ".join(f"{quote_name(key)} = {size}" for key, size in list(sizes.items())[:_MAX_NAMED_SIZES])
    more = " …" if len(sizes) > _MAX_NAMED_SIZES else ""
    return f"at the {'assumed sizes' if binding.defaults else 'requested sizes'} ({listed}{more})"


def _unbound_numbers(model: Model, binding: Binding) -> Iterator[Gap]:
    """Yield the inputs of one integer or boolean without a value: a size, an index or a condition may depend on it."""
    for value in required_inputs(model):
        declared = value.type
        if declared is None or declared.dims is None or not set(declared.dims) <= {1} or value.name in binding.values:
            continue
        if declared.dtype == "bool" or is_integer(declared.dtype):
            name = quote_name(value.name)
            yield Gap("graph", f"the single-element input {name} may determine sizes; set it with --value {name}=N")


def _file_gaps(model: Model) -> Iterator[Gap]:
    missing = [file for file in model.external if file.nbytes is None or file.nbytes < file.required_bytes]
    for file in missing[:_MAX_NAMED_FILES]:
        path = quote_name(file.path)
        if file.reason:
            problem = f"in {path} are not read: the file {file.reason}"
        elif file.nbytes is None:
            problem = f"in {path} are missing: file not found"
        else:
            sizes = f"the file has {file.nbytes:,} bytes, but its tensors need {file.required_bytes:,}"
            problem = f"in {path} are incomplete: {sizes}"
        yield Gap("model", f"the weights {problem}")
    if len(missing) > _MAX_NAMED_FILES:
        count = len(missing) - _MAX_NAMED_FILES
        files = pluralize(count, "more weight file is", "more weight files are")
        yield Gap("model", f"{files} missing, incomplete or not read")
    if model.training:
        graphs = pluralize(len(model.training), "training graph is", "training graphs are")
        yield Gap("graph", f"{graphs} not documented")
