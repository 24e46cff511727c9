"""The sections of the card that say what a model costs."""

import heapq
from collections.abc import Mapping
from typing import Final

from onnx_autodoc.analysis import Cache, Facts, Formula, Missing, Share, Spent, Tally
from onnx_autodoc.card._cost_types import (
    BatchRow,
    CacheSection,
    CacheSize,
    ComputeSection,
    Coverage,
    FormulaSection,
    MemoryRow,
    MemorySection,
    Moment,
    ParametersSection,
    Term,
    TopNode,
    Uncounted,
    WeightRow,
    Work,
)
from onnx_autodoc.card._types import OperatorRow
from onnx_autodoc.shapes import Role

_CONTEXTS: Final = (2048, 8192, 32768, 131072)  # tokens for which the size of a cache is given
_MOST_LAYERS: Final = 2000


def operator_rows(facts: Facts) -> tuple[OperatorRow, ...]:
    weights, missing = _weights_by_operator(facts), dict[str, list[Missing]]()
    for (name, _), each in facts.costs.total.missing.items():
        missing.setdefault(name, []).append(each)
    return tuple(
        _operator_row(facts, domain, op, count, weights.get((domain, op), Share()), missing.get(op, []))
        for domain, op, count in facts.operators
    )


def _operator_row(facts: Facts, domain: str, op: str, count: int, share: Share, missing: list[Missing]) -> OperatorRow:
    spent = facts.costs.total.operators.get((domain, op), Spent())
    return OperatorRow(
        op=op,
        domain=domain or "ai.onnx",
        count=count,
        share=count / facts.nodes_total,
        params=share.elements,
        weight_bytes=share.nbytes,
        macs=_least(spent.macs, spent.more_macs or any(each.macs for each in missing)),
        flops=_least(spent.flops, spent.more_macs or spent.more_other or bool(missing)),
        bytes_moved=_least(spent.read + spent.written, bool(spent.unmoved)),
    )


def _least(number: int, more: bool) -> int | None:
    """A lower bound where there is more; of nothing known, there is none."""
    return None if more and not number else number


def _weights_by_operator(facts: Facts) -> dict[tuple[str, str], Share]:
    found: dict[tuple[str, str], Share] = {}
    for place, share in facts.parameters.nodes.items():
        reader = facts.parameters.readers[place]
        key = (reader.domain, reader.op)
        found[key] = found.get(key, Share()) + share
    return found


def parameters_section(facts: Facts) -> ParametersSection:
    held = facts.parameters
    return ParametersSection(
        total=held.total,
        bytes=held.nbytes,
        tensors=held.tensors,
        by_dtype=held.by_dtype,
        statistics=held.statistics,
        quantization=held.quantization,
        constants=held.constants,
        unread=held.unread,
        by_layer=_by_layer(facts),
    )


def _by_layer(facts: Facts) -> tuple[WeightRow, ...]:
    held = facts.parameters
    rows = [
        WeightRow(held.readers[place].name, held.readers[place].op, share.elements, share.nbytes)
        for place, share in held.nodes.items()
    ]
    return tuple(heapq.nlargest(_MOST_LAYERS, rows, key=lambda row: row.bytes) if len(rows) > _MOST_LAYERS else rows)


def compute_section(facts: Facts, context: int | None) -> ComputeSection:
    total = facts.costs.total
    moved = total.read + total.written
    gaps = [
        Uncounted(op, missing.count, why, missing.macs, tuple(missing.nodes))
        for (op, why), missing in sorted(total.missing.items())
    ]
    flops = _least(total.flops, bool(gaps))
    return ComputeSection(
        macs=_least(total.macs, any(gap.macs for gap in gaps)),
        flops=flops,
        cheapest=_cheapest(total),
        bytes_moved=_least(moved, bool(total.unmoved)),
        arithmetic_intensity=flops / moved if moved and flops is not None else None,
        coverage=Coverage(total.counted, total.nodes, total.unmoved.total(), tuple(gaps)),
        formula=_formula(facts, context),
        top=tuple(TopNode(name, op, macs, macs / total.macs) for macs, name, op in total.dearest()),
    )


def _cheapest(total: Tally) -> Work | None:
    if not total.spared_macs and not total.spared_other:
        return None
    macs = total.macs - total.spared_macs
    return Work(macs, 2 * macs + total.other - total.spared_other)


def _formula(facts: Facts, context: int | None) -> FormulaSection:
    found = facts.formula
    return FormulaSection(
        variables=tuple(variable.name for variable in found.variables),
        dims={variable.name: variable.keys for variable in found.variables},
        steps={variable.name: found.steps.get(variable.name, 1) for variable in found.variables},
        least={variable.name: found.least[variable.name] for variable in found.variables},
        most=_most(found, context),
        macs=found.expressions.get("macs"),
        flops=found.expressions.get("flops"),
        bytes_moved=found.expressions.get("bytes_moved"),
        peak_activation_bytes=found.expressions.get("peak_activation_bytes"),
        kv_cache_bytes=found.expressions.get("kv_cache_bytes"),
        terms={name: tuple(_terms(each) for each in sums) for name, sums in found.terms.items()},
        divisors={name: found.divisors.get(name, 1) for name in found.terms},
        checked_at=tuple(dict(point) for point in found.checked_at),
    )


def _most(found: Formula, context: int | None) -> dict[str, int]:
    """Beyond the positions that it has learned, a model does not run. Of two sequences, whose they are is not told."""
    sequences = [each for each in found.variables if each.role is Role.SEQUENCE]
    if context is None or len(sequences) > 1:
        return {}
    tokens = [each for each in found.variables if each.role in (Role.SEQUENCE, Role.PAST)]
    return {each.name: context for each in tokens if each.size <= context}


def _terms(found: Mapping[tuple[int, ...], int]) -> tuple[Term, ...]:
    return tuple(Term(factor, powers) for powers, factor in found.items())


def scaling_rows(facts: Facts) -> tuple[BatchRow, ...]:
    return tuple(_batch_row(facts, each.batch, each.figures) for each in facts.scaling)


def _batch_row(facts: Facts, batch: int, figures: Mapping[str, int]) -> BatchRow:
    flops, moved, peak = (figures.get(name) for name in ("flops", "bytes_moved", "peak_activation_bytes"))
    return BatchRow(
        batch=batch,
        macs=figures.get("macs"),
        flops=flops,
        bytes_moved=moved,
        arithmetic_intensity=flops / moved if flops is not None and moved else None,
        peak_activation_bytes=peak,
        memory_bytes=_together(facts, peak),
    )


def _together(facts: Facts, peak: int | None) -> int | None:
    return None if peak is None else facts.parameters.nbytes + peak


def memory_section(facts: Facts) -> MemorySection:
    peak = facts.memory.peak
    alive = _least(peak.nbytes, bool(facts.memory.unknown)) if peak else None
    return MemorySection(
        weights_bytes=facts.parameters.nbytes,
        peak_activation_bytes=alive,
        run_bytes=_together(facts, alive),
        unsized=sum(facts.memory.unknown.values()),
        peak_node=peak.node if peak else None,
        timeline=tuple(Moment(at, nbytes) for at, nbytes in facts.memory.timeline),
        by_op=_by_op(facts),
        kv_cache=_cache(facts.cache) if facts.cache else None,
    )


def _by_op(facts: Facts) -> tuple[MemoryRow, ...]:
    spent, weights = facts.costs.total.operators, _weights_by_operator(facts)
    rows = [
        MemoryRow(
            op,
            domain or "ai.onnx",
            weights.get((domain, op), Share()).nbytes,
            _least(spent[domain, op].written, bool(spent[domain, op].unmoved)) if (domain, op) in spent else 0,
        )
        for domain, op, _ in facts.operators
    ]
    return tuple(row for row in rows if row.weight_bytes or row.written_bytes != 0)


def _cache(cache: Cache) -> CacheSection:
    return CacheSection(
        bytes=cache.nbytes,
        bytes_per_token=cache.bytes_per_token,
        layers=cache.layers,
        kv_heads=cache.kv_heads,
        head_dim=cache.head_dim,
        dtype=cache.dtype,
        at=tuple(CacheSize(tokens, cache.at(tokens)) for tokens in _CONTEXTS),
        tensors=cache.tensors,
    )
