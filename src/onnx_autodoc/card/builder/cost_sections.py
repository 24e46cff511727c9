"""The sections of the card on operators, parameters, compute, memory and scaling."""

import heapq
from collections.abc import Mapping
from typing import Final

from onnx_autodoc.analysis import Cache, CostSum, Facts, Formula, OperatorCost, Share, UncountedNodes
from onnx_autodoc.card import (
    BatchRow,
    CacheSection,
    CacheSize,
    ComputeSection,
    Coverage,
    FormulaSection,
    MemoryRow,
    MemorySection,
    Moment,
    OperatorRow,
    ParametersSection,
    Term,
    TopNode,
    Uncounted,
    WeightRow,
    Work,
)
from onnx_autodoc.shapes import Role

_CACHE_TOKENS: Final = (2048, 8192, 32768, 131072)
_MAX_WEIGHT_ROWS: Final = 2000


def operator_rows(facts: Facts) -> tuple[OperatorRow, ...]:
    weights, missing = _weights_by_operator(facts), dict[str, list[UncountedNodes]]()
    for (op, _), entry in facts.costs.total.missing.items():
        missing.setdefault(op, []).append(entry)
    return tuple(
        _operator_row(facts, domain, op, count, weights.get((domain, op), Share()), missing.get(op, []))
        for domain, op, count in facts.operators
    )


def _operator_row(
    facts: Facts, domain: str, op: str, count: int, share: Share, missing: list[UncountedNodes]
) -> OperatorRow:
    spent = facts.costs.total.operators.get((domain, op), OperatorCost())
    return OperatorRow(
        op=op,
        domain=domain or "ai.onnx",
        count=count,
        share=count / facts.nodes_total,
        params=share.elements,
        weight_bytes=share.nbytes,
        macs=_lower_bound(spent.macs, spent.more_macs or any(each.macs for each in missing)),
        flops=_lower_bound(spent.flops, spent.more_macs or spent.more_other or bool(missing)),
        bytes_moved=_lower_bound(spent.read + spent.written, bool(spent.unmoved)),
    )


def _lower_bound(number: int, incomplete: bool) -> int | None:
    """Return the number, or None where it is 0 only because nothing was counted."""
    return None if incomplete and not number else number


def _weights_by_operator(facts: Facts) -> dict[tuple[str, str], Share]:
    shares: dict[tuple[str, str], Share] = {}
    for place, share in facts.parameters.nodes.items():
        reader = facts.parameters.readers[place]
        key = (reader.domain, reader.op)
        shares[key] = shares.get(key, Share()) + share
    return shares


def parameters_section(facts: Facts) -> ParametersSection:
    parameters = facts.parameters
    return ParametersSection(
        total=parameters.total,
        bytes=parameters.nbytes,
        tensors=parameters.tensors,
        by_dtype=parameters.by_dtype,
        statistics=parameters.statistics,
        quantization=parameters.quantization,
        constants=parameters.constants,
        unread=parameters.unread,
        by_layer=_weight_rows(facts),
    )


def _weight_rows(facts: Facts) -> tuple[WeightRow, ...]:
    parameters = facts.parameters
    rows = [
        WeightRow(parameters.readers[place].name, parameters.readers[place].op, share.elements, share.nbytes)
        for place, share in parameters.nodes.items()
    ]
    if len(rows) > _MAX_WEIGHT_ROWS:
        rows = heapq.nlargest(_MAX_WEIGHT_ROWS, rows, key=lambda row: row.bytes)
    return tuple(rows)


def compute_section(facts: Facts, context: int | None) -> ComputeSection:
    total = facts.costs.total
    moved = total.read + total.written
    gaps = [
        Uncounted(op, missing.count, why, missing.macs, tuple(missing.nodes))
        for (op, why), missing in sorted(total.missing.items())
    ]
    flops = _lower_bound(total.flops, bool(gaps))
    return ComputeSection(
        macs=_lower_bound(total.macs, any(gap.macs for gap in gaps)),
        flops=flops,
        cheapest=_cheapest(total),
        bytes_moved=_lower_bound(moved, bool(total.unmoved)),
        arithmetic_intensity=flops / moved if moved and flops is not None else None,
        coverage=Coverage(total.counted, total.nodes, total.unmoved.total(), tuple(gaps)),
        formula=_formula_section(facts, context),
        top=tuple(TopNode(name, op, macs, macs / total.macs) for macs, name, op in total.most_expensive()),
    )


def _cheapest(total: CostSum) -> Work | None:
    if not total.spared_macs and not total.spared_other:
        return None
    macs = total.macs - total.spared_macs
    return Work(macs, 2 * macs + total.other - total.spared_other)


def _formula_section(facts: Facts, context: int | None) -> FormulaSection:
    formula = facts.formula
    return FormulaSection(
        variables=tuple(variable.name for variable in formula.variables),
        dims={variable.name: variable.keys for variable in formula.variables},
        steps={variable.name: formula.steps.get(variable.name, 1) for variable in formula.variables},
        least={variable.name: formula.least[variable.name] for variable in formula.variables},
        most=_max_sizes(formula, context),
        macs=formula.expressions.get("macs"),
        flops=formula.expressions.get("flops"),
        bytes_moved=formula.expressions.get("bytes_moved"),
        peak_activation_bytes=formula.expressions.get("peak_activation_bytes"),
        kv_cache_bytes=formula.expressions.get("kv_cache_bytes"),
        terms={name: tuple(_terms(each) for each in sums) for name, sums in formula.terms.items()},
        divisors={name: formula.divisors.get(name, 1) for name in formula.terms},
        checked_at=tuple(dict(point) for point in formula.checked_at),
    )


def _max_sizes(formula: Formula, context: int | None) -> dict[str, int]:
    """Return the longest sequence of learned positions; with two sequences it is unknown which one it limits."""
    sequences = [each for each in formula.variables if each.role is Role.SEQUENCE]
    if context is None or len(sequences) > 1:
        return {}
    tokens = [each for each in formula.variables if each.role in (Role.SEQUENCE, Role.PAST)]
    return {each.name: context for each in tokens if each.size <= context}


def _terms(sum_: Mapping[tuple[int, ...], int]) -> tuple[Term, ...]:
    return tuple(Term(factor, powers) for powers, factor in sum_.items())


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
        memory_bytes=_run_bytes(facts, peak),
    )


def _run_bytes(facts: Facts, peak: int | None) -> int | None:
    return None if peak is None else facts.parameters.nbytes + peak


def memory_section(facts: Facts) -> MemorySection:
    peak = facts.memory.peak
    alive = _lower_bound(peak.nbytes, bool(facts.memory.unknown)) if peak else None
    return MemorySection(
        weights_bytes=facts.parameters.nbytes,
        peak_activation_bytes=alive,
        run_bytes=_run_bytes(facts, alive),
        unsized=sum(facts.memory.unknown.values()),
        peak_node=peak.node if peak else None,
        timeline=tuple(Moment(at, nbytes) for at, nbytes in facts.memory.timeline),
        by_op=_memory_rows(facts),
        kv_cache=_cache_section(facts.cache) if facts.cache else None,
    )


def _memory_rows(facts: Facts) -> tuple[MemoryRow, ...]:
    spent, weights = facts.costs.total.operators, _weights_by_operator(facts)
    rows = [
        MemoryRow(
            op,
            domain or "ai.onnx",
            weights.get((domain, op), Share()).nbytes,
            _lower_bound(spent[domain, op].written, bool(spent[domain, op].unmoved)) if (domain, op) in spent else 0,
        )
        for domain, op, _ in facts.operators
    ]
    return tuple(row for row in rows if row.weight_bytes or row.written_bytes != 0)


def _cache_section(cache: Cache) -> CacheSection:
    return CacheSection(
        bytes=cache.nbytes,
        bytes_per_token=cache.bytes_per_token,
        layers=cache.layers,
        kv_heads=cache.kv_heads,
        head_dim=cache.head_dim,
        dtype=cache.dtype,
        at=tuple(CacheSize(tokens, cache.at(tokens)) for tokens in _CACHE_TOKENS),
        tensors=cache.tensors,
    )
