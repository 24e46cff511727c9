"""The sections of the card that say what a model costs."""

import heapq
from typing import Final

from onnx_autodoc.document._types import (
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
    TopNode,
    Uncounted,
    WeightRow,
    Work,
)
from onnx_autodoc.facts import Cache, Facts, Share, Tally

_CONTEXTS: Final = (2048, 8192, 32768, 131072)  # tokens for which the size of a cache is given
_MOST_LAYERS: Final = 2000


def operator_rows(facts: Facts) -> tuple[OperatorRow, ...]:
    total, spent, weights = facts.nodes_total, facts.costs.total.operators, _weights_by_operator(facts)
    rows = []
    for domain, op, count in facts.operators:
        cost, share = spent.get((domain, op)), weights.get((domain, op), Share())
        macs, flops = (cost.macs, cost.flops) if cost else (0, 0)
        name = domain or "ai.onnx"
        rows.append(OperatorRow(op, name, count, count / total, share.elements, share.nbytes, macs, flops))
    return tuple(rows)


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


def compute_section(facts: Facts) -> ComputeSection:
    total = facts.costs.total
    moved = total.read + total.written
    gaps = [
        Uncounted(op, missing.count, why, missing.macs, tuple(missing.nodes))
        for (op, why), missing in sorted(total.missing.items())
    ]
    known = bool(moved) and (bool(total.flops) or not gaps)
    return ComputeSection(
        macs=total.macs,
        flops=total.flops,
        cheapest=_cheapest(total),
        bytes_moved=moved,
        arithmetic_intensity=total.flops / moved if known else None,
        coverage=Coverage(total.counted, total.nodes, total.unmoved.total(), tuple(gaps)),
        formula=_formula(facts),
        top=tuple(TopNode(name, op, macs, macs / total.macs) for macs, name, op in total.dearest()),
    )


def _cheapest(total: Tally) -> Work | None:
    if not total.spared_macs and not total.spared_other:
        return None
    macs = total.macs - total.spared_macs
    return Work(macs, 2 * macs + total.other - total.spared_other)


def _formula(facts: Facts) -> FormulaSection:
    found = facts.formula
    return FormulaSection(
        variables=tuple(variable.name for variable in found.variables),
        dims={variable.name: variable.keys for variable in found.variables},
        macs=found.expressions.get("macs"),
        flops=found.expressions.get("flops"),
        bytes_moved=found.expressions.get("bytes_moved"),
        peak_activation_bytes=found.expressions.get("peak_activation_bytes"),
        kv_cache_bytes=found.expressions.get("kv_cache_bytes"),
        checked_at=tuple(dict(point) for point in found.checked_at),
    )


def memory_section(facts: Facts) -> MemorySection:
    peak = facts.memory.peak
    return MemorySection(
        weights_bytes=facts.parameters.nbytes,
        peak_activation_bytes=peak.nbytes if peak else None,
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
            spent[domain, op].written if (domain, op) in spent else 0,
        )
        for domain, op, _ in facts.operators
    ]
    return tuple(row for row in rows if row.weight_bytes or row.written_bytes)


def _cache(cache: Cache) -> CacheSection:
    return CacheSection(
        bytes_per_token=cache.bytes_per_token,
        layers=cache.layers,
        kv_heads=cache.kv_heads,
        head_dim=cache.head_dim,
        dtype=cache.dtype,
        at=tuple(CacheSize(tokens, cache.at(tokens)) for tokens in _CONTEXTS),
        tensors=cache.tensors,
    )
