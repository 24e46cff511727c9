"""The kinds of attention in a model: how many of each, and what tells them apart."""

from collections import Counter

from msgspec import Struct

from onnx_autodoc.patterns import Net, Term


class AttentionKind(Struct, frozen=True):
    """`form`: plain (written out), additive, linear, or the operator that does it. None: the graph does not tell."""

    count: int
    form: str
    heads: int | None
    kv_heads: int | None
    head_dim: int | None
    cross: bool
    causal: bool
    rotary: bool
    windowed: bool
    relative_bias: bool


def attention(net: Net) -> tuple[AttentionKind, ...]:
    """Most frequent first."""
    counts = Counter(_kind(term) for term in net.everything() if term.op == "attention")
    return tuple(AttentionKind(count, *kind) for kind, count in counts.most_common())


def _kind(term: Term) -> tuple[str, int | None, int | None, int | None, bool, bool, bool, bool, bool]:
    facts = term.facts
    windowed = bool(facts.get("windowed")) or facts.get("window") is not None
    return (
        str(facts.get("form")),
        facts.get("heads"),
        facts.get("kv_heads"),
        facts.get("head_dim"),
        bool(facts.get("cross")),
        bool(facts.get("causal")),
        bool(facts.get("rotary")),
        windowed,
        facts.get("bias") == "relative",
    )
