"""Default sizes that the graph accepts.

An image of 224 x 224 or a sequence of 128 suits most models, not all: a text recognizer needs lines 48 high, a speech
encoder exactly 3,000 frames. Where nodes cannot run at the defaults, or a dimension has none, usual sizes are tried in
turn, then those that failing nodes require, and those of weights. Requested sizes are never changed, and the card
states the chosen ones.

Some exporters declare a dynamic size as 0, and some files mean 0. The size 0 is used if the file confirms it: every
node runs, and every output is declared as it is then inferred.
"""

from collections.abc import Iterator
from itertools import islice, permutations
from typing import Final

from onnx_autodoc.ir import Model
from onnx_autodoc.ops import ValueInfo
from onnx_autodoc.shapes.binding import Binding, bind
from onnx_autodoc.shapes.dynamic_axes import Role, declared_dims, dynamic_axes, required_inputs
from onnx_autodoc.shapes.index_bounds import count_out_of_bounds, is_out_of_bounds
from onnx_autodoc.shapes.inference import infer_shapes
from onnx_autodoc.shapes.request import Request
from onnx_autodoc.shapes.results import Shapes

_IMAGE_RANK: Final = 4
_IMAGE_SIZES: Final = (
    *((side, side) for side in (256, 320, 384, 416, 448, 512, 640, 1024, 299, 192, 160)),
    *((48, 320), (32, 320), (64, 320), (32, 100)),  # lines of text
    *((side, side) for side in (128, 112, 96, 64, 32, 28)),
)
_SEQUENCE_LENGTHS: Final = (512, 576, 256, 384, 1024, 64, 77, 32, 16, 3000, 1500, 16_000, 8, 1)
_OTHER_SIZES: Final = (3, 1, 512, 576, 16_000)
_MAX_TRIAL_WORK: Final = 60_000  # rules applied, inputs and outputs read in all trials: a second or two
_MAX_WEIGHT_SIZES: Final = 12
_MAX_NODE_SIZES: Final = 16
_MAX_LISTED_SIZES: Final = 8  # elements of an integer tensor


def bind_and_infer(model: Model, request: Request) -> tuple[Binding, Shapes]:
    """Bind to the requested sizes and to defaults that the graph accepts, and infer all shapes."""
    binding, shapes = _try_zero_dims(model, request) or _try_sizes(model, request)
    determined = _sizes_from_outputs(model, binding, shapes)
    if determined:
        fuller = _with_sizes(model, binding, determined, frozenset(determined))
        trial = infer_shapes(model, fuller, shapes.calls)
        if _misfit(trial) <= _misfit(shapes):
            binding, shapes = fuller, trial
    return _fill_unused(model, binding, shapes)


def _try_zero_dims(model: Model, request: Request) -> tuple[Binding, Shapes] | None:
    """Bind sizes that are declared as 0 to 0; return None if the file does not confirm that, or one was requested."""
    binding = bind(model, request)
    keys = [item.key for item in dynamic_axes(model) if (declared_dims(item.value) or ())[item.axis] == 0]
    if not keys or any(key in binding.chosen and key not in binding.defaults for key in keys):
        return None
    empty = _with_sizes(model, binding, dict.fromkeys(keys, 0), frozenset(keys))
    shapes = infer_shapes(model, empty)
    if shapes.contradictions or shapes.misdeclared:
        return None
    for value in model.graph.outputs:
        known, declared = shapes.values.get(value.name), declared_dims(value)
        if known is None or known.shape is None or declared is None:
            return None
        if 0 not in declared and any(type(dim) is int and dim == 0 for dim in known.shape):
            return None
    return empty, shapes


def _fill_unused(model: Model, binding: Binding, shapes: Shapes) -> tuple[Binding, Shapes]:
    """Bind sizes that no output depends on, like the channels of an image, to the first one at which all nodes run.

    Only for images: nodes that select columns of a table by number accept any size until they run.
    """
    left, work = [item.key for item in dynamic_axes(model) if item.key not in binding.chosen], _work_of(model, shapes)
    ranks = [len(declared_dims(value) or ()) for value in required_inputs(model)]
    for size in _OTHER_SIZES if left and max(ranks, default=0) >= _IMAGE_RANK else ():
        if work > _MAX_TRIAL_WORK:
            break
        fuller = _with_sizes(model, binding, dict.fromkeys(left, size), binding.determined.union(left))
        trial = infer_shapes(model, fuller, shapes.calls)
        work += _work_of(model, trial)
        if _misfit(trial) <= _misfit(shapes):
            return fuller, trial
    return binding, shapes


def _sizes_from_outputs(model: Model, binding: Binding, shapes: Shapes) -> dict[str, int]:
    """Return sizes of named dimensions from inferred outputs that are declared with the same names."""
    sizes: dict[str, int] = {}
    for value in model.graph.outputs:
        dims = shapes.values[value.name].shape if value.name in shapes.values else None
        names = declared_dims(value)
        if dims and names and len(dims) == len(names):
            sizes |= {name: dim for name, dim in zip(names, dims) if isinstance(name, str) and type(dim) is int}
    unbound = [item.key for item in dynamic_axes(model) if item.key not in binding.chosen]
    return {key: sizes[key] for key in unbound if key in sizes}


def _with_sizes(model: Model, binding: Binding, sizes: dict[str, int], determined: frozenset[str]) -> Binding:
    axes = [item for item in dynamic_axes(model) if item.key in sizes]
    return Binding(
        {**binding.sizes, **sizes},
        {**binding.axes, **{item.place: sizes[item.key] for item in axes}},
        binding.values,
        {**binding.chosen, **sizes},
        {**binding.defaults, **{item.key: item.role for item in axes}},
        determined,
    )


def _try_sizes(model: Model, request: Request) -> tuple[Binding, Shapes]:
    best = bind(model, request)
    shapes = infer_shapes(model, best)
    has_other = any(item.role is Role.OTHER for item in dynamic_axes(model))
    if not _misfit(shapes) or not (best.defaults or has_other):
        return best, shapes
    left, accepted = _MAX_TRIAL_WORK - _work_of(model, shapes), dict[Role, int]()  # sizes that reduced the misfit
    for sizes, is_usual in _candidate_sizes(model, best, shapes, has_other):
        if left <= 0 or not _misfit(shapes):
            break
        if not _can_help(sizes, is_usual, _misfit(shapes), best):
            continue
        binding = bind(model, request, {**accepted, **sizes})
        trial = infer_shapes(model, binding, shapes.calls)
        left -= _work_of(model, trial)
        if _misfit(trial) < _misfit(shapes):
            best, shapes, accepted = binding, trial, {**accepted, **sizes}
    return best, shapes


def _work_of(model: Model, shapes: Shapes) -> int:
    return shapes.work + model.graph.port_count


def _misfit(shapes: Shapes) -> tuple[int, ...]:
    """Count nodes that cannot run, indices out of bounds, nodes with unknown shapes, and branches that cannot run.

    Empty if there are none. Smaller is better.
    """
    gaps = sum(1 for step in shapes.steps if step.gap)
    counts = (len(shapes.contradictions), count_out_of_bounds(shapes), gaps, len(shapes.avoided))
    return counts if any(counts) else ()


def _can_help(sizes: dict[Role, int], is_usual: bool, misfit: tuple[int, ...], binding: Binding) -> bool:
    """Whether other sizes can reduce the misfit.

    Where all nodes run, only dimensions without a size need one. Indices out of bounds need smaller sizes. Where only
    some branches cannot run, an unusual size is no improvement.
    """
    cannot_run, out_of_bounds, gaps, avoided = misfit
    is_smaller = all(sizes.get(role, 0) <= binding.sizes[key] for key, role in binding.defaults.items())
    return bool(
        cannot_run or (out_of_bounds and is_smaller) or (gaps and Role.OTHER in sizes) or (avoided and is_usual)
    )


def _candidate_sizes(
    model: Model, binding: Binding, shapes: Shapes, has_other: bool
) -> Iterator[tuple[dict[Role, int], bool]]:
    """Yield other sizes for the roles that have a default, most usual first, and whether they are usual."""
    roles = set(binding.defaults.values())
    weight_sizes = list(islice(_weight_sizes(model), _MAX_WEIGHT_SIZES))
    if Role.HEIGHT in roles or Role.WIDTH in roles:
        yield from (({Role.HEIGHT: height, Role.WIDTH: width}, True) for height, width in _IMAGE_SIZES)
    for role in (Role.PAST, Role.SEQUENCE, Role.CONTEXT, Role.SAMPLES, Role.OTHER):
        if role in roles or (role is Role.OTHER and has_other):
            # Sizes from failing nodes come second: where the first usual size fits, they only needed a larger one.
            first, *more = _OTHER_SIZES if role is Role.OTHER else _SEQUENCE_LENGTHS
            sizes = (first, *_required_sizes(shapes, binding, role), *more)
            yield from ((_role_sizes(role, size, roles), True) for size in sizes)
            yield from ((_role_sizes(role, size, roles), False) for size in weight_sizes)


def _role_sizes(role: Role, size: int, roles: set[Role]) -> dict[Role, int]:
    """Return a size with those it implies: a total has one new token; without a past all sequences are equal."""
    if role is Role.PAST:
        return {Role.PAST: max(size - 1, 1), Role.TOTAL: max(size, 2)}
    is_shared = role is Role.SEQUENCE and Role.PAST not in roles
    return {Role.SEQUENCE: size, Role.CONTEXT: size} if is_shared else {role: size}


def _required_sizes(shapes: Shapes, binding: Binding, role: Role) -> list[int]:
    """Return sizes at failing nodes, and the default scaled by their ratios: 3,000 where 128 gave 64, not 1,500."""
    default = next((binding.sizes[key] for key, default_role in binding.defaults.items() if default_role is role), 0)
    failing = {(conflict.subject, conflict.reason) for conflict in shapes.contradictions}
    required: dict[int, None] = {}
    for step in shapes.steps:
        if is_out_of_bounds(step) or (step.gap and (step.node.label(step.at), step.gap) in failing):
            sizes = {size for known in step.inputs if known is not None for size in _sizes_in(known) if size > 1}
            required |= dict.fromkeys(sorted(sizes, reverse=True))
            pairs = permutations(sorted(sizes), 2)
            required |= dict.fromkeys(default * one // two for one, two in pairs if default * one % two == 0)
        if len(required) >= _MAX_NODE_SIZES:
            break
    return [size for size in required if size > 1][:_MAX_NODE_SIZES]


def _sizes_in(known: ValueInfo) -> Iterator[int]:
    yield from (dim for dim in known.shape or () if type(dim) is int)
    if known.value is not None and known.value.size <= _MAX_LISTED_SIZES and known.value.dtype.kind == "i":
        yield from known.value.reshape(-1).tolist()


def _weight_sizes(model: Model) -> Iterator[int]:
    """Yield the sizes of the file's weights: a weight that is multiplied with an input has its size."""
    seen: set[int] = set()
    for graph in model.all_graphs:
        for tensor in graph.tensors():
            for dim in tensor.dims[:2]:
                if dim > 1 and dim not in seen:
                    seen.add(dim)
                    yield dim
