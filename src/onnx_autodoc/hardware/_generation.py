"""Decoders with a cache: the prompt all at once, then token by token with ever more in the cache.

By the card's own formulas in the sizes of the sequence and the past, or, where a graph is too large to have them and a
device was asked for, worked out at fewer sizes: multiply-adds and cache to the unit. A step reads all weights and the
whole cache once, whatever the context is.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct, structs

from onnx_autodoc.devices import Device
from onnx_autodoc.facts import Facts, figures_at
from onnx_autodoc.hardware._batches import is_shown
from onnx_autodoc.hardware._demand import DECODE, PREFILL, Demand, Load
from onnx_autodoc.hardware._estimate import Estimate, Grade, estimate
from onnx_autodoc.hardware._formats import Format
from onnx_autodoc.hardware._kernels import Amount
from onnx_autodoc.hardware._types import TokenRow
from onnx_autodoc.resolve import Role, open_axes

_CONTEXTS: Final = (128, 512, 2048, 8192, 32768)
_FEW: Final = (512, 2048)


class Phase(Struct, frozen=True, eq=False):
    name: str
    context: int
    demand: Demand


def phases(facts: Facts, demand: Demand, most: int | None, asked: bool) -> list[Phase]:
    """None without a cache that goes in and whose length is open. `most`: the longest context that the model has."""
    roles = {each.role for each in open_axes(facts.model)}
    if facts.cache is None or not {Role.SEQUENCE, Role.PAST} <= roles:
        return []
    by_formula = {"macs", "kv_cache_bytes"} <= facts.formula.terms.keys()
    contexts = [each for each in (_CONTEXTS if by_formula else _FEW if asked else ()) if most is None or each <= most]
    found = (_phase(facts, demand, name, each) for name in (PREFILL, DECODE) for each in contexts)
    return [phase for phase in found if phase is not None]


def _phase(facts: Facts, demand: Demand, name: str, context: int) -> Phase | None:
    sizes = {Role.SEQUENCE: context, Role.PAST: 0} if name == PREFILL else {Role.SEQUENCE: 1, Role.PAST: context - 1}
    found = figures_at(facts, sizes)
    macs, cache = found.get("macs"), found.get("kv_cache_bytes")
    if macs is None or cache is None:
        return None
    numbers = Amount(floats=cache // demand.width)
    load = _stretched(demand, macs, numbers)
    peak = found.get("peak_activation_bytes")
    return Phase(
        name, context, structs.replace(demand, macs=macs, edges=numbers, load=load, peak=peak, phase=name, sizes=sizes)
    )


def _stretched(demand: Demand, macs: int, cache: Amount) -> Load:
    """The kernels of the card with this much work in them, and the cache read: their number, not their sizes."""
    by = macs / demand.macs if demand.macs else 1.0
    load = demand.load.scaled(by)
    each = load.floats + cache.floats / max(1, len(load.floats))
    return structs.replace(load, floats=each)


def token_rows(found: list[Phase], device: Device, wanted: Format, grade: Grade) -> Iterator[TokenRow]:
    for name in (PREFILL, DECODE):
        some = [phase for phase in found if phase.name == name]
        rows = [estimate(phase.demand, device, wanted, grade) for phase in some]
        yield from (_row(phase, row, is_shown(row, rows)) for phase, row in zip(some, rows, strict=True))


def _row(phase: Phase, found: Estimate, runs: bool) -> TokenRow:
    batch = phase.demand.batch
    tokens = None if batch is None else batch * (phase.context if phase.name == PREFILL else 1)
    return TokenRow(
        device=found.device.id,
        precision=found.wanted.name,
        phase=phase.name,
        context=phase.context,
        seconds=found.expected if runs else None,
        tokens_per_second=tokens / found.expected if tokens and runs and found.expected else None,
        memory_bytes=found.memory,
        fits=found.fits,
        basis=found.basis,
        bottleneck=found.bottleneck if runs else None,
        low=found.range.low if found.range and runs else None,
        high=found.range.high if found.range and runs else None,
        bound=found.floor.seconds if found.fits is not False else None,
    )
