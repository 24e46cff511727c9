"""What each node really gave, against what the card says of it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.ir import label
from onnx_autodoc.ops import Known, dims_text
from onnx_autodoc.runtime._messages import Cell, Execution, Way
from onnx_autodoc.runtime._types import Agreement, Difference
from onnx_autodoc.shapes import Body, Step

MOST_EXAMPLES: Final = 20
_LIKE_TENSORS: Final = ("tensor", "optional")  # what onnxruntime gives the shape of
_THEIR_NAMES: Final = {"float": "float32", "double": "float64", "std::string": "string"}
_WIDENED: Final = ("float16", "bfloat16")
_NOT_RUN: Final = "does not run"


class Place(Struct, frozen=True, eq=False):
    """A node of the file, with what the card says of it in every pass that there is."""

    name: str
    steps: tuple[Step, ...]
    runs: bool


class Seen(Struct, frozen=True, eq=False):
    """A node that ran. `place` None: the card does not have it, for it did not look inside of what holds it."""

    place: Place | None
    execution: Execution
    found: tuple[Difference, ...]

    @property
    def verdict(self) -> str:
        if self.found:
            return "differed"
        return "agreed" if self.place is not None and _is_told(self.place, self.execution) else "unknown"

    @property
    def widened(self) -> bool:
        return self.place is not None and not self.found and _is_widened(self.place, self.execution)


def agreement(facts: Facts, executions: Iterable[Execution], full: bool) -> Agreement:
    """Every node that ran, once."""
    seen = list(_seen(Finder(facts.shapes.steps), executions))
    verdicts = Counter(each.verdict for each in seen)
    known = sum(each.place is not None for each in seen)
    return Agreement(
        executed=len(seen),
        agreed=verdicts["agreed"],
        unknown_to_us=verdicts["unknown"],
        differed=verdicts["differed"],
        unseen=max(_running(facts.shapes.steps) - known, 0),
        widened=sum(each.widened for each in seen),
        examples=tuple(difference for each in seen for difference in each.found)[:MOST_EXAMPLES],
        notes=("what ran after a million kernels was not compared: onnxruntime keeps no more",) if full else (),
    )


def _seen(finder: "Finder", executions: Iterable[Execution]) -> Iterator[Seen]:
    """A kernel of another operator than the node's took its place, and is not it."""
    for execution in executions:
        place = finder.at(execution.way)
        if place is None:
            yield Seen(None, execution, ())
        elif execution.op == place.steps[0].node.op:
            yield Seen(place, execution, tuple(differences(place, execution)))


def _is_told(place: Place, execution: Execution) -> bool:
    """Whether both sides told everything: outputs that cannot be paired were not compared, and agree with nothing."""
    paired = all(_paired(place.steps[0], cells) for cells in execution.outputs)
    return paired and not any(_is_open(step) for step in place.steps)


class Finder:
    """From the way to a node to the node: each body's steps are looked up once."""

    def __init__(self, steps: tuple[Step, ...]) -> None:
        self._levels: dict[Way, tuple[str, list[tuple[Step, ...]], bool]] = {(): ("", [steps], True)}

    def at(self, way: Way) -> Place | None:
        """None where the card has no such node: it did not look inside of what holds it."""
        level = self._level(way[:-1])
        place = way[-1]
        if level is None or not isinstance(place, int):
            return None
        scope, passes, runs = level
        steps = tuple(steps[place] for steps in passes if place < len(steps))
        if not steps:
            return None
        name = label(steps[0].node, steps[0].at)
        return Place(f"{scope}/{name}" if scope else name, steps, runs)

    def _level(self, way: Way) -> tuple[str, list[tuple[Step, ...]], bool] | None:
        if way not in self._levels:
            around = self.at(way[:-1])
            if around is None:
                return None
            bodies = [body for step in around.steps for body in step.bodies if body.name == way[-1]]
            if not bodies:
                return None
            runs = around.runs and any(_may_run(body) for body in bodies)
            self._levels[way] = f"{around.name}/{way[-1]}", _passes(bodies), runs
        return self._levels[way]


def _passes(bodies: Iterable[Body]) -> list[tuple[Step, ...]]:
    found = [steps for body in bodies for steps in (body.passes or (body.steps,))]
    return list({id(steps): steps for steps in found}.values())


def _may_run(body: Body) -> bool:
    return not (type(body.times) is int and body.times == 0)


def differences(place: Place, execution: Execution) -> Iterator[Difference]:
    """Of one node; the first pass that differs is told."""
    node = place.steps[0].node
    if not place.runs:
        yield Difference(place.name, node.op, "", _NOT_RUN, f"ran {execution.times:,} times")
        return
    told = set[int]()
    for cells in execution.outputs:
        for at, name, cell in _paired(place.steps[0], cells):
            ours = [step.outputs[at] for step in place.steps]
            if at not in told and not any(_fits(known, cell) for known in ours):
                told.add(at)
                yield Difference(place.name, node.op, name, _ours(ours), _text(_theirs(cell[0]), cell[1]))


def _paired(step: Step, cells: tuple[Cell, ...]) -> list[tuple[int, str, Cell]]:
    """Outputs that are there and are tensors, in order; none where their number is not what onnxruntime gave."""
    named = [at for at, name in enumerate(step.node.outputs) if name]
    kept = [at for at in named if step.outputs[at].kind in _LIKE_TENSORS]
    if len(kept) != len(cells):
        kept = [at for at in named if step.outputs[at].kind == "tensor"]
    if len(kept) != len(cells):
        return []
    return [(at, step.node.outputs[at], cell) for at, cell in zip(kept, cells)]


def _fits(known: Known, cell: Cell) -> bool:
    """Whether it can be: every size that we know is the one that it had, and the type too."""
    if known.kind != "tensor":
        return True
    dtype = _theirs(cell[0])
    if known.dtype and dtype != known.dtype and not (dtype == "float32" and known.dtype in _WIDENED):
        return False
    if known.shape is None:
        return True
    same = (type(ours) is not int or ours == theirs for ours, theirs in zip(known.shape, cell[1]))
    return len(known.shape) == len(cell[1]) and all(same)


def _is_open(step: Step) -> bool:
    return any(
        known.kind != "tensor" or known.concrete is None or known.dtype is None
        for name, known in zip(step.node.outputs, step.outputs)
        if name
    )


def _is_widened(place: Place, execution: Execution) -> bool:
    pairs = _paired(place.steps[0], execution.outputs[0]) if execution.outputs else []
    return any(place.steps[0].outputs[at].dtype in _WIDENED and _theirs(cell[0]) == "float32" for at, _, cell in pairs)


def _running(steps: tuple[Step, ...]) -> int:
    """Nodes that the card says run, or may."""
    count, waiting = 0, [steps]
    while waiting:
        level = waiting.pop()
        count += len(level)
        waiting.extend(body.steps for step in level for body in step.bodies if _may_run(body))
    return count


def _theirs(name: str) -> str:
    return _THEIR_NAMES.get(name, name.lower().removesuffix("x2"))  # int4x2: two in a byte


def _ours(known: Sequence[Known]) -> str:
    texts = dict.fromkeys(_text(each.dtype or "?", each.shape) for each in known)
    return " or ".join(list(texts)[:3]) + (" or …" if len(texts) > 3 else "")


def _text(dtype: str, shape: Sequence[object] | None) -> str:
    return f"{dtype} {'of unknown rank' if shape is None else dims_text(shape)}"
