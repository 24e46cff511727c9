"""Default sizes that the graph accepts.

An image of 224 x 224 or a sequence of 128 suits most models, not all: a text recognizer needs lines 48 high, a speech
encoder exactly 3,000 frames. Where nodes cannot run at the defaults, or a dimension has none, usual sizes are tried in
turn, and sizes of the file's weights. Requested sizes are never changed, and the card states the chosen ones.

Some exporters declare a dynamic size as 0, and some files mean 0. The size 0 is kept where the file confirms it: every
node runs, and every output is declared as it is then inferred.
"""

from typing import Final

from onnx_autodoc.ir import Model, Value
from onnx_autodoc.ops import ValueInfo
from onnx_autodoc.shapes.binding import Binding, bind
from onnx_autodoc.shapes.candidate_sizes import OTHER_SIZES, candidate_sizes, has_other
from onnx_autodoc.shapes.dynamic_axes import DynamicAxis, dynamic_axes, required_inputs
from onnx_autodoc.shapes.index_bounds import count_out_of_bounds
from onnx_autodoc.shapes.inference import infer_shapes
from onnx_autodoc.shapes.request import Request
from onnx_autodoc.shapes.results import Shapes
from onnx_autodoc.shapes.roles import Role

_IMAGE_RANK: Final = 4
_MAX_TRIAL_WORK: Final = 60_000  # rules applied in all trials: a second or two


def bind_and_infer(model: Model, request: Request) -> tuple[Binding, Shapes]:
    """Bind to the requested sizes and to defaults that the graph accepts, and infer all shapes."""
    binding, shapes = _keep_zero_dims(model, request) or _try_sizes(model, request)
    determined = _sizes_from_outputs(model, binding, shapes)
    if determined:
        fuller = _with_sizes(model, binding, determined, frozenset(determined))
        found = infer_shapes(model, fuller, shapes.calls)
        if _misfit(found) <= _misfit(shapes):
            binding, shapes = fuller, found
    return _fill_unused(model, binding, shapes)


def _keep_zero_dims(model: Model, request: Request) -> tuple[Binding, Shapes] | None:
    """Bind sizes that are declared as 0 to 0; return None if the file does not confirm that."""
    binding = bind(model, request)
    keys = _zero_keys(model, binding)
    if not keys:
        return None
    empty = _with_sizes(model, binding, dict.fromkeys(keys, 0), frozenset(keys))
    found = infer_shapes(model, empty)
    return (empty, found) if _confirms_zero(model, found) else None


def _fill_unused(model: Model, binding: Binding, shapes: Shapes) -> tuple[Binding, Shapes]:
    """Bind sizes that no output depends on, like the channels of an image, to the first one at which all nodes run.

    Only for images: nodes that select columns of a table by number accept any size until they run.
    """
    left, work = [item.key for item in dynamic_axes(model) if item.key not in binding.chosen], shapes.work
    ranks = [len(value.type.dims or ()) if value.type else 0 for value in required_inputs(model)]
    for number in OTHER_SIZES if left and max(ranks, default=0) >= _IMAGE_RANK else ():
        if work > _MAX_TRIAL_WORK:
            break
        fuller = _with_sizes(model, binding, dict.fromkeys(left, number), binding.determined.union(left))
        found = infer_shapes(model, fuller, shapes.calls)
        work += found.work
        if _misfit(found) <= _misfit(shapes):
            return fuller, found
    return binding, shapes


def _sizes_from_outputs(model: Model, binding: Binding, shapes: Shapes) -> dict[str, int]:
    """Return sizes of named dimensions from inferred outputs that are declared with the same names."""
    sizes: dict[str, int] = {}
    for value in model.graph.outputs:
        dims = shapes.values[value.name].shape if value.name in shapes.values else None
        names = value.type.dims if value.type else None
        if dims and names and len(dims) == len(names):
            sizes |= {name: dim for name, dim in zip(names, dims) if isinstance(name, str) and type(dim) is int}
    return {
        item.key: sizes[item.key]
        for item in dynamic_axes(model)
        if item.key in sizes and item.key not in binding.chosen
    }


def _with_sizes(model: Model, binding: Binding, more: dict[str, int], determined: frozenset[str]) -> Binding:
    items = [item for item in dynamic_axes(model) if item.key in more]
    return Binding(
        {**binding.sizes, **more},
        {**binding.axes, **{(item.value.name, item.axis): more[item.key] for item in items}},
        binding.values,
        {**binding.chosen, **more},
        {**binding.defaults, **{item.key: item.role for item in items}},
        determined,
    )


def _try_sizes(model: Model, request: Request) -> tuple[Binding, Shapes]:
    best = bind(model, request)
    shapes = infer_shapes(model, best)
    if not _misfit(shapes) or not (best.defaults or has_other(model)):
        return best, shapes
    left, kept = _MAX_TRIAL_WORK - shapes.work, dict[Role, int]()  # sizes that reduced the misfit
    for usual, is_usual in candidate_sizes(model, best, shapes):
        if left <= 0 or not _misfit(shapes):
            break
        if not _can_help(usual, is_usual, _misfit(shapes), best):
            continue
        binding = bind(model, request, {**kept, **usual})
        found = infer_shapes(model, binding, shapes.calls)
        left -= found.work
        if _misfit(found) < _misfit(shapes):
            best, shapes, kept = binding, found, {**kept, **usual}
    return best, shapes


def _misfit(shapes: Shapes) -> tuple[int, ...]:
    """Count nodes that cannot run, indices out of bounds, nodes with unknown shapes, and branches that cannot run.

    Empty if there are none. Smaller is better.
    """
    gaps = sum(1 for step in shapes.steps if step.gap)
    found = (len(shapes.contradictions), count_out_of_bounds(shapes), gaps, len(shapes.avoided))
    return found if any(found) else ()


def _can_help(usual: dict[Role, int], is_usual: bool, misfit: tuple[int, ...], binding: Binding) -> bool:
    """Whether other sizes can reduce the misfit.

    Where all nodes run, only dimensions without a size need one. Indices out of bounds need smaller sizes. Where only
    some branches cannot run, an unusual size is no improvement.
    """
    cannot_run, out_of_bounds, gaps, avoided = misfit
    less = all(usual.get(role, 0) <= binding.sizes[key] for key, role in binding.defaults.items())
    return bool(cannot_run or (out_of_bounds and less) or (gaps and Role.OTHER in usual) or (avoided and is_usual))


def _zero_keys(model: Model, binding: Binding) -> list[str]:
    """Return the dimensions that are declared as 0; none if a size was requested for one of them."""
    keys = [item.key for item in dynamic_axes(model) if _is_zero(item)]
    return keys if all(key in binding.defaults or key not in binding.chosen for key in keys) else []


def _is_zero(item: DynamicAxis) -> bool:
    dims = (item.value.type.dims if item.value.type else None) or ()
    return dims[item.axis] == 0


def _confirms_zero(model: Model, shapes: Shapes) -> bool:
    if shapes.contradictions or shapes.misdeclared:
        return False
    return all(_is_declared_empty(value, shapes.values.get(value.name)) for value in model.graph.outputs)


def _is_declared_empty(value: Value, known: ValueInfo | None) -> bool:
    """Whether an output that is inferred as empty is declared so."""
    declared = value.type.dims if value.type else None
    if known is None or known.shape is None or declared is None:
        return False
    return 0 in declared or not any(type(dim) is int and dim == 0 for dim in known.shape)
