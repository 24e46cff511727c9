"""The figures of a plain graph at other sizes, for less work than on the card.

Which nodes are bookkeeping, in which order values come and go: the same at all sizes, as long as nothing runs inside
nodes. So this is found out once, and at other sizes only numbers are left to be worked out.
"""

from collections.abc import Sequence
from itertools import accumulate

from onnx_autodoc.analysis._fitting import PEAK
from onnx_autodoc.analysis._flow import flow_of
from onnx_autodoc.analysis._liveness import main_room
from onnx_autodoc.analysis._price import price
from onnx_autodoc.ir import Model
from onnx_autodoc.ops import Cost, Dim, Unknown, kinds, nbytes
from onnx_autodoc.shapes import Shapes, Step


class Again:
    """`shapes` are those of the card. Only for graphs that are plain."""

    def __init__(self, model: Model, shapes: Shapes) -> None:
        self._bookkeeping = flow_of(model, shapes.steps).bookkeeping
        self._sizing = [at for at, step in enumerate(shapes.steps) if step.node.op in kinds.OF_SIZES]
        self._open = self._opened(shapes)
        self._life = Life(model, shapes)

    def parts(self, shapes: Shapes) -> dict[str, tuple[int, ...]] | None:
        """Of what is known to the unit; None where other nodes are bookkeeping than on the card."""
        if self._opened(shapes) != self._open:
            return None
        costs = [price(step, at in self._bookkeeping).cost for at, step in enumerate(shapes.steps)]
        every: dict[str, list[Dim]] = {
            "macs": [cost.macs for cost in costs],
            "flops": [cost.flops for cost in costs],
            "bytes_moved": [number for cost in costs for number in _moved(cost)],
            PEAK: self._life.levels(shapes),
        }
        found = {name: tuple(number for number in numbers if type(number) is int) for name, numbers in every.items()}
        return {name: numbers for name, numbers in found.items() if numbers and len(numbers) == len(every[name])}

    def _opened(self, shapes: Shapes) -> list[int]:
        """Nodes that tell a size which nobody knows before the run: what hangs on these varies like data."""
        return [at for at in self._sizing if _is_open(shapes.steps[at])]


def is_plain(steps: Sequence[Step]) -> bool:
    """Nothing runs inside nodes."""
    return all(not step.bodies and step.at == at for at, step in enumerate(steps))


def _is_open(step: Step) -> bool:
    return bool(step.inputs) and step.inputs[0] is not None and step.inputs[0].concrete is None


def _moved(cost: Cost) -> tuple[Dim, Dim]:
    return (0 if cost.read is None else cost.read), (0 if cost.written is None else cost.written)


class Life:
    """In which order the values of a plain graph come and go."""

    def __init__(self, model: Model, shapes: Shapes) -> None:
        room = main_room(model, shapes)
        self._inputs = list(room.inputs)
        self._made: list[tuple[int, int]] = []  # (place of a node, which of its outputs)
        alive = {name: at for at, name in enumerate(self._inputs)}
        self._moves = list(alive.values())  # places in the list of sizes; ~place where a value goes
        for at, step in enumerate(room.steps):
            made = [name for name, _ in room.made(step)]
            for name in made:
                alive[name] = len(self._inputs) + len(self._made)
                self._moves.append(alive[name])
                self._made.append((step.at, step.node.outputs.index(name)))
            self._moves += (~alive.pop(name) for name in room.gone(at, made) if name in alive)

    def levels(self, shapes: Shapes) -> list[Dim]:
        """What is alive after each move."""
        values = [shapes.values[name] for name in self._inputs]
        values += (shapes.steps[at].outputs[which] for at, which in self._made)
        sizes = [nbytes(value) for value in values]
        unknown = next((size for size in sizes if isinstance(size, Unknown)), None)
        if unknown is not None:
            return [unknown]
        return list(accumulate(sizes[move] if move >= 0 else -sizes[~move] for move in self._moves))
