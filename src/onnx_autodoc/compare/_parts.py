"""Operators, kinds of blocks, precision and findings: what there is more of, less of, newly or no longer."""

from collections import Counter
from collections.abc import Iterator, Mapping

from onnx_autodoc.card import AttentionKind, Card, Finding
from onnx_autodoc.compare._types import (
    BlockChange,
    CountChange,
    FindingChange,
    FindingsChange,
    PrecisionChange,
    Shares,
)
from onnx_autodoc.text import count


def operator_changes(was: Card, now: Card) -> tuple[CountChange, ...]:
    """By how much they changed, the largest change first."""
    old, new = ({(row.op, row.domain): row.count for row in card.graph.operators} for card in (was, now))
    keys = dict.fromkeys((*old, *new))
    found = [(key, old.get(key, 0), new.get(key, 0)) for key in keys if old.get(key) != new.get(key)]
    found.sort(key=lambda row: (-abs(row[2] - row[1]), row[0]))
    return tuple(CountChange(name=op, domain=domain, was=one, now=two) for (op, domain), one, two in found)


def kind_changes(was: Card, now: Card) -> tuple[CountChange, ...]:
    """Blocks as they were counted in the whole graph, and skip connections by what joins them."""
    old, new = (_kinds(card) for card in (was, now))
    names = [name for name in dict.fromkeys((*old, *new)) if old.get(name, 0) != new.get(name, 0)]
    return tuple(CountChange(name=name, domain=None, was=old.get(name, 0), now=new.get(name, 0)) for name in names)


def _kinds(card: Card) -> dict[str, int]:
    skips = {f"{name} skip": times for name, times in card.structure.residuals.items()}
    return {block.kind: block.count for block in card.structure.blocks} | skips


def attention_changes(was: Card, now: Card) -> Iterator[BlockChange]:
    """Heads and their sizes over the whole model, whatever operator does them."""
    old, new = (_heads(card.structure.attention) for card in (was, now))
    if old != new:
        words = _listed(old), _listed(new)
        text = f"Attention, over all layers: {words[0]} → {words[1]}"
        yield BlockChange(kind="attention", path="", was=words[0], now=words[1], text=text)


def _heads(kinds: tuple[AttentionKind, ...]) -> Counter[str]:
    found = Counter[str]()
    for kind in kinds:
        found[_said(kind)] += kind.count
    return found


def _said(kind: AttentionKind) -> str:
    heads = "heads not known" if kind.heads is None else f"{kind.heads} heads" if kind.heads != 1 else "1 head"
    wide = f" × {kind.head_dim}" if kind.head_dim else ""
    grouped = kind.kv_heads not in (None, kind.heads)
    marks = [f"{kind.kv_heads} for keys and values"] if grouped else []
    marks += ["cross"] if kind.cross else []
    return ", ".join((heads + wide, *marks))


def _listed(found: Mapping[str, int]) -> str:
    return "; ".join(f"{count(times)} of {what}" for what, times in sorted(found.items())) or "none"


def precision_change(was: Card, now: Card) -> PrecisionChange | None:
    old, new = was.model.precision, now.model.precision
    if (old.label, old.scheme, old.weights, old.stayed) == (new.label, new.scheme, new.weights, new.stayed):
        return None
    dtypes = dict.fromkeys((*old.weights, *new.weights))
    shares = [
        Shares(dtype=dtype, was=old.weights.get(dtype), now=new.weights.get(dtype))
        for dtype in dtypes
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


def finding_changes(was: Card, now: Card) -> FindingsChange:
    old, new = (_by_rule(card.findings) for card in (was, now))
    return FindingsChange(
        new=tuple(_finding(key, None, found) for key, found in new.items() if key not in old),
        gone=tuple(_finding(key, found, None) for key, found in old.items() if key not in new),
        changed=tuple(_finding(key, old[key], new[key]) for key in old if key in new and _differ(old[key], new[key])),
    )


Key = tuple[str, str | None, int]


def _by_rule(findings: tuple[Finding, ...]) -> dict[Key, Finding]:
    """A rule may speak several times of one thing: then by turns."""
    turns = Counter[tuple[str, str | None]]()
    found: dict[Key, Finding] = {}
    for finding in findings:
        key = (finding.rule, finding.about)
        found[*key, turns[key]] = finding
        turns[key] += 1
    return found


def _differ(old: Finding, new: Finding) -> bool:
    return (old.count, old.severity, old.confidence, old.message) != (
        new.count,
        new.severity,
        new.confidence,
        new.message,
    )


def _finding(key: Key, old: Finding | None, new: Finding | None) -> FindingChange:
    shown = new or old
    assert shown is not None
    return FindingChange(
        rule=key[0],
        about=key[1],
        severity=str(shown.severity),
        message=shown.message,
        was=None if old is None else old.count,
        now=None if new is None else new.count,
    )
