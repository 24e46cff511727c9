"""The same model at other batches, and text generation with a KV cache at several context lengths.

Small batches are memory-bound, large ones compute-bound. Generation is prefill of a prompt, then decoding token by
token with a growing cache. Multiply-adds and cache are exact: by the card's formulas in sequence and past length, or,
for graphs too large for formulas on a requested device, at a few sizes. A decoding step reads all weights and the whole
cache once. The kernels of prefill and decoding are inferred at one size each.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from onnx_autodoc.analysis import Facts, figures_at
from onnx_autodoc.card import BOUND, ScaleRow, TokenRow
from onnx_autodoc.hardware.devices import Device
from onnx_autodoc.hardware.estimate import Estimate, TimeEstimator, clamp_to_bound, estimate
from onnx_autodoc.hardware.kernels import DataVolume
from onnx_autodoc.hardware.workload import DECODE, PREFILL, KernelTable, NumberFormat, Workload, kernels_at
from onnx_autodoc.ir import is_float, stored_bytes
from onnx_autodoc.shapes import Role, dynamic_axes

_ENOUGH_THROUGHPUT: Final = 0.9  # of the best: larger batches only make each run longer
_CONTEXTS: Final = (128, 512, 2048, 8192, 32768)
_CONTEXTS_WITHOUT_FORMULA: Final = (512, 2048)
_MAX_UNREQUESTED_STEPS: Final = 2_000  # of shape inference; larger graphs only for requested devices


def scale_batches(facts: Facts, workload: Workload) -> list[Workload]:
    """Return the workload at each batch of the card whose multiply-adds are exactly proportional."""
    own, volume = workload.batch, workload.io_volume
    if own is None:
        return []
    return [
        structs.replace(
            workload,
            kernels=workload.kernels.scaled(row.batch / own),
            macs=workload.macs * row.batch // own,
            constant_macs=workload.constant_macs * row.batch // own,
            io_volume=DataVolume(
                round(volume.floats * (row.batch / own)), round(volume.other_bytes * (row.batch / own))
            ),
            batch=row.batch,
            peak_activation_bytes=row.figures.get("peak_activation_bytes"),
            sizes={Role.BATCH: row.batch} if row.batch != own else {},
        )
        for row in facts.scaling
        if row.figures.get("macs", -1) * own == workload.macs * row.batch
    ]


def make_consistent(rows: Sequence[Estimate]) -> list[Estimate]:
    """Limit each batch to the time of several runs of the smaller one, and to no less than one run of it."""
    consistent: list[Estimate] = []
    for row in rows:
        own, smaller = row.range, consistent[-1] if consistent else None
        sizes = row.workload.batch, smaller.workload.batch if smaller else None
        if own is not None and smaller is not None and smaller.range is not None and sizes[0] and sizes[1]:
            factor = sizes[0] / sizes[1]
            limited = {}
            for name in ("low", "expected", "high"):
                least = getattr(smaller.range, name)
                limited[name] = min(max(getattr(own, name), least), least * factor)
            row = structs.replace(row, range=clamp_to_bound(structs.replace(own, **limited), row.lower_bound))
        consistent.append(row)
    return consistent


def find_best_batch(rows: Sequence[Estimate]) -> int | None:
    """Return the smallest batch near the best throughput that fits; only times of one grade are compared."""
    basis = next((row.basis for row in rows if row.range), BOUND)
    fitting = [row for row in rows if row.fits is not False and row.per_second and row.basis == basis]
    most = max((row.per_second or 0.0 for row in fitting), default=0.0)
    return next((row.workload.batch for row in fitting if (row.per_second or 0.0) >= _ENOUGH_THROUGHPUT * most), None)


def time_columns(row: Estimate, rows: Sequence[Estimate]) -> dict[str, Any]:
    """Return the columns that tables of batches and of context lengths share.

    A row has times if it fits, and if its grade is not below that of other rows.
    """
    has_time = row.fits is not False and (row.range is not None or not any(row.range for row in rows))
    time = row.range if has_time else None
    return {
        "device": row.device.id,
        "precision": row.number_format.name,
        "seconds": row.expected if has_time else None,
        "memory_bytes": row.memory,
        "fits": row.fits,
        "basis": row.basis,
        "bottleneck": row.bottleneck if has_time else None,
        "low": time.low if time else None,
        "high": time.high if time else None,
        "bound": row.lower_bound.seconds if row.fits is not False else None,
    }


def make_scale_rows(rows: Sequence[Estimate]) -> Iterator[ScaleRow]:
    for row in rows:
        assert row.workload.batch is not None
        columns = time_columns(row, rows)
        per_second = row.per_second if columns["seconds"] is not None else None
        yield ScaleRow(batch=row.workload.batch, per_second=per_second, **columns)


class GenerationPhase(Struct, frozen=True, eq=False):
    name: str
    context: int
    workload: Workload


class _PhaseKernels(Struct, frozen=True, eq=False):
    """The kernels of a prefill of `context` tokens, and of a decoding step with as many in the cache."""

    context: int
    prefill: KernelTable | None = None
    decode: KernelTable | None = None

    def at(self, name: str, context: int, macs: int) -> KernelTable:
        """Scale the kernels to a context length and its multiply-adds.

        Data grow with new tokens; in a decoding step, all other data grow with the cache.
        """
        own, factor = (self.prefill if name == PREFILL else self.decode), context / self.context
        if own is None:
            return KernelTable.of(())
        if name == DECODE and self.prefill is not None:
            whole, new = float(own.floats.sum()), float(self.prefill.floats.sum()) / self.context
            factor = (new + max(0.0, whole - new) * factor) / whole if whole else 1.0
        total = float(own.macs.sum())
        scaled = own.scaled(factor)
        return structs.replace(scaled, macs=own.macs * (macs / total)) if total else scaled


def find_phases(facts: Facts, workload: Workload, max_context: int | None, is_requested: bool) -> list[GenerationPhase]:
    """Return prefill and decode at several context lengths; empty without a cache input of dynamic length."""
    roles = {dim.role for dim in dynamic_axes(facts.model)}
    if facts.cache is None or not {Role.SEQUENCE, Role.PAST} <= roles:
        return []
    has_formula = {"macs", "kv_cache_bytes"} <= facts.formula.terms.keys()
    candidates = _CONTEXTS if has_formula else _CONTEXTS_WITHOUT_FORMULA if is_requested else ()
    contexts = [context for context in candidates if max_context is None or context <= max_context]
    if not contexts:
        return []
    kernels = _infer_kernels(facts, workload, is_requested or facts.shapes.work <= _MAX_UNREQUESTED_STEPS)
    names = (PREFILL, DECODE)
    phases = (_make_phase(facts, workload, kernels, name, context) for name in names for context in contexts)
    return [phase for phase in phases if phase is not None]


def _phase_sizes(name: str, context: int) -> dict[Role, int]:
    if name == PREFILL:
        return {Role.SEQUENCE: context, Role.PAST: 0}
    return {Role.SEQUENCE: 1, Role.PAST: context - 1}


def _infer_kernels(facts: Facts, workload: Workload, is_affordable: bool) -> _PhaseKernels:
    """Use the kernels of the card if they are of such a step; infer others only if that is affordable."""
    context = _CONTEXTS[0]
    step = _phase_sizes(DECODE, context)
    axes = {dim.role: facts.binding.axes.get((dim.value.name, dim.axis)) for dim in dynamic_axes(facts.model)}
    is_card_step = all(axes.get(role) == size for role, size in step.items())
    decode = workload.kernels if is_card_step else kernels_at(facts, step) if is_affordable else None
    prefill = kernels_at(facts, _phase_sizes(PREFILL, context)) if is_affordable else None
    return _PhaseKernels(context, prefill, decode)


def _make_phase(
    facts: Facts, workload: Workload, kernels: _PhaseKernels, name: str, context: int
) -> GenerationPhase | None:
    sizes = _phase_sizes(name, context)
    figures = figures_at(facts, sizes)
    macs, cache_bytes = figures.get("macs"), figures.get("kv_cache_bytes")
    if macs is None or cache_bytes is None or facts.cache is None:
        return None
    # numbers whose width depends on the precision, or bytes of a quantized cache
    width = stored_bytes(facts.cache.dtype, 1) if is_float(facts.cache.dtype) else None
    own = structs.replace(
        workload,
        macs=macs,
        constant_macs=0,
        io_volume=DataVolume(floats=cache_bytes // width) if width else DataVolume(other_bytes=cache_bytes),
        kernels=kernels.at(name, context, macs),
        phase=name,
        sizes=sizes,
        peak_activation_bytes=figures.get("peak_activation_bytes"),
    )
    return GenerationPhase(name, context, own)


def make_token_rows(
    phases: list[GenerationPhase], device: Device, number_format: NumberFormat, estimate_time: TimeEstimator
) -> Iterator[TokenRow]:
    for name in (PREFILL, DECODE):
        own = [phase for phase in phases if phase.name == name]
        rows = [estimate(phase.workload, device, number_format, estimate_time) for phase in own]
        for phase, row in zip(own, rows, strict=True):
            columns, batch = time_columns(row, rows), phase.workload.batch
            tokens = None if batch is None else batch * (phase.context if name == PREFILL else 1)
            seconds = columns["seconds"]
            per_second = tokens / seconds if tokens and seconds else None
            yield TokenRow(phase=name, context=phase.context, tokens_per_second=per_second, **columns)
