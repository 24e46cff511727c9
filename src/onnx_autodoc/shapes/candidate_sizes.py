"""Sizes to try where the defaults do not fit: usual ones, those that failing nodes require, those of weights."""

from collections.abc import Iterator
from itertools import permutations
from typing import Final

from onnx_autodoc.ir import Model
from onnx_autodoc.ops import ValueInfo
from onnx_autodoc.shapes.binding import Binding
from onnx_autodoc.shapes.dynamic_axes import dynamic_axes
from onnx_autodoc.shapes.index_bounds import is_out_of_bounds
from onnx_autodoc.shapes.results import Shapes
from onnx_autodoc.shapes.roles import Role

_IMAGE_SIZES: Final = (
    *((side, side) for side in (256, 320, 384, 416, 448, 512, 640, 1024, 299, 192, 160)),
    *((48, 320), (32, 320), (64, 320), (32, 100)),  # lines of text
    *((side, side) for side in (128, 112, 96, 64, 32, 28)),
)
_SEQUENCE_LENGTHS: Final = (512, 576, 256, 384, 1024, 64, 77, 32, 16, 3000, 1500, 16_000, 8, 1)
OTHER_SIZES: Final = (3, 1, 512, 576, 16_000)
_MAX_WEIGHT_SIZES: Final = 12
_MAX_NODE_SIZES: Final = 16
_MAX_LISTED_SIZES: Final = 8  # elements of an integer tensor


def has_other(model: Model) -> bool:
    return any(item.role is Role.OTHER for item in dynamic_axes(model))


def candidate_sizes(model: Model, binding: Binding, shapes: Shapes) -> Iterator[tuple[dict[Role, int], bool]]:
    """Yield other sizes for the roles that have a default, most usual first, and whether they are usual."""
    roles = set(binding.defaults.values())
    held = list(_weight_sizes(model))
    if Role.HEIGHT in roles or Role.WIDTH in roles:
        yield from (({Role.HEIGHT: height, Role.WIDTH: width}, True) for height, width in _IMAGE_SIZES)
    for role in (Role.PAST, Role.SEQUENCE, Role.CONTEXT, Role.SAMPLES, Role.OTHER):
        if role in roles or (role is Role.OTHER and has_other(model)):
            # Sizes from failing nodes come second: where the first usual size fits, they only needed a larger one.
            first, *more = OTHER_SIZES if role is Role.OTHER else _SEQUENCE_LENGTHS
            numbers = (first, *_required_sizes(shapes, binding, role), *more)
            yield from ((_role_sizes(role, number, roles), True) for number in numbers)
            yield from ((_role_sizes(role, number, roles), False) for number in held)


def _role_sizes(role: Role, number: int, roles: set[Role]) -> dict[Role, int]:
    """Return a size with those it implies: a total has one new token; without a past all sequences are equal."""
    if role is Role.PAST:
        return {Role.PAST: max(number - 1, 1), Role.TOTAL: max(number, 2)}
    alike = role is Role.SEQUENCE and Role.PAST not in roles
    return {Role.SEQUENCE: number, Role.CONTEXT: number} if alike else {role: number}


def _required_sizes(shapes: Shapes, binding: Binding, role: Role) -> list[int]:
    """Return sizes at failing nodes, and the default scaled by their ratios: 3,000 where 128 gave 64, not 1,500."""
    default = next((binding.sizes[key] for key, taken in binding.defaults.items() if taken is role), 0)
    failing = {(conflict.subject, conflict.reason) for conflict in shapes.contradictions}
    found: dict[int, None] = {}
    for step in shapes.steps:
        if is_out_of_bounds(step) or (step.gap and (step.node.label(step.at), step.gap) in failing):
            sizes = {number for known in step.inputs if known is not None for number in _numbers(known) if number > 1}
            found |= dict.fromkeys(sorted(sizes, reverse=True))
            pairs = permutations(sorted(sizes), 2)
            found |= dict.fromkeys(default * one // two for one, two in pairs if default * one % two == 0)
        if len(found) >= _MAX_NODE_SIZES:
            break
    return [number for number in found if number > 1][:_MAX_NODE_SIZES]


def _numbers(known: ValueInfo) -> Iterator[int]:
    yield from (dim for dim in known.shape or () if type(dim) is int)
    if known.value is not None and known.value.size <= _MAX_LISTED_SIZES and known.value.dtype.kind == "i":
        yield from known.value.reshape(-1).tolist()


def _weight_sizes(model: Model) -> Iterator[int]:
    """Yield sizes of the file's first weights: a weight that is multiplied with an input has its size."""
    seen: set[int] = set()
    for graph in model.all_graphs:
        for tensor in graph.tensors():
            for dim in tensor.dims[:2]:
                if dim > 1 and dim not in seen:
                    seen.add(dim)
                    yield dim
                    if len(seen) == _MAX_WEIGHT_SIZES:
                        return
