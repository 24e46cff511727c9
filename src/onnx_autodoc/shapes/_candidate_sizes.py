"""Sizes worth trying where the defaults do not fit: usual ones, those that failing nodes ask for, those of weights."""

from collections.abc import Iterator
from itertools import permutations
from typing import Final

from onnx_autodoc.ir import Model, all_graphs, label, tensors_of
from onnx_autodoc.ops import Known
from onnx_autodoc.shapes._bind import Binding, open_axes
from onnx_autodoc.shapes._index_bounds import missed
from onnx_autodoc.shapes._roles import Role
from onnx_autodoc.shapes._shapes import Shapes
from onnx_autodoc.text import told

_PICTURES: Final = (
    *((side, side) for side in (256, 320, 384, 416, 448, 512, 640, 1024, 299, 192, 160)),
    *((48, 320), (32, 320), (64, 320), (32, 100)),  # lines of text
    *((side, side) for side in (128, 112, 96, 64, 32, 28)),
)
_LENGTHS: Final = (512, 576, 256, 384, 1024, 64, 77, 32, 16, 3000, 1500, 16_000, 8, 1)
OTHERS: Final = (3, 1, 512, 576, 16_000)
_FROM_WEIGHTS: Final = 12
_FROM_NODES: Final = 16
_FEW: Final = 8  # elements of a list of sizes


def has_other(model: Model) -> bool:
    return any(item.role is Role.OTHER for item in open_axes(model))


def trials(model: Model, binding: Binding, shapes: Shapes) -> Iterator[tuple[dict[Role, int], bool]]:
    """Other sizes for the roles that have a default here, most usual first, and whether they are usual at all."""
    roles = set(binding.defaults.values())
    held = list(_weight_sizes(model))
    if Role.HEIGHT in roles or Role.WIDTH in roles:
        yield from (({Role.HEIGHT: height, Role.WIDTH: width}, True) for height, width in _PICTURES)
    for role in (Role.PAST, Role.SEQUENCE, Role.CONTEXT, Role.SAMPLES, Role.OTHER):
        if role in roles or (role is Role.OTHER and has_other(model)):
            # What failing nodes ask for comes second: where the first usual size will do, they only wanted more.
            first, *more = OTHERS if role is Role.OTHER else _LENGTHS
            numbers = (first, *_asked_sizes(shapes, binding, role), *more)
            yield from ((_sized(role, number, roles), True) for number in numbers)
            yield from ((_sized(role, number, roles), False) for number in held)


def _sized(role: Role, number: int, roles: set[Role]) -> dict[Role, int]:
    """A trial's size and what goes along: the past leaves room for a token, without one all sequences are alike."""
    if role is Role.PAST:
        return {Role.PAST: max(number - 1, 1), Role.TOTAL: max(number, 2)}
    alike = role is Role.SEQUENCE and Role.PAST not in roles
    return {Role.SEQUENCE: number, Role.CONTEXT: number} if alike else {role: number}


def _asked_sizes(shapes: Shapes, binding: Binding, role: Role) -> list[int]:
    """Sizes that nodes which cannot run want, and the default in their ratio: 3,000, where 128 gave 64 for 1,500."""
    default = next((binding.sizes[key] for key, taken in binding.defaults.items() if taken is role), 0)
    found: dict[int, None] = {}
    for step in shapes.steps:
        if missed(step) or (step.gap and f"{told(label(step.node, step.at))}: {step.gap}" in shapes.contradictions):
            wanted = {number for known in step.inputs if known is not None for number in _numbers(known) if number > 1}
            found |= dict.fromkeys(sorted(wanted, reverse=True))
            pairs = permutations(sorted(wanted), 2)
            found |= dict.fromkeys(default * one // two for one, two in pairs if default * one % two == 0)
        if len(found) >= _FROM_NODES:
            break
    return [number for number in found if number > 1][:_FROM_NODES]


def _numbers(known: Known) -> Iterator[int]:
    yield from (dim for dim in known.shape or () if type(dim) is int)
    if known.value is not None and known.value.size <= _FEW and known.value.dtype.kind == "i":
        yield from known.value.reshape(-1).tolist()


def _weight_sizes(model: Model) -> Iterator[int]:
    """Sizes of the file's first weights: what is multiplied with an input has its size somewhere."""
    seen: set[int] = set()
    for graph in all_graphs(model):
        for tensor in tensors_of(graph):
            for dim in tensor.dims[:2]:
                if dim > 1 and dim not in seen:
                    seen.add(dim)
                    yield dim
                    if len(seen) == _FROM_WEIGHTS:
                        return
