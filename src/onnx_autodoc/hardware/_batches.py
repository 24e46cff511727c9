"""The same model at other batches, from the work of each kernel: small batches wait for memory, large ones compute."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import structs

from onnx_autodoc.analysis import Facts
from onnx_autodoc.hardware._demand import Demand
from onnx_autodoc.hardware._estimate import Estimate
from onnx_autodoc.hardware._grades import BOUND, at_least
from onnx_autodoc.hardware._types import ScaleRow
from onnx_autodoc.shapes import Role

_ENOUGH: Final = 0.9  # a batch with so much of the best throughput will do: larger ones only make each run wait


def batches(facts: Facts, demand: Demand) -> list[Demand]:
    """What each batch asks for; only where the work goes with the batch, to the unit."""
    own = demand.batch
    if own is None:
        return []
    rows = [row for row in facts.scaling if _goes_with(row.figures, row.batch, demand)]
    return [_at(demand, row.batch, own, row.figures.get("peak_activation_bytes")) for row in rows]


def _goes_with(figures: Mapping[str, int], batch: int, demand: Demand) -> bool:
    assert demand.batch is not None
    return figures.get("macs", -1) * demand.batch == demand.macs * batch


def _at(demand: Demand, batch: int, own: int, peak: int | None) -> Demand:
    by = batch / own
    edges = structs.replace(
        demand.edges, floats=round(demand.edges.floats * by), others=round(demand.edges.others * by)
    )
    sizes = {Role.BATCH: batch} if batch != own else {}
    macs, folded = demand.macs * batch // own, demand.folded * batch // own
    load = demand.load.scaled(by)
    return structs.replace(
        demand, load=load, macs=macs, folded=folded, edges=edges, batch=batch, peak=peak, sizes=sizes
    )


def coherent(rows: Sequence[Estimate]) -> list[Estimate]:
    """No batch takes longer than a smaller one run as often as it takes, or less than a single run of that.

    Either can be done in its place.
    """
    found: list[Estimate] = []
    for row in rows:
        found.append(_capped(row, found[-1]) if found else row)
    return found


def _capped(row: Estimate, before: Estimate) -> Estimate:
    if row.range is None or before.range is None or not row.demand.batch or not before.demand.batch:
        return row
    by, own, other = row.demand.batch / before.demand.batch, row.range, before.range
    names = ("low", "expected", "high")
    capped = {name: min(max(getattr(own, name), getattr(other, name)), getattr(other, name) * by) for name in names}
    return structs.replace(row, range=at_least(structs.replace(own, **capped), row.floor))


def best_batch(rows: Sequence[Estimate]) -> int | None:
    """The smallest that comes near the best throughput of those that fit; times of one grade are compared alone."""
    grade = next((row.basis for row in rows if row.range), BOUND)
    fitting = [row for row in rows if row.fits is not False and row.per_second and row.basis == grade]
    most = max((row.per_second or 0.0 for row in fitting), default=0.0)
    return next((row.demand.batch for row in fitting if (row.per_second or 0.0) >= _ENOUGH * most), None)


def is_shown(row: Estimate, rows: Sequence[Estimate]) -> bool:
    """Whether it has a time to stand beside the others': it fits, and rests on no less than they do."""
    return row.fits is not False and (row.range is not None or not any(each.range for each in rows))


def scale_rows(rows: Sequence[Estimate]) -> Iterator[ScaleRow]:
    for row in rows:
        assert row.demand.batch is not None
        runs = is_shown(row, rows)
        yield ScaleRow(
            device=row.device.id,
            precision=row.wanted.name,
            batch=row.demand.batch,
            seconds=row.expected if runs else None,
            per_second=row.per_second if runs else None,
            memory_bytes=row.memory,
            fits=row.fits,
            basis=row.basis,
            bottleneck=row.bottleneck if runs else None,
            low=row.range.low if row.range and runs else None,
            high=row.range.high if row.range and runs else None,
            bound=row.floor.seconds if row.fits is not False else None,
        )
