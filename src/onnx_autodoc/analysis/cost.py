"""The cost of a model: the cost of each node times the number of its runs.

A function or loop body is counted once and multiplied, so nesting does not multiply work. Of data-dependent branches,
the more expensive one counts, with a note. A loop with an unknown trip count is counted as often as it runs at least,
and is a gap.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis.cost_sum import CostSum, PriceCache, PricedStep
from onnx_autodoc.analysis.data_flow import DataFlow, main_data_flow
from onnx_autodoc.ir import Deep, Model, deeply
from onnx_autodoc.ops import Cost, Unknown
from onnx_autodoc.shapes import Body, Shapes, Step
from onnx_autodoc.text import quote_name

_MAX_STORED_ROWS: Final = 100_000
_CHEAPER_BRANCH = "not counted: which branch runs is data-dependent, and the other, more expensive one is counted"


class Row(Struct, frozen=True):
    """A node at its place in the file: its cost over the whole run, or None where it is not counted."""

    scope: str
    step: Step
    owner: tuple[object, ...]  # its graph
    cost: Cost | None
    gap: str
    flow: DataFlow | None = None  # of its graph, where it is counted
    times: int = 0  # how often it runs, as far as it is counted

    @property
    def bookkeeping(self) -> bool:
        return self.flow is not None and self.step.at in self.flow.bookkeeping


class _Run(Struct, frozen=True):
    """Steps that run `times` times."""

    steps: tuple[Step, ...]
    flow: DataFlow
    times: int


class _Level(Struct, frozen=True):
    """The nodes of one graph in one place, and all the runs that make up their cost."""

    scope: str
    owner: tuple[object, ...]
    steps: tuple[Step, ...]
    runs: list[_Run]
    why: str = ""  # why they are not counted, or not completely


class Costs:
    """The costs of one model under one binding."""

    def __init__(self, model: Model, shapes: Shapes) -> None:
        self._functions = model.functions_by_key
        self._shapes = shapes
        self.flow = main_data_flow(model, shapes.steps)
        self._sums: dict[tuple[int, bool], CostSum] = {}  # by the steps of a body, and whether its node reads data
        self._prices = PriceCache()
        self._rows: tuple[Row, ...] | None = None
        self.total = deeply(self._sum_steps(shapes.steps, self.flow))

    def price(self, step: Step, bookkeeping: bool) -> PricedStep:
        return self._prices.of(step, bookkeeping)

    def _sum_steps(self, steps: tuple[Step, ...], flow: DataFlow) -> Deep[CostSum]:
        total = CostSum()
        for at, step in enumerate(steps):
            total.add_step(step, self.price(step, at in flow.bookkeeping))
            if step.bodies:
                yield from self._sum_bodies(step, flow)
                self._add_bodies(total, step, flow)
        total.most_expensive()
        return total

    def _sum_bodies(self, step: Step, flow: DataFlow) -> Deep[None]:
        """Sum one pass of each body of a node, and each pass that was followed, unless the sum is known."""
        for body in step.bodies:
            inner: DataFlow | None = None
            for steps in (body.steps, *body.passes) if body.times != 0 else ():
                key = (id(steps), flow.reads_data(step))
                if key not in self._sums:
                    inner = flow.enter(step, body) if inner is None else inner
                    self._sums[key] = yield self._sum_steps(steps, inner)

    def _body_sum(self, step: Step, body: Body, flow: DataFlow) -> CostSum:
        """Return the cost of one pass of a body; a branch that does not run has nodes and no cost."""
        if body.times == 0:
            count, waiting = 0, [body.steps]
            while waiting:
                steps = waiting.pop()
                count += len(steps)
                waiting.extend(inner.steps for step in steps for inner in step.bodies)
            return CostSum(nodes=count, counted=count)
        key = (id(body.steps), flow.reads_data(step))
        if key not in self._sums:
            deeply(self._sum_bodies(step, flow))
        return self._sums[key]

    def _add_bodies(self, total: CostSum, step: Step, flow: DataFlow) -> None:
        name = step.node.label(step.at)
        counted = self._counted_branch(step, flow)
        total.sized |= step.node.is_op("If") and any(map(flow.is_sized, step.node.inputs))
        for body in step.bodies:
            inner, path = self._body_sum(step, body, flow), f"{name}/{body.name}"
            total.add_nodes(inner, path)
            if body is not counted and body.either:
                continue
            passes = [self._sums.pop((id(steps), flow.reads_data(step))) for steps in body.passes]
            for each in passes or [inner]:
                total.add_runs(each, _count_runs(body), path)
            if isinstance(body.times, Unknown):
                total.mark_lower_bounds(inner, body.times.why)
                if inner.macs or inner.other:
                    why = f"{body.times.why}; each pass takes {inner.macs:,} MACs and {inner.flops:,} FLOPs"
                    total.counted -= 1
                    total.add_uncounted(step.node.op, why, name, bool(inner.macs))
        if counted is not None:
            self._add_branch_note(total, step, counted, flow)

    def _counted_branch(self, step: Step, flow: DataFlow) -> Body | None:
        """Return the most expensive of the data-dependent branches."""

        def weight(body: Body) -> tuple[int, int]:
            branch = self._body_sum(step, body, flow)
            return branch.macs, branch.other

        return max((body for body in step.bodies if body.either), key=weight, default=None)

    def _add_branch_note(self, total: CostSum, step: Step, counted: Body, flow: DataFlow) -> None:
        """Add the difference between the branch that is counted and the least expensive one, and a note on it."""
        branches = {body.name: self._body_sum(step, body, flow) for body in step.bodies}
        most = branches[counted.name]
        least_macs = min(branch.macs - branch.spared_macs for branch in branches.values())
        least_other = min(branch.other - branch.spared_other for branch in branches.values())
        total.spared_macs += most.macs - most.spared_macs - least_macs
        total.spared_other += most.other - most.spared_other - least_other
        costs = ", ".join(f"{name} {branch.macs:,}" for name, branch in branches.items())
        name = quote_name(step.node.label(step.at))
        note = (
            f"which branch {name} runs is data-dependent: the more expensive {counted.name} is counted (MACs: {costs})"
        )
        total.notes[note] = None

    def rows(self) -> Iterator[Row]:
        """Yield every node in file order, the nodes inside a node right after it; their costs sum to the total."""
        if self.total.nodes > _MAX_STORED_ROWS:
            return self._iterate_rows()
        if self._rows is None:
            self._rows = tuple(self._iterate_rows())
        return iter(self._rows)

    def _iterate_rows(self) -> Iterator[Row]:
        main = _Level("", (), self._shapes.steps, [_Run(self._shapes.steps, self.flow, 1)])
        stack = [(main, self._level_rows(main))]
        while stack:
            level, rows = stack[-1]
            row = next(rows, None)
            if row is None:
                stack.pop()
                continue
            yield row
            inner = [self._enter(level, row.step, which) for which in range(len(row.step.bodies))]
            stack.extend((body, self._level_rows(body)) for body in reversed(inner))

    def _level_rows(self, level: _Level) -> Iterator[Row]:
        for at, step in enumerate(level.steps):
            prices = [(self.price(run.steps[at], at in run.flow.bookkeeping), run.times) for run in level.runs]
            gap = next((priced.gap for priced, _ in prices if priced.gap), "")
            cost, flow = (_sum_runs(prices), level.runs[0].flow) if prices else (None, None)
            why = gap or (level.why if step.gap == "" else step.gap)
            yield Row(level.scope, step, level.owner, cost, why, flow, sum(times for _, times in prices))

    def _enter(self, level: _Level, step: Step, which: int) -> _Level:
        """Return one body of a node, with every run of it that is counted."""
        body, key = step.bodies[which], step.node.function_key
        runs: list[_Run] = []
        for run in level.runs:
            run_step = run.steps[step.at]
            run_body = run_step.bodies[which] if which < len(run_step.bodies) else None
            if run_body is None or not _count_runs(run_body):
                continue
            if not run_body.either or run_body is self._counted_branch(run_step, run.flow):
                inner, times = run.flow.enter(run_step, run_body), run.times * _count_runs(run_body)
                runs.extend(_Run(steps, inner, times) for steps in run_body.passes or (run_body.steps,))
        path = f"{step.node.label(step.at)}/{body.name}"
        return _Level(
            f"{level.scope}/{path}" if level.scope else path,
            (key,) if key in self._functions else (*level.owner, step.at, body.name),
            body.steps,
            runs,
            body.times.why if isinstance(body.times, Unknown) else "" if runs else _CHEAPER_BRANCH,
        )


def _sum_runs(prices: list[tuple[PricedStep, int]]) -> Cost:
    """Return the cost of all runs; a number that is unknown in one of them is unknown."""
    if len(prices) == 1 and prices[0][1] == 1:
        return prices[0][0].cost
    costs = [(priced.cost, times) for priced, times in prices]
    return Cost(
        sum((cost.macs * times for cost, times in costs), start=0),
        sum((cost.other * times for cost, times in costs), start=0),
        sum((times * cost.read for cost, times in costs if cost.read is not None), start=0),
        sum((times * cost.written for cost, times in costs if cost.written is not None), start=0),
    )


def _count_runs(body: Body) -> int:
    """Return how often a body runs at least; each of its passes once where they were followed."""
    return body.least if isinstance(body.times, Unknown) else 1 if body.passes else body.times
