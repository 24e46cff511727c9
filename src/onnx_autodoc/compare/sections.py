"""Differences between the sections of two cards: declared facts, counts, precision, findings, and all other fields.

Together these make a comparison complete: it is empty only where the cards are equal.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from msgspec import Struct

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
from onnx_autodoc.text import format_count


class ComparedFact(NamedTuple):
    """A field of the card. With a path that ends in `*`, every entry of a table, whose key completes the label."""

    path: str
    label: str


SIZES: Final = ("family", "layers", "hidden", "heads", "kv_heads", "head_dim", "vocab", "context", "patch")
_SIZE_LABELS: Final = {
    "hidden": "Width",
    "kv_heads": "Heads for keys and values",
    "head_dim": "Head width",
    "vocab": "Vocabulary",
    "context": "Longest context",
    "patch": "Patch size",
}
_FACTS: Final = (
    *(ComparedFact(f"structure.{name}", _SIZE_LABELS.get(name, name.capitalize())) for name in SIZES),
    ComparedFact("memory.kv_cache.layers", "KV cache layers"),
    ComparedFact("memory.kv_cache.kv_heads", "KV cache heads"),
    ComparedFact("memory.kv_cache.head_dim", "KV cache head width"),
    ComparedFact("memory.kv_cache.dtype", "KV cache type"),
    ComparedFact("task.name", "Task"),
    ComparedFact("task.classes", "Classes"),
    ComparedFact("model.opsets.*", "Opset of "),
    ComparedFact("model.producer", "Producer"),
    ComparedFact("model.format", "Format"),
    ComparedFact("model.ir_version", "IR version"),
    ComparedFact("model.domain", "Domain"),
    ComparedFact("model.version", "Version"),
    ComparedFact("model.doc", "Documentation"),
    ComparedFact("model.metadata.*", "Metadata "),
    ComparedFact("model.file.external.*", "File beside it, "),
)


def fact_changes(was: Card, now: Card) -> tuple[FactChange, ...]:
    old, new = (_facts(card) for card in (was, now))
    changed = [
        FactChange(path=fact.path, label=fact.label, was=old.get(fact), now=new.get(fact))
        for fact in dict.fromkeys((*old, *new))
        if old.get(fact) != new.get(fact)
    ]
    return (*changed, *_hash_changes(was, now), *_gap_changes(was, now))


def _facts(card: Card) -> dict[ComparedFact, Plain]:
    facts: dict[ComparedFact, Plain] = {}
    for fact in _FACTS:
        table = fact.path.removesuffix(".*")
        value = figure_at(card, table)
        if table == fact.path:
            if figure_at(card, table.rpartition(".")[0]) is not None:
                facts[fact] = _plain(value)
        elif table == "model.file.external":
            for file in card.model.file.external:
                size = "of unknown size" if file.bytes is None else f"{file.bytes} bytes"
                entry = ComparedFact(f"{table}.{file.path}", fact.label + file.path)
                facts[entry] = size if file.present else "not there"
        else:
            facts |= {ComparedFact(f"{table}.{key}", fact.label + key): each for key, each in value.items()}
    return facts


def _plain(value: object) -> Plain:
    if isinstance(value, Struct):  # the producer: name and version
        return " ".join(filter(None, (getattr(value, name) for name in value.__struct_fields__))) or None
    if isinstance(value, tuple):
        return "×".join(map(str, value))
    assert value is None or isinstance(value, str | int | float)
    return value


def _hash_changes(was: Card, now: Card) -> Iterator[FactChange]:
    """Hashes differ only where both cards have one."""
    old, new = (
        {"": ("the file", card.model.file.sha256)}
        | {f".external.{file.path}": (file.path, file.sha256) for file in card.model.file.external}
        for card in (was, now)
    )
    for place, (label, digest) in new.items():
        _, before = old.get(place, ("", None))
        if before is not None and digest is not None and before != digest:
            yield FactChange(path=f"model.file{place}.sha256", label=f"SHA-256 of {label}", was=before, now=digest)


def _gap_changes(was: Card, now: Card) -> Iterator[FactChange]:
    for gap in was.gaps:
        if gap not in now.gaps:
            yield FactChange(path=f"gaps.{gap.section}", label="Was not known", was=gap.reason, now=None)
    for gap in now.gaps:
        if gap not in was.gaps:
            yield FactChange(path=f"gaps.{gap.section}", label="Is not known", was=None, now=gap.reason)


def operator_changes(was: Card, now: Card) -> tuple[CountChange, ...]:
    """Return the operators whose number differs, the largest change first."""
    old, new = ({(row.op, row.domain): row.count for row in card.graph.operators} for card in (was, now))
    changes = [(key, old.get(key, 0), new.get(key, 0)) for key in {**old, **new} if old.get(key) != new.get(key)]
    changes.sort(key=lambda row: (-abs(row[2] - row[1]), row[0]))
    return tuple(CountChange(name=op, domain=domain, was=one, now=two) for (op, domain), one, two in changes)


def kind_changes(was: Card, now: Card) -> tuple[CountChange, ...]:
    """Return the kinds of blocks and of residual connections whose number differs."""
    old, new = (_count_kinds(card) for card in (was, now))
    names = [name for name in {**old, **new} if old.get(name, 0) != new.get(name, 0)]
    return tuple(CountChange(name=name, domain=None, was=old.get(name, 0), now=new.get(name, 0)) for name in names)


def _count_kinds(card: Card) -> dict[str, int]:
    residuals = {f"{name} skip": times for name, times in card.structure.residuals.items()}
    return {block.kind: block.count for block in card.structure.blocks} | residuals


def attention_changes(was: Card, now: Card) -> Iterator[BlockChange]:
    """Yield the change of heads and head sizes over the whole model."""
    old, new = (_count_heads(card.structure.attention) for card in (was, now))
    if old != new:
        words = [
            "; ".join(f"{format_count(times)} of {heads}" for heads, times in sorted(side.items())) or "none"
            for side in (old, new)
        ]
        text = f"Attention, over all layers: {words[0]} → {words[1]}"
        yield BlockChange(kind="attention", path="", was=words[0], now=words[1], text=text)


def _count_heads(kinds: tuple[AttentionKind, ...]) -> Counter[str]:
    counts = Counter[str]()
    for kind in kinds:
        heads = "heads not known" if kind.heads is None else f"{kind.heads} heads" if kind.heads != 1 else "1 head"
        width = f" × {kind.head_dim}" if kind.head_dim else ""
        marks = [f"{kind.kv_heads} for keys and values"] if kind.kv_heads not in (None, kind.heads) else []
        counts[", ".join((heads + width, *marks, *(["cross"] if kind.cross else [])))] += kind.count
    return counts


def precision_change(was: Card, now: Card) -> PrecisionChange | None:
    old, new = was.model.precision, now.model.precision
    if (old.label, old.scheme, old.weights, old.stayed) == (new.label, new.scheme, new.weights, new.stayed):
        return None
    shares = [
        Shares(dtype=dtype, was=old.weights.get(dtype), now=new.weights.get(dtype))
        for dtype in {**old.weights, **new.weights}
        if old.weights.get(dtype) != new.weights.get(dtype)
    ]
    return PrecisionChange(
        was=old.label,
        now=new.label,
        scheme_was=old.scheme,
        scheme_is=new.scheme,
        weights=tuple(shares),
        stayed=new.stayed,
    )


_FindingKey = tuple[str, str | None, int]


def finding_changes(was: Card, now: Card) -> FindingsChange:
    old, new = (_key_findings(card.findings) for card in (was, now))
    both = [key for key in old if key in new and _shown_fields(old[key]) != _shown_fields(new[key])]
    return FindingsChange(
        new=tuple(_finding_change(None, found) for key, found in new.items() if key not in old),
        gone=tuple(_finding_change(found, None) for key, found in old.items() if key not in new),
        changed=tuple(_finding_change(old[key], new[key]) for key in both),
    )


def _key_findings(findings: tuple[Finding, ...]) -> dict[_FindingKey, Finding]:
    """Key findings by rule and subject, and by occurrence where a rule has several on one subject."""
    occurrences = Counter[tuple[str, str | None]]()
    keyed: dict[_FindingKey, Finding] = {}
    for finding in findings:
        key = (finding.rule, finding.about)
        keyed[*key, occurrences[key]] = finding
        occurrences[key] += 1
    return keyed


def _shown_fields(finding: Finding) -> tuple[object, ...]:
    return finding.count, finding.severity, finding.confidence, finding.message


def _finding_change(old: Finding | None, new: Finding | None) -> FindingChange:
    shown = new or old
    assert shown is not None
    return FindingChange(
        rule=shown.rule,
        about=shown.about,
        severity=str(shown.severity),
        message=shown.message,
        was=None if old is None else old.count,
        now=None if new is None else new.count,
    )


# Fields that are compared by another part, that follow from others, or that do not describe the model.
_COMPARED: Final = frozenset((*(figure.path for figure in FIGURES), *(fact.path.removesuffix(".*") for fact in _FACTS)))
_IGNORED: Final = frozenset(
    (
        *("schema_version", "generated", "interface", "summary", "gaps", "weights", "uncertain", "compute.cheapest"),
        *("model.name", "model.file", "model.producer", "structure.tree.label"),
        *(f"model.precision.{name}" for name in ("label", "scheme", "weights", "stayed")),
    )
)
# The fields of these are reported one by one, of all other sections as one difference.
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
    reported = _reported(diff)
    every = dict.fromkeys((*_field_changes(was, now), *_port_field_changes(was, now)))
    if was.gaps != now.gaps and sorted(was.gaps, key=str) == sorted(now.gaps, key=str):
        every["gaps"] = None
    paths = sorted(every, key=lambda path: _REPORTED_LAST.index(path) if path in _REPORTED_LAST else -1)
    return tuple(path for path in paths if path not in reported)


def _field_changes(was: Card, now: Card) -> Iterator[str]:
    for path in differing_fields(was, now):
        if path not in _COMPARED:
            section, _, rest = path.partition(".")
            short = path if path.rpartition(".")[0] in _OPENED else ".".join((section, *rest.split(".")[:1]))
            yield _MERGED.get(short, short.rstrip("."))


def differing_fields(was: Struct, now: Struct, path: str = "") -> Iterator[str]:
    """Yield the paths of fields that differ, into nested structs, except ignored ones."""
    for name in was.__struct_fields__:
        old, new, field = getattr(was, name), getattr(now, name), f"{path}{name}"
        if field in _IGNORED or old == new:
            continue
        if isinstance(old, Struct) and isinstance(new, Struct):
            yield from differing_fields(old, new, f"{field}.")
        else:
            yield field


def _port_field_changes(was: Card, now: Card) -> Iterator[str]:
    for side in ("inputs", "outputs"):
        pairs = pair_ports(getattr(was.interface, side), getattr(now.interface, side)).both
        if any(old.role != new.role for old, new in pairs):
            yield f"interface.{side}.role"
        if any((old.bound, old.sample) != (new.bound, new.sample) for old, new in pairs):
            yield f"interface.{side}.bound"


def _reported(diff: Diff) -> set[str]:
    by_part: Mapping[str, bool] = {
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
    return {path for path, is_reported in by_part.items() if is_reported}
