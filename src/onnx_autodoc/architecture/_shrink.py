"""So few boxes that a person takes them in: neighbours are joined until they are."""

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from onnx_autodoc.architecture._diagram_groups import Group, Sketch
from onnx_autodoc.architecture._fold import chains

_ROUNDS: Final = 24  # each can halve the groups that stand in a row
_WORK: Final = 500_000  # terms looked at in more of them: branches side by side lose one group in each round


def shrink(sketch: Sketch, most: int, weight: Callable[[Group], int]) -> None:
    """`weight` says how much a group matters: those that matter least are joined first.

    In rounds, as long as the last one was of some use: those that are left would be enough if all were like it.
    """
    for close in (True, False):
        rounds = max(_ROUNDS, _WORK // max(len(sketch.net.terms), 1))
        before = 2 * len(sketch.groups)
        while most < len(sketch.groups) and (before - len(sketch.groups)) * rounds >= len(sketch.groups) - most:
            before, rounds = len(sketch.groups), rounds - 1
            if not _join_neighbours(sketch, most, close, weight):
                break
            sketch.relevel()
    if len(sketch.groups) > most:
        _slice(sketch, most)


def _join_neighbours(sketch: Sketch, most: int, close: bool, weight: Callable[[Group], int]) -> bool:
    """Pairs of neighbours in a row, those of one size first, the lightest first; whether there were any."""
    pairs = [pair for chain in chains(sketch) for pair in pairwise(chain)]
    pairs = [(one, other) for one, other in pairs if not close or _size(sketch, one) == _size(sketch, other)]
    extra, taken = len(sketch.groups) - most, set[Group]()
    for one, other in sorted(pairs, key=lambda pair: weight(pair[0]) + weight(pair[1])):
        if len(taken) >= 2 * extra:
            break
        if taken.isdisjoint((one, other)) and not sketch.leads_back([one, other]):
            taken |= {one, other}
            _join(sketch, [one, other])
    return bool(taken)


def _size(sketch: Sketch, group: Group) -> tuple[int, ...] | None:
    """The height and width of what a group makes, or the number of its places."""
    dims = sketch.net.shape(group.value)
    return dims[2:] if dims is not None and len(dims) > 3 else dims[1:-1] if dims is not None else None


def _join(sketch: Sketch, groups: list[Group]) -> None:
    children = [inner for group in groups for inner in _parts(group)]
    terms = [term for group in groups for term in group.terms]
    stage = Group("stage", terms, groups[0].level, tuple(children))
    stage.value, stage.around = groups[-1].value, groups[0].around
    sketch.replace(groups, stage)


def _parts(group: Group) -> tuple[Group, ...]:
    return group.children if group.kind == "stage" and group.count == 1 else (group,)


def _slice(sketch: Sketch, most: int) -> None:
    """What has no rows is cut along its order: nothing leads back."""
    groups, step = list(sketch.groups), -(-len(sketch.groups) // most)
    for at in range(0, len(groups), step):
        if len(groups[at : at + step]) > 1:
            _join(sketch, groups[at : at + step])
    sketch.relevel()
