"""The cost of a model: the cost of each node times the number of its runs.

A function or loop body is counted once and multiplied, so nesting does not multiply work. Of branches that the data
select, the more expensive one counts, with a note. A loop with an unknown trip count is counted as often as it runs at
least, and is a gap.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis.cost_sum import CostSum
from onnx_autodoc.analysis.data_flow import DataFlow, main_data_flow
from onnx_autodoc.analysis.node_cost import PriceCache, PricedStep
from onnx_autodoc.ir import Deep, Model, deeply
from onnx_autodoc.ops import Cost, Unknown
from onnx_autodoc.shapes import Body, Shapes, Step
from onnx_autodoc.text import quote_name

_MAX_KEPT_ROWS: Final = 100_000
_CHEAPER_BRANCH = (
    "not counted: this branch is cheaper than the other one, which is counted: the data decide which one runs"
)


class Row(Struct, frozen=True):
    """A node in one place where the file has it: its cost over the whole run, or None where it is not counted."""

    scope: str
    step: Step
    owner: tuple[object, ...]  # the graph of the file that it stands in
    cost: Cost | None
    gap: str
    flow: DataFlow | None = None  # of the graph that it stands in, where it is counted
    times: int = 0  # how often it runs, as far as it is counted

    @property
    def bookkeeping(self) -> bool:
        return self.flow is not None and self.step.at in self.flow.bookkeeping


class Costs:
    """The costs of one model under one binding."""

    def __init__(self, model: Model, shapes: Shapes) -> None:
        self._functions = model.functions_by_key
        self._shapes = shapes
        self.flow = main_data_flow(model, shapes.steps)
        self._seen: dict[tuple[int, bool], CostSum] = {}
        self._prices = PriceCache()
        self._rows: tuple[Row, ...] | None = None
        self.total = deeply(self._tally(shapes.steps, self.flow))

    def _tally(self, steps: tuple[Step, ...], flow: DataFlow) -> Deep[CostSum]:
        tally = CostSum()
        for at, step in enumerate(steps):
            tally.add_step(step, self.price(step, at in flow.bookkeeping))
            if step.bodies:
                yield from self._count(step, flow)
                self._inside(tally, step, flow)
        tally.most_expensive()
        return tally

    def _count(self, step: Step, flow: DataFlow) -> Deep[None]:
        """One pass of each body that a node runs, and each of those that were followed: counted once, then known."""
        for body in step.bodies:
            inner: DataFlow | None = None
            for steps in (body.steps, *body.passes) if body.times != 0 else ():
                key = (id(steps), flow.reads_data(step))
                if key not in self._seen:
                    inner = flow.inside(step, body) if inner is None else inner
                    self._seen[key] = yield self._tally(steps, inner)

    def price(self, step: Step, bookkeeping: bool) -> PricedStep:
        return self._prices.of(step, bookkeeping)

    def _inside(self, tally: CostSum, step: Step, flow: DataFlow) -> None:
        name = step.node.label(step.at)
        chosen = self._chosen(step, flow)
        tally.sized |= step.node.is_op("If") and any(map(flow.is_sized, step.node.inputs))
        for body in step.bodies:
            inner, path = self._body(step, body, flow), f"{name}/{body.name}"
            tally.enlist(inner, path)
            if body is not chosen and body.either:
                continue
            for each in self._passes(step, body, flow):
                tally.add(each, _times(body), path)
            if isinstance(body.times, Unknown):
                tally.leave_open(inner, body.times.why)
            if isinstance(body.times, Unknown) and (inner.macs or inner.other):
                tally.counted -= 1
                tally.miss(step.node.op, _format_unbounded(body.times, inner), name, bool(inner.macs))
        if chosen is not None:
            self._spare(tally, step, chosen, flow)

    def _chosen(self, step: Step, flow: DataFlow) -> Body | None:
        """Of branches between which the data decide, the most expensive."""
        either = [body for body in step.bodies if body.either]
        return max(either, key=lambda body: _weight(self._body(step, body, flow)), default=None)

    def _spare(self, tally: CostSum, step: Step, chosen: Body, flow: DataFlow) -> None:
        """What is saved where the data pick another branch than the most expensive, and a note on it."""
        bodies = {body.name: self._body(step, body, flow) for body in step.bodies}
        most = bodies[chosen.name]
        least_macs = min(each.macs - each.spared_macs for each in bodies.values())
        least_other = min(each.other - each.spared_other for each in bodies.values())
        tally.spared_macs += most.macs - most.spared_macs - least_macs
        tally.spared_other += most.other - most.spared_other - least_other
        costs = ", ".join(f"{name} {each.macs:,}" for name, each in bodies.items())
        name = step.node.label(step.at)
        note = (
            f"the data decide which branch {quote_name(name)} runs: the dearer {chosen.name} is counted (MACs: {costs})"
        )
        tally.notes[note] = None

    def _body(self, step: Step, body: Body, flow: DataFlow) -> CostSum:
        """One pass of a body, counted once however often it is asked for."""
        if body.times == 0:
            return _untouched(body)
        key = (id(body.steps), flow.reads_data(step))
        if key not in self._seen:
            deeply(self._count(step, flow))
        return self._seen[key]

    def _passes(self, step: Step, body: Body, flow: DataFlow) -> list[CostSum]:
        if not body.passes:
            return [self._body(step, body, flow)]
        return [self._seen.pop((id(steps), flow.reads_data(step))) for steps in body.passes]

    def rows(self) -> Iterator[Row]:
        """Every node in file order, the nodes inside a node right after it; their costs sum to the total."""
        if self.total.nodes > _MAX_KEPT_ROWS:
            return self._iterate_rows()
        if self._rows is None:
            self._rows = tuple(self._iterate_rows())
        return iter(self._rows)

    def _iterate_rows(self) -> Iterator[Row]:
        whole = _Level("", (), self._shapes.steps, [_Run(self._shapes.steps, self.flow, 1)])
        stack = [whole.rows(self)]
        while stack:
            found = next(stack[-1], None)
            if found is None:
                stack.pop()
                continue
            level, row = found
            yield row
            if not row.step.bodies:
                continue
            bodies = [self._entered(level, row.step, at) for at in range(len(row.step.bodies))]
            stack.extend(inner.rows(self) for inner in reversed(bodies))

    def _entered(self, level: "_Level", step: Step, which: int) -> "_Level":
        """One body of a node, with every run of it that is counted."""
        body, key = step.bodies[which], (step.node.domain, step.node.op, step.node.overload)
        runs = [inner for run in level.runs for inner in self._runs(run, step.at, which)]
        name = step.node.label(step.at)
        return _Level(
            f"{level.scope}/{name}/{body.name}" if level.scope else f"{name}/{body.name}",
            (key,) if key in self._functions else (*level.owner, step.at, body.name),
            body.steps,
            runs,
            body.times.why if isinstance(body.times, Unknown) else "" if runs else _CHEAPER_BRANCH,
        )

    def _runs(self, run: "_Run", at: int, which: int) -> Iterator["_Run"]:
        step = run.steps[at]
        body = step.bodies[which] if which < len(step.bodies) else None
        if body is None or not _times(body) or (body.either and body is not self._chosen(step, run.flow)):
            return
        inner = run.flow.inside(step, body)
        for steps in body.passes or (body.steps,):
            yield _Run(steps, inner, run.times * _times(body))


class _Run(Struct, frozen=True):
    """Steps that are run so often."""

    steps: tuple[Step, ...]
    flow: DataFlow
    times: int


class _Level(Struct, frozen=True):
    """The nodes of one graph in one place, and all the runs that make up their cost."""

    scope: str
    owner: tuple[object, ...]
    steps: tuple[Step, ...]
    runs: list[_Run]
    why: str = ""  # why they are not counted, or not wholly

    def rows(self, costs: Costs) -> Iterator[tuple["_Level", Row]]:
        for at, step in enumerate(self.steps):
            each = [(costs.price(run.steps[at], at in run.flow.bookkeeping), run.times) for run in self.runs]
            gap = next((priced.gap for priced, _ in each if priced.gap), "")
            cost, flow = (_sum(each), self.runs[0].flow) if each else (None, None)
            why = gap or (self.why if step.gap == "" else step.gap)
            yield self, Row(self.scope, step, self.owner, cost, why, flow, sum(times for _, times in each))


def _sum(each: list[tuple[PricedStep, int]]) -> Cost:
    """Return the cost of all runs; what is unknown in one of them is unknown."""
    if len(each) == 1 and each[0][1] == 1 and None not in (each[0][0].cost.read, each[0][0].cost.written):
        return each[0][0].cost
    costs = [(priced.cost, times) for priced, times in each]
    return Cost(
        sum((cost.macs * times for cost, times in costs), start=0),
        sum((cost.other * times for cost, times in costs), start=0),
        sum((times * cost.read for cost, times in costs if cost.read is not None), start=0),
        sum((times * cost.written for cost, times in costs if cost.written is not None), start=0),
    )


def _times(body: Body) -> int:
    """How often a body surely runs; each of its passes once where they were followed."""
    return body.least if isinstance(body.times, Unknown) else 1 if body.passes else body.times


def _weight(tally: CostSum) -> tuple[int, int]:
    return tally.macs, tally.other


def _untouched(body: Body) -> CostSum:
    """A branch that is not taken: its nodes are there, and cost nothing."""
    tally, waiting = CostSum(), [body.steps]
    while waiting:
        steps = waiting.pop()
        tally.nodes += len(steps)
        waiting.extend(inner.steps for step in steps for inner in step.bodies)
    tally.counted = tally.nodes
    return tally


def _format_unbounded(times: Unknown, inner: CostSum) -> str:
    return f"{times.why}; each pass takes {inner.macs:,} MACs, {inner.flops:,} FLOPs"
