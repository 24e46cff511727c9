"""Default sizes that the graph accepts.

A picture of 224 x 224 or a sequence of 128 suits most models, not all: a text recogniser wants lines 48 high, a speech
encoder exactly 3,000 frames. Where nodes cannot run at the defaults, or a size has none, the usual sizes are tried in
turn, and sizes that the file's own weights have. What the user chose is never changed, and what is found is stated.
"""

from typing import Final

from onnx_autodoc.ir import Model
from onnx_autodoc.shapes._bind import Binding, Request, bind, inputs_of, open_axes
from onnx_autodoc.shapes._candidate_sizes import OTHERS, has_other, trials
from onnx_autodoc.shapes._index_bounds import misses
from onnx_autodoc.shapes._pass import resolve
from onnx_autodoc.shapes._roles import Role
from onnx_autodoc.shapes._shapes import Shapes
from onnx_autodoc.shapes._zero_dims import bears_out, empty_keys

_PICTURE: Final = 4  # dimensions
_MOST_WORK: Final = 60_000  # rules applied in trials, all together: a second or two


def fit(model: Model, request: Request) -> tuple[Binding, Shapes]:
    """The user's sizes and defaults that the graph accepts, and every shape under them."""
    binding, shapes = _at_its_word(model, request) or _fitted(model, request)
    told = _told_by_outputs(model, binding, shapes)
    if told:
        fuller = _with_sizes(model, binding, told, frozenset(told))
        found = resolve(model, fuller)
        if _trouble(found) <= _trouble(shapes):
            binding, shapes = fuller, found
    return _filled(model, binding, shapes)


def _at_its_word(model: Model, request: Request) -> tuple[Binding, Shapes] | None:
    """Sizes that are declared as 0 as they stand, where the file bears that out."""
    binding = bind(model, request)
    keys = empty_keys(model, binding)
    if not keys:
        return None
    empty = _with_sizes(model, binding, dict.fromkeys(keys, 0), frozenset(keys))
    found = resolve(model, empty)
    return (empty, found) if bears_out(model, found) else None


def _filled(model: Model, binding: Binding, shapes: Shapes) -> tuple[Binding, Shapes]:
    """Sizes that no node's output hangs on, like the channels of a picture: the first that no node minds.

    Not those of a table: what reads its columns by number minds nothing until it runs.
    """
    left, work = [item.key for item in open_axes(model) if item.key not in binding.chosen], shapes.work
    ranks = [len(value.type.dims or ()) if value.type else 0 for value in inputs_of(model)]
    for number in OTHERS if left and max(ranks, default=0) >= _PICTURE else ():
        if work > _MOST_WORK:
            break
        fuller = _with_sizes(model, binding, dict.fromkeys(left, number), binding.told.union(left))
        found = resolve(model, fuller)
        work += found.work
        if _trouble(found) <= _trouble(shapes):
            return fuller, found
    return binding, shapes


def _told_by_outputs(model: Model, binding: Binding, shapes: Shapes) -> dict[str, int]:
    """Sizes of named dimensions that no node needs, from outputs declared with the same names: a cache's width."""
    told: dict[str, int] = {}
    for value in model.graph.outputs:
        dims = shapes.values[value.name].shape if value.name in shapes.values else None
        names = value.type.dims if value.type else None
        if dims and names and len(dims) == len(names):
            told |= {name: dim for name, dim in zip(names, dims) if isinstance(name, str) and type(dim) is int}
    return {
        item.key: told[item.key] for item in open_axes(model) if item.key in told and item.key not in binding.chosen
    }


def _with_sizes(model: Model, binding: Binding, more: dict[str, int], told: frozenset[str]) -> Binding:
    items = [item for item in open_axes(model) if item.key in more]
    return Binding(
        {**binding.sizes, **more},
        {**binding.axes, **{(item.value.name, item.axis): more[item.key] for item in items}},
        binding.values,
        {**binding.chosen, **more},
        {**binding.defaults, **{item.key: item.role for item in items}},
        told,
    )


def _fitted(model: Model, request: Request) -> tuple[Binding, Shapes]:
    best = bind(model, request)
    shapes = resolve(model, best)
    if not _trouble(shapes) or not (best.defaults or has_other(model)):
        return best, shapes
    left, kept = _MOST_WORK - shapes.work, dict[Role, int]()  # what has helped so far
    for usual, is_usual in trials(model, best, shapes):
        if left <= 0 or not _trouble(shapes):
            break
        if not _may_help(usual, is_usual, _trouble(shapes), best):
            continue
        binding = bind(model, request, {**kept, **usual})
        found = resolve(model, binding)
        left -= found.work
        if _trouble(found) < _trouble(shapes):
            best, shapes, kept = binding, found, {**kept, **usual}
    return best, shapes


def _trouble(shapes: Shapes) -> tuple[int, ...]:
    """How badly it fits: nodes that cannot run, tables that end too early, nodes of the main graph not resolved, then
    branches that cannot run."""
    gaps = sum(1 for step in shapes.steps if step.gap)
    found = (len(shapes.contradictions), misses(shapes), gaps, len(shapes.avoided))
    return found if any(found) else ()


def _may_help(usual: dict[Role, int], is_usual: bool, trouble: tuple[int, ...], binding: Binding) -> bool:
    """Where all nodes run, what the data decides stays open at any size, and only what had no size needs one.

    A table that ends too early wants less. Where it runs, if not through every branch, an unusual size is no better.
    """
    cannot_run, missed, gaps, avoided = trouble
    less = all(usual.get(role, 0) <= binding.sizes[key] for key, role in binding.defaults.items())
    return bool(cannot_run or (missed and less) or (gaps and Role.OTHER in usual) or (avoided and is_usual))
