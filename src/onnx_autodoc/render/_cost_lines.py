"""What a model costs, in lines for a terminal."""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from onnx_autodoc.card import Card
from onnx_autodoc.render._headline import cache_of, intensity_of, is_partly_counted
from onnx_autodoc.text import clean, count, memory, named, percent, plural, short

Line = tuple[str, Text | str]

_MOST_WORKERS: Final = 4
_MOST_SIZES: Final = 42  # letters
_LONGEST_NODE: Final = 30
_LONGEST_FORMULA: Final = 220


def parameters_line(card: Card) -> str:
    held = card.parameters
    apart = {"statistics": held.statistics, "for quantization": held.quantization}
    more = "".join(f" · {short(number)} {name}" for name, number in apart.items() if number)
    unread = f" · {short(held.unread)} of them unused" if held.unread else ""
    doubtful = is_partly_counted(card)
    if not held.total:
        return ("not known: the file contradicts itself" if doubtful else "none in the file") + more
    total = f"{'at least ' * doubtful}{short(held.total)} in {plural(held.tensors, 'tensor')}"
    return f"{total} · weights {memory(held.bytes)}{more}{unread}"


def compute_lines(card: Card) -> Iterator[Line]:
    done, formula = card.compute, card.compute.formula.macs
    gaps = done.coverage.gaps
    macs = _bounded(done.macs, "MACs", any(gap.macs for gap in gaps))
    yield "Compute", f"{macs} · {_bounded(done.flops, 'FLOPs', bool(gaps))}{_sizes(card)}"
    if done.cheapest is not None:
        yield "", f"in the dearest branches; {short(done.cheapest.macs, 'MACs')} in the cheapest: the data decide"
    if formula is not None and done.macs:
        yield "", f"MACs = {clean(formula, _LONGEST_FORMULA)}{_apart(card)}"


def _apart(card: Card) -> str:
    """At which sizes a formula holds, where not at all: for height, width in steps of 32 from 224."""
    formula, groups = card.compute.formula, dict[str, list[str]]()
    for name, step in formula.steps.items():
        size = next(
            (card.assumptions.dims[dim] for dim in formula.dims.get(name, ()) if dim in card.assumptions.dims), 1
        )
        parts = [f"in steps of {step} from {size}"] if step != 1 else []
        least = formula.least.get(name, 1)
        parts += [f"not below {least}"] if least > max((size - 1) % max(step, 1) + 1, 1) else []
        if parts:
            groups.setdefault(", ".join(parts), []).append(named(name, 24))
    return "".join(f", for {', '.join(names)} {apart}" for apart, names in groups.items())


def _bounded(number: int | None, unit: str, more: bool) -> str:
    if number is None:
        return f"{unit} not known"
    return f"at least {short(number, unit)}" if more else short(number, unit)


def _sizes(card: Card) -> str:
    """The sizes that a cost holds for, where there are few."""
    dims = card.assumptions.dims
    few = ", ".join(f"{named(name, 24)} {size}" for name, size in dims.items())
    return f", at {few}" if dims and len(few) <= _MOST_SIZES else ", at the sizes below" if dims else ""


def memory_lines(card: Card) -> Iterator[Line]:
    used, done = card.memory, card.compute
    if used.peak_activation_bytes is None:
        yield "Memory", "peak activations not known" if card.graph.nodes else "no activations: the graph has no nodes"
        return
    least = "at least " if used.unsized else ""
    yield "Memory", f"peak activations {least}{memory(used.peak_activation_bytes)} at {_tail(used.peak_node or '')}"
    least = "at least " if done.coverage.unmoved else ""
    intensity = intensity_of(card)
    each = f" · {intensity}" if intensity is not None else ""
    if done.bytes_moved is not None:
        yield "", f"{least}{memory(done.bytes_moved)} moved{each}"


def _tail(name: str) -> str:
    """A long path by its end, which tells more."""
    name = clean(name, 400)
    return named(name if len(name) <= _LONGEST_NODE else "…" + name[1 - _LONGEST_NODE :], _LONGEST_NODE)


def cache_lines(card: Card) -> Iterator[Line]:
    kept, absent = card.memory.kv_cache, cache_of(card)
    if kept is None:
        if absent is not None:
            yield "KV cache", absent
        return
    parts = [plural(kept.layers, "layer")] if kept.layers else []
    parts += [plural(kept.kv_heads, "head") + f" of {kept.head_dim}"] if kept.kv_heads else []
    yield "KV cache", f"{memory(kept.bytes_per_token)} per token and sequence ({', '.join([*parts, kept.dtype])})"
    yield "", " · ".join(f"{size.tokens // 1024}k {memory(size.bytes)}" for size in kept.at)


def work_line(card: Card) -> str:
    """By parts of the model, where it has blocks; by operator where nothing is multiplied and added."""
    parts = card.structure.work
    if parts:
        shown = ", ".join(f"{part.part} {percent(part.share)}" for part in parts[:_MOST_WORKERS])
        missing = any(gap.macs for gap in card.compute.coverage.gaps)
        return f"{shown} of the MACs" + (" that were counted" if missing else "")
    total = card.compute.flops
    flops = [(row.flops, row.op) for row in card.graph.operators if row.flops]
    most = sorted(flops, key=lambda row: -row[0])[:_MOST_WORKERS]
    shown = ", ".join(f"{named(op, 40)} {percent(each / (total or each))}" for each, op in most)
    return f"{shown} of the FLOPs" if shown else "not known" if total is None else "no arithmetic"


def not_counted_line(card: Card) -> str:
    covered = card.compute.coverage
    if not covered.gaps:
        return f"nothing: {count(covered.counted)} of {plural(covered.nodes, 'node')}"
    ops = dict.fromkeys(gap.op for gap in covered.gaps)
    names = ", ".join(named(op, 40) for op in list(ops)[:_MOST_WORKERS]) + (" …" if len(ops) > _MOST_WORKERS else "")
    return f"{count(covered.nodes - covered.counted)} of {plural(covered.nodes, 'node')}: {names}"
