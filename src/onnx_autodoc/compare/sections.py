"""Differences between the sections of two cards: declared facts, counts, precision, findings, and all other fields.

Together these make a comparison complete: it is empty only where the cards are equal.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import astuple

from onnx_autodoc.card import AttentionKind, Card, Finding, figure_at
from onnx_autodoc.compare.figures import FIGURES
from onnx_autodoc.compare.interface import pair_ports
from onnx_autodoc.compare.types import (
    BlockChange,
    CountChange,
    Diff,
    FactChange,
    FindingChange,
    FindingsChange,
    Plain,
    PrecisionChange,
    Shares,
)
from onnx_autodoc.text import format_count, pluralize

K = TypeVar("K")
V = TypeVar("V")

SIZE_LABELS: Final = {
    "family": "Family",
    "layers": "Layers",
    "hidden": "Width",
    "heads": "Heads",
    "kv_heads": "KV heads",
    "head_dim": "Head width",
    "vocab": "Vocabulary",
    "context": "Context length",
    "patch": "Patch size",
}
# Labels by path. A path that ends in `*` stands for every entry of a table, whose key completes the label.
_FACTS: Final = {
    **{f"structure.{name}": label for name, label in SIZE_LABELS.items()},
    "memory.kv_cache.layers": "KV cache layers",
    "memory.kv_cache.kv_heads": "KV cache heads",
    "memory.kv_cache.head_dim": "KV cache head width",
    "memory.kv_cache.dtype": "KV cache type",
    "task.name": "Task",
    "task.classes": "Classes",
    "model.opsets.*": "Opset of ",
    "model.producer": "Producer",
    "model.format": "Format",
    "model.ir_version": "IR version",
    "model.domain": "Domain",
    "model.version": "Version",
    "model.doc": "Documentation",
    "model.metadata.*": "Metadata ",
    "model.file.external.*": "External file ",
}


def changed_entries(
    was: Mapping[K, V], now: Mapping[K, V], absent: V | None = None
) -> Iterator[tuple[K, V | None, V | None]]:
    """Yield the key and both values of each entry that differs; `absent` is the value of a missing one."""
    for key in {**was, **now}:
        old, new = was.get(key, absent), now.get(key, absent)
        if old != new:
            yield key, old, new


def number_repeats(items: Iterable[V], key_of: Callable[[V], K]) -> dict[tuple[K, int], V]:
    """Key items by `key_of`, which may repeat, and the number of earlier items with that key."""
    repeats = Counter[K]()
    keyed: dict[tuple[K, int], V] = {}
    for item in items:
        key = key_of(item)
        keyed[key, repeats[key]] = item
        repeats[key] += 1
    return keyed


def fact_changes(was: Card, now: Card) -> Iterator[FactChange]:
    """Yield the changed facts, then hashes that differ where both cards have one, then gaps."""
    for (path, label), old, new in changed_entries(dict(_list_facts(was)), dict(_list_facts(now))):
        yield FactChange(path, label, old, new)
    before = dict(_list_hashes(was))
    for (path, label), digest in _list_hashes(now):
        old_digest = before.get((path, label))
        if old_digest is not None and digest is not None and old_digest != digest:
            yield FactChange(path, label, old_digest, digest)
    gaps_before, gaps_after = set(was.gaps), set(now.gaps)
    for gap in was.gaps:
        if gap not in gaps_after:
            yield FactChange(f"gaps.{gap.section}", "Resolved limitation", gap.reason, None)
    for gap in now.gaps:
        if gap not in gaps_before:
            yield FactChange(f"gaps.{gap.section}", "New limitation", None, gap.reason)


def _list_facts(card: Card) -> Iterator[tuple[tuple[str, str], Plain]]:
    """Yield (path, label) and value of each fact; an optional section that is absent has none."""
    for path, label in _FACTS.items():
        section, _, field = path.rpartition(".")
        if field != "*":
            if figure_at(card, section) is not None:
                yield (path, label), _to_plain(figure_at(card, path))
            continue
        entries = figure_at(card, section)
        if section == "model.file.external":
            sizes = {file.path: "unknown size" if file.bytes is None else f"{file.bytes} bytes" for file in entries}
            entries = {file.path: sizes[file.path] if file.present else "not found" for file in entries}
        yield from (((f"{section}.{key}", label + key), value) for key, value in entries.items())


def _to_plain(value: object) -> Plain:
    if isinstance(value, Struct):  # the producer: name and version
        return " ".join(filter(None, astuple(value))) or None
    if isinstance(value, tuple):
        return "×".join(map(str, value))
    assert value is None or isinstance(value, str | int | float)
    return value


def _list_hashes(card: Card) -> Iterator[tuple[tuple[str, str], str | None]]:
    yield ("model.file.sha256", "SHA-256 of the file"), card.model.file.sha256
    for file in card.model.file.external:
        yield (f"model.file.external.{file.path}.sha256", f"SHA-256 of {file.path}"), file.sha256


def operator_changes(was: Card, now: Card) -> tuple[CountChange, ...]:
    """Return the operators whose number differs, the largest change first."""
    old, new = ({(row.op, row.domain): row.count for row in card.graph.operators} for card in (was, now))
    changes = [CountChange(*key, before or 0, after or 0) for key, before, after in changed_entries(old, new)]
    return tuple(sorted(changes, key=lambda row: (-abs(row.now - row.was), row.name, row.domain)))


def kind_changes(was: Card, now: Card) -> tuple[CountChange, ...]:
    """Return the kinds of blocks and of residual connections whose number differs."""
    old, new = (
        {block.kind: block.count for block in card.structure.blocks}
        | {f"{name} skip": count for name, count in card.structure.residuals.items()}
        for card in (was, now)
    )
    changes = changed_entries(old, new, absent=0)
    return tuple(CountChange(kind, None, before or 0, after or 0) for kind, before, after in changes)


def attention_changes(was: Card, now: Card) -> Iterator[BlockChange]:
    """Yield the change of heads and head sizes over the whole model."""
    old, new = (_describe_heads(card.structure.attention) for card in (was, now))
    if old != new:
        yield BlockChange("attention", "", old, new, f"Attention over all layers: {old} → {new}")


def _describe_heads(kinds: tuple[AttentionKind, ...]) -> str:
    counts = Counter[str]()
    for kind in kinds:
        heads = "heads unknown" if kind.heads is None else f"{kind.heads} heads" if kind.heads != 1 else "1 head"
        width = f" × {kind.head_dim}" if kind.head_dim else ""
        marks = [] if kind.kv_heads in (None, kind.heads) else [pluralize(kind.kv_heads or 0, "KV head")]
        counts[", ".join((heads + width, *marks, *(["cross"] if kind.cross else [])))] += kind.count
    return "; ".join(f"{format_count(count)} × ({heads})" for heads, count in sorted(counts.items())) or "none"


def precision_change(was: Card, now: Card) -> PrecisionChange | None:
    old, new = was.model.precision, now.model.precision
    if (old.label, old.scheme, old.weights, old.stayed) == (new.label, new.scheme, new.weights, new.stayed):
        return None
    shares = tuple(Shares(dtype, before, after) for dtype, before, after in changed_entries(old.weights, new.weights))
    return PrecisionChange(old.label, new.label, old.scheme, new.scheme, shares, new.stayed)


def finding_changes(was: Card, now: Card) -> FindingsChange:
    """Compare findings by rule and subject."""
    old, new = (number_repeats(card.findings, lambda row: (row.rule, row.about)) for card in (was, now))
    both = [(old[key], new[key]) for key in old if key in new]
    return FindingsChange(
        new=tuple(_finding_change(row, None, row.count) for key, row in new.items() if key not in old),
        gone=tuple(_finding_change(row, row.count, None) for key, row in old.items() if key not in new),
        changed=tuple(
            _finding_change(after, before.count, after.count)
            for before, after in both
            if (before.count, before.severity, before.confidence, before.message)
            != (after.count, after.severity, after.confidence, after.message)
        ),
    )


def _finding_change(shown: Finding, was: int | None, now: int | None) -> FindingChange:
    return FindingChange(shown.rule, shown.about, str(shown.severity), shown.message, was, now)


# Fields that are compared by another part, that follow from others, or that do not describe the model.
_COMPARED: Final = frozenset((*(figure.path for figure in FIGURES), *(path.removesuffix(".*") for path in _FACTS)))
_IGNORED: Final = frozenset(
    (
        *("schema_version", "generated", "interface", "summary", "gaps", "weights", "uncertain", "compute.cheapest"),
        *("model.name", "model.file", "model.producer", "structure.tree.label"),
        *(f"model.precision.{name}" for name in ("label", "scheme", "weights", "stayed")),
    )
)
# Fields of these sections are reported one by one; any other section is reported as a whole.
_OPENED: Final = frozenset(("model.precision", "compute.coverage", "compute.cheapest", "graph.shapes"))
_MERGED: Final = {"structure.residuals": "structure.blocks"}
# These come after the others.
_REPORTED_LAST: Final = (
    *("interface.inputs.role", "interface.inputs.bound", "interface.outputs.role", "interface.outputs.bound"),
    *("model.precision.story", "compute.coverage.gaps", "memory.kv_cache", "gaps", "structure.blocks"),
    "structure.tree",
)


def other_changes(was: Card, now: Card, diff: Diff) -> tuple[str, ...]:
    """Return the paths of all differences that no other part of `diff` reports."""
    reported_elsewhere: Mapping[str, bool] = {
        "assumptions.dims": diff.sizes is not None,
        "assumptions.values": diff.sizes is not None,
        "graph.operators": bool(diff.operators),
        "findings": not diff.findings.empty,
        "structure.tree": bool(diff.blocks),
        "structure.blocks": bool(diff.kinds),
        "structure.attention": any(change.kind == "attention" for change in diff.blocks),
        "model.precision.story": diff.precision is not None,
        "parameters.by_dtype": diff.precision is not None,
    }
    paths = dict.fromkeys((*_field_changes(was, now), *_port_field_changes(was, now)))
    if was.gaps != now.gaps and sorted(was.gaps, key=str) == sorted(now.gaps, key=str):
        paths["gaps"] = None
    ordered = sorted(paths, key=lambda path: _REPORTED_LAST.index(path) if path in _REPORTED_LAST else -1)
    return tuple(path for path in ordered if not reported_elsewhere.get(path))


def _field_changes(was: Card, now: Card) -> Iterator[str]:
    for path in _differing_fields(was, now):
        if path not in _COMPARED:
            short = path if path.rpartition(".")[0] in _OPENED else ".".join(path.split(".")[:2])
            yield _MERGED.get(short, short)


def _differing_fields(was: Struct, now: Struct, path: str = "") -> Iterator[str]:
    """Yield the paths of fields that differ, into nested structs, except ignored ones."""
    for name in was.__struct_fields__:
        old, new, field = getattr(was, name), getattr(now, name), f"{path}{name}"
        if field in _IGNORED or old == new:
            continue
        if isinstance(old, Struct) and isinstance(new, Struct):
            yield from _differing_fields(old, new, f"{field}.")
        else:
            yield field


def _port_field_changes(was: Card, now: Card) -> Iterator[str]:
    for side in ("inputs", "outputs"):
        pairs = pair_ports(getattr(was.interface, side), getattr(now.interface, side)).both
        if any(old.role != new.role for old, new in pairs):
            yield f"interface.{side}.role"
        if any((old.bound, old.sample) != (new.bound, new.sample) for old, new in pairs):
            yield f"interface.{side}.bound"
