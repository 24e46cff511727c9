"""Default sizes that the graph accepts.

A picture of 224 x 224 or a sequence of 128 suits most models, not all: a text recogniser wants lines 48 high, a speech
encoder exactly 3,000 frames. Where nodes cannot run at the defaults, or a size has none, the usual sizes are tried in
turn, and sizes that the file's own weights have. What the user chose is never changed, and what is found is stated.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.graph import Model, all_graphs, tensors_of
from onnx_autodoc.resolve._bind import Binding, Request, bind, open_axes
from onnx_autodoc.resolve._pass import resolve
from onnx_autodoc.resolve._roles import Role
from onnx_autodoc.resolve._shapes import Shapes

_PICTURES: Final = (
    *((side, side) for side in (256, 320, 384, 416, 448, 512, 640, 1024, 299, 192, 160)),
    *((48, 320), (32, 320), (64, 320), (32, 100)),  # lines of text
    *((side, side) for side in (128, 112, 96, 64, 32, 28)),
)
_LENGTHS: Final = (512, 576, 256, 384, 1024, 64, 77, 32, 16, 3000, 1500, 16_000, 8, 1)
_OTHERS: Final = (3, 1, 512, 576, 16_000)
_FROM_WEIGHTS: Final = 12
_MOST_NODES: Final = 200_000  # resolved in trials, all together


def fit(model: Model, request: Request) -> tuple[Binding, Shapes]:
    """The user's sizes and defaults that the graph accepts, and every shape under them."""
    best = bind(model, request)
    shapes = resolve(model, best)
    if not _trouble(shapes) or not (best.defaults or _has_other(model)):
        return best, shapes
    left = _MOST_NODES
    for usual in _trials(model, best):
        left -= len(model.graph.nodes)
        if left < 0 or not _trouble(shapes):
            break
        binding = bind(model, request, usual)
        found = resolve(model, binding)
        if _trouble(found) < _trouble(shapes):
            best, shapes = binding, found
    return best, shapes


def _trouble(shapes: Shapes) -> tuple[int, ...]:
    """How badly a binding fits: nodes that cannot run, then nodes of the main graph that are not resolved."""
    gaps = sum(1 for step in shapes.steps if step.gap)
    return (len(shapes.contradictions), gaps) if shapes.contradictions or gaps else ()


def _has_other(model: Model) -> bool:
    return any(item.role is Role.OTHER for item in open_axes(model))


def _trials(model: Model, binding: Binding) -> Iterator[dict[Role, int]]:
    """Other sizes for the roles that have a default here, most usual first."""
    roles = set(binding.defaults.values())
    held = list(_weight_sizes(model))
    if Role.HEIGHT in roles or Role.WIDTH in roles:
        yield from ({Role.HEIGHT: height, Role.WIDTH: width} for height, width in _PICTURES)
    if Role.SEQUENCE in roles:
        yield from ({Role.SEQUENCE: length} for length in (*_LENGTHS, *held))
    if Role.SAMPLES in roles:
        yield from ({Role.SAMPLES: length} for length in (*_LENGTHS, *held))
    if _has_other(model):
        yield from ({Role.OTHER: number} for number in (*_OTHERS, *held))


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
