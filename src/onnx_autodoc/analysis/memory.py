"""Peak memory of the activations of a run.

The convention: nodes run in file order (in the nearest one that works where a file's own does not); a node's outputs
exist together with its inputs; a value is freed after its last reader; the graph's inputs and outputs count, weights
and constants do not, nor do values computed from them alone (a dequantized or transposed weight is still a weight); an
operator that only changes the shape allocates nothing. The memory of a subgraph adds to that of the graph around it.
"""

from collections.abc import Iterable
from itertools import accumulate, islice
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis.liveness import Key, Liveness, main_liveness
from onnx_autodoc.ir import Deep, Model, deeply
from onnx_autodoc.ops import Dim, Unknown, ValueInfo, nbytes
from onnx_autodoc.shapes import Shapes, Step

_MAX_TIMELINE_POINTS: Final = 200
_MAX_LEVELS: Final = 200_000


class Moment(Struct, frozen=True):
    """The bytes in use while one node runs."""

    node: str
    nbytes: int


class Memory(Struct, frozen=True, eq=False):
    peak: Moment | None
    levels: tuple[int, ...]  # bytes after each value that comes or goes, inside nodes too; none if these are too many
    timeline: tuple[tuple[int, int], ...]  # (index of a node, bytes), the largest of each stretch of nodes
    unknown: dict[str, int]  # values of unknown size, by reason
    liveness: Liveness  # of the main graph


def memory(model: Model, shapes: Shapes) -> Memory:
    measure, liveness = _Measurement(), main_liveness(model, shapes)
    moments = deeply(measure.moments(liveness))
    stretch = -(-len(moments) // _MAX_TIMELINE_POINTS) or 1
    starts = range(0, len(moments), stretch)
    tops = [max(range(at, min(at + stretch, len(moments))), key=lambda i: moments[i].nbytes) for at in starts]
    timeline = tuple((liveness.steps[at].at, moments[at].nbytes) for at in tops)
    return Memory(_largest(moments), tuple(measure.levels), timeline, measure.unknown, liveness)


def _largest(moments: Iterable[Moment]) -> Moment | None:
    return max(moments, key=lambda moment: moment.nbytes, default=None)


class _Measurement:
    def __init__(self) -> None:
        self.unknown: dict[str, int] = {}
        self.levels: list[int] = []  # of the graph that was measured last
        self._bodies: dict[Key, tuple[Moment | None, list[int]]] = {}
        self._has_too_many_levels = False  # since nesting multiplies them: from then on there are none

    def moments(self, liveness: Liveness) -> Deep[list[Moment]]:
        """Return the bytes in use at each node of one graph."""
        alive = {name: self._size(known) for name, known in liveness.inputs.items()}
        total, moments, levels = sum(alive.values()), [], list(accumulate(alive.values()))
        for at, step in enumerate(liveness.steps):
            allocated = {name: self._size(known) for name, known in liveness.allocated(step)}
            name, inside = step.node.label(step.at), None
            if step.bodies:
                inside = yield from self._measure_bodies(step, liveness)
            largest = Moment(name, total + sum(allocated.values()))
            if inside is not None and total + inside.nbytes > largest.nbytes:
                largest = Moment(f"{name}/{inside.node}", total + inside.nbytes)
            moments.append(largest)
            alive |= allocated
            for body in step.bodies:  # each starts from the level before the node and ends there
                if body.times != 0 and not self._has_too_many_levels:
                    levels += (total + level for level in (*self._bodies[liveness.key(step, body)][1], 0))
            changes = [*allocated.values(), *(-alive.pop(name, 0) for name in liveness.freed_after(at, allocated))]
            levels += islice(accumulate(changes, initial=total), 1, None)
            total += sum(changes)
            self._has_too_many_levels |= len(levels) > _MAX_LEVELS
        self.levels = [] if self._has_too_many_levels else levels
        return moments

    def _size(self, known: ValueInfo) -> int:
        size: Dim = nbytes(known)
        if isinstance(size, Unknown):
            self.unknown[size.why] = self.unknown.get(size.why, 0) + 1
            return 0
        return size

    def _measure_bodies(self, step: Step, liveness: Liveness) -> Deep[Moment | None]:
        """Return the largest moment of the bodies of a node."""
        largest: list[Moment] = []
        for body in step.bodies:
            if body.times == 0:
                continue
            key = liveness.key(step, body)
            if key not in self._bodies:
                moment = _largest((yield self.moments(liveness.enter(step, body))))
                moment = moment and Moment(f"{body.name}/{moment.node}", moment.nbytes)
                self._bodies[key] = moment, self.levels
            moment = self._bodies[key][0]
            largest += [moment] if moment else []
        return _largest(largest)
