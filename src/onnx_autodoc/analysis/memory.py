"""Peak memory of the activations of a run.

The convention: nodes run in file order (in the nearest one that works where a file's own does not); a node's outputs
exist together with its inputs; a value is freed after its last reader; the graph's inputs and outputs count, weights
and constants do not, nor what is computed from them alone (a weight dequantized or turned is still a weight); what only
changes the shape shares its memory. What runs inside a node comes on top of what is alive around it.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis.liveness import Key, Liveness, main_liveness
from onnx_autodoc.ir import Deep, Model, deeply
from onnx_autodoc.ops import Dim, Unknown, ValueInfo, nbytes
from onnx_autodoc.shapes import Body, Shapes, Step

_MAX_TIMELINE_POINTS: Final = 200  # of the timeline
_MAX_LEVELS: Final = 200_000


class Moment(Struct, frozen=True):
    """How much is alive while one node runs."""

    node: str
    nbytes: int


class Memory(Struct, frozen=True, eq=False):
    peak: Moment | None
    levels: tuple[int, ...]  # bytes after each value that comes or goes, inside nodes too; none where they are too many
    timeline: tuple[tuple[int, int], ...]  # (place of a node, bytes), the worst of each stretch of nodes
    unknown: dict[str, int]  # values of unknown size, by reason
    liveness: Liveness  # of the main graph


def memory(model: Model, shapes: Shapes) -> Memory:
    measure, liveness = _Measure(), main_liveness(model, shapes)
    moments = deeply(measure.moments(liveness))
    peak = max(moments, key=lambda moment: moment.nbytes, default=None)
    timeline = tuple((liveness.steps[at].at, nbytes) for at, nbytes in _thinned(moments))
    return Memory(peak, tuple(measure.levels), timeline, measure.unknown, liveness)


def _thinned(moments: Sequence[Moment]) -> tuple[tuple[int, int], ...]:
    """At most so many points; of each stretch the highest, so that the peak is among them."""
    stretch = -(-len(moments) // _MAX_TIMELINE_POINTS) or 1
    starts = range(0, len(moments), stretch)
    tops = [max(range(at, min(at + stretch, len(moments))), key=lambda i: moments[i].nbytes) for at in starts]
    return tuple((at, moments[at].nbytes) for at in tops)


class _Measure:
    def __init__(self) -> None:
        self.unknown: dict[str, int] = {}
        self._seen: dict[Key, tuple[Moment | None, list[int]]] = {}
        self.levels: list[int] = []  # of the graph that was measured last
        self._are_many = False  # nesting multiplies them: from then on there are none

    def moments(self, liveness: Liveness) -> Deep[list[Moment]]:
        """What is alive at each node of one graph."""
        alive = {name: self.size(known) for name, known in liveness.inputs.items()}
        total, found, levels = sum(alive.values()), [], list(accumulate(alive.values()))
        for at, step in enumerate(liveness.steps):
            made = {name: self.size(known) for name, known in liveness.made(step)}
            name, inside = step.node.label(step.at), (yield from self.inside(step, liveness)) if step.bodies else None
            worst = Moment(name, total + sum(made.values()))
            if inside is not None and total + inside.nbytes > worst.nbytes:
                worst = Moment(f"{name}/{inside.node}", total + inside.nbytes)
            found.append(worst)
            alive |= made
            levels += (total + level for level in self._levels_inside(step, liveness))
            changes = [*made.values(), *(-alive.pop(name, 0) for name in liveness.gone(at, made))]
            levels += islice(accumulate(changes, initial=total), 1, None)
            total += sum(changes)
            self._are_many |= len(levels) > _MAX_LEVELS
        self.levels = [] if self._are_many else levels
        return found

    def size(self, known: ValueInfo) -> int:
        found: Dim = nbytes(known)
        if isinstance(found, Unknown):
            self.unknown[found.why] = self.unknown.get(found.why, 0) + 1
            return 0
        return found

    def inside(self, step: Step, liveness: Liveness) -> Deep[Moment | None]:
        """The worst moment of what runs inside a node."""
        worst: Moment | None = None
        for body in step.bodies:
            found = (yield from self._body(step, body, liveness)) if body.times != 0 else None
            if found is not None and (worst is None or found.nbytes > worst.nbytes):
                worst = found
        return worst

    def _body(self, step: Step, body: Body, liveness: Liveness) -> Deep[Moment | None]:
        key = liveness.key(step, body)
        if key not in self._seen:
            moments = yield self.moments(liveness.inside(step, body))
            worst = max(moments, key=lambda moment: moment.nbytes, default=None)
            self._seen[key] = worst and Moment(f"{body.name}/{worst.node}", worst.nbytes), self.levels
        return self._seen[key][0]

    def _levels_inside(self, step: Step, liveness: Liveness) -> Iterator[int]:
        """Of each body that was measured, back to nothing in the end."""
        for body in step.bodies:
            if body.times != 0 and not self._are_many:
                yield from self._seen[liveness.key(step, body)][1]
                yield 0
