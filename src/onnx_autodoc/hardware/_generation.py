"""Decoders with a cache: the prompt all at once, then token by token with ever more in the cache.

By the card's own formulas in the sizes of the sequence and the past, or, where a graph is too large to have them and a
device was asked for, worked out at fewer sizes: multiply-adds and cache to the unit. A step reads all weights and the
whole cache once, whatever the context is. The kernels of a prompt and of a step are worked out at one size each.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct, structs

from onnx_autodoc.analysis import Cache, Facts, figures_at
from onnx_autodoc.hardware._batches import is_shown
from onnx_autodoc.hardware._demand import DECODE, PREFILL, Demand, Load, load_at
from onnx_autodoc.hardware._estimate import Estimate, Grade, estimate
from onnx_autodoc.hardware._formats import Format
from onnx_autodoc.hardware._kernels import Amount
from onnx_autodoc.hardware._types import TokenRow
from onnx_autodoc.hardware.devices import Device
from onnx_autodoc.ir import is_float, stored_bytes
from onnx_autodoc.shapes import Role, open_axes

_CONTEXTS: Final = (128, 512, 2048, 8192, 32768)
_FEW: Final = (512, 2048)
_LITTLE_WORK: Final = 2_000  # rules: where there are more, kernels at other sizes are worked out only for who asks


class Phase(Struct, frozen=True, eq=False):
    name: str
    context: int
    demand: Demand


class _Loads(Struct, frozen=True, eq=False):
    """The kernels of a prompt of so many tokens, and of a step with as many in the cache; None: not worked out."""

    context: int
    prefill: Load | None
    decode: Load | None

    def at(self, name: str, context: int, macs: int) -> Load:
        """With this much work in them. Data go with the new tokens; in a step, all others with those in the cache."""
        own, by = (self.prefill if name == PREFILL else self.decode), context / self.context
        if own is None:
            return Load.of(())
        if name == DECODE and self.prefill is not None:
            whole, new = float(own.floats.sum()), float(self.prefill.floats.sum()) / self.context
            by = (new + max(0.0, whole - new) * by) / whole if whole else 1.0
        held = float(own.macs.sum())
        load = own.scaled(by)
        return structs.replace(load, macs=own.macs * (macs / held)) if held else load


def phases(facts: Facts, demand: Demand, most: int | None, asked: bool) -> list[Phase]:
    """None without a cache that goes in and whose length is open. `most`: the longest context that the model has."""
    roles = {each.role for each in open_axes(facts.model)}
    if facts.cache is None or not {Role.SEQUENCE, Role.PAST} <= roles:
        return []
    by_formula = {"macs", "kv_cache_bytes"} <= facts.formula.terms.keys()
    contexts = [each for each in (_CONTEXTS if by_formula else _FEW if asked else ()) if most is None or each <= most]
    loads = _loads(facts, demand, asked or facts.shapes.work <= _LITTLE_WORK) if contexts else _Loads(1, None, None)
    found = (_phase(facts, demand, loads, name, each) for name in (PREFILL, DECODE) for each in contexts)
    return [phase for phase in found if phase is not None]


def _sizes(name: str, context: int) -> dict[Role, int]:
    return {Role.SEQUENCE: context, Role.PAST: 0} if name == PREFILL else {Role.SEQUENCE: 1, Role.PAST: context - 1}


def _loads(facts: Facts, demand: Demand, worth: bool) -> _Loads:
    """Of the card itself, where it is of such a step; what else there is only where it is worth the work."""
    context, step = _CONTEXTS[0], _sizes(DECODE, _CONTEXTS[0])
    axes = {each.role: facts.binding.axes.get((each.value.name, each.axis)) for each in open_axes(facts.model)}
    of_card = all(axes.get(role) == size for role, size in step.items())
    decode = demand.load if of_card else load_at(facts, step) if worth else None
    return _Loads(context, load_at(facts, _sizes(PREFILL, context)) if worth else None, decode)


def _phase(facts: Facts, demand: Demand, loads: _Loads, name: str, context: int) -> Phase | None:
    """Without kernels there is only a bound."""
    sizes = _sizes(name, context)
    found = figures_at(facts, sizes)
    macs, cache, kept = found.get("macs"), found.get("kv_cache_bytes"), facts.cache
    if macs is None or cache is None or kept is None:
        return None
    load = loads.at(name, context, macs)
    at = structs.replace(demand, macs=macs, folded=0, edges=_cached(kept, cache), load=load, phase=name, sizes=sizes)
    return Phase(name, context, structs.replace(at, peak=found.get("peak_activation_bytes")))


def _cached(kept: Cache, nbytes: int) -> Amount:
    """A cache of so many bytes: numbers whose width the precision decides, unless it is quantized by itself."""
    width = stored_bytes(kept.dtype, 1)
    return Amount(floats=nbytes // width) if width and is_float(kept.dtype) else Amount(others=nbytes)


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
