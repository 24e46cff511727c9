"""Attention as one operator: what its attributes and inputs say of heads, masks and projections."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.patterns._draft import Draft, Speller, Spelling
from onnx_autodoc.patterns._net import Fact


def _heads(it: Spelling, heads: int, kv_heads: int, width: int | None, packed: bool) -> dict[str, Fact]:
    """`width` is what the queries (or all three, packed) are wide together."""
    parts = heads + 2 * kv_heads if packed else heads
    return {
        "heads": heads or None,
        "kv_heads": kv_heads or None,
        "head_dim": width // parts if width and parts and width % parts == 0 else None,
        "form": it.node.op,
    }


def _width(it: Spelling, value: int) -> int | None:
    dims = it.net.shape(value)
    return dims[-1] if dims and len(dims) < 5 else None


def _data(it: Spelling, *values: int) -> list[int]:
    return [value for value in values if value and not it.net.fixed[value]]


def _projecting(it: Spelling) -> Iterator[Draft]:
    """Attention(x, W, b, mask, past, bias): projects by itself, then attends."""
    if it.node.domain != "com.microsoft":
        yield from _standard(it)
        return
    weight = it.net.shape(it.input(1))
    wide = weight[-1] if weight else None
    made = it.inner()
    facts = {"from": weight[0] if weight else None, "to": wide, "biased": bool(it.input(2)), "weight": it.input(1)}
    given = tuple(value for value in (it.input(0), it.input(1), it.input(2)) if value)
    yield it.aside("linear", given, made, **facts)
    heads = it.number("num_heads")
    sizes = it.numbers("qkv_hidden_sizes")
    found = _heads(it, heads, heads, sizes[0] if sizes else wide, packed=not sizes)
    found |= {"causal": bool(it.number("unidirectional")), "rotary": bool(it.number("do_rotary"))}
    yield it.draft("attention-core", [made, *_data(it, *it.inputs[3:])], **found, queries=made, keys=made, values=made)


def _multi_head(it: Spelling) -> Iterator[Draft]:
    """MultiHeadAttention(q, k, v, bias, mask, bias, past key, past value)."""
    q, k, v = it.input(0), it.input(1), it.input(2)
    heads = it.number("num_heads")
    dims = it.net.shape(q)
    packed = not k and not (dims and len(dims) == 5)
    facts = _heads(it, heads, heads, _width(it, q), packed=packed)
    if dims and len(dims) == 5:
        facts["head_dim"] = dims[-1]
    facts |= {"causal": bool(it.number("unidirectional")) or None}
    facts |= {"queries": q, "keys": k or q, "values": v or q}
    yield it.draft("attention-core", _data(it, q, k, v, *it.inputs[4:]), **facts)


def _grouped(it: Spelling) -> Iterator[Draft]:
    """GroupQueryAttention(q, k, v, past key, past value, lengths …): causal by definition."""
    q, k, v = it.input(0), it.input(1), it.input(2)
    facts = _heads(it, it.number("num_heads"), it.number("kv_num_heads"), _width(it, q), packed=not k)
    facts |= {"causal": True, "rotary": bool(it.number("do_rotary"))}
    window = it.number("local_window_size", -1)
    facts |= {"window": window if window > 0 else None, "queries": q, "keys": k or q, "values": v or q}
    yield it.draft("attention-core", _data(it, q, k, v, *it.inputs[3:7]), **facts)


def _standard(it: Spelling) -> Iterator[Draft]:
    """Attention of the standard, from opset 23 on: (q, k, v, mask, past key, past value)."""
    q, k, v = it.input(0), it.input(1), it.input(2)
    dims, keys = it.net.shape(q), it.net.shape(k)
    split = dims is not None and len(dims) == 4
    heads = dims[1] if dims and split else it.number("q_num_heads")
    kv_heads = keys[1] if keys and len(keys) == 4 else it.number("kv_num_heads") or heads
    facts = _heads(it, heads, kv_heads, heads * dims[-1] if dims and split else _width(it, q), packed=False)
    facts |= {"causal": bool(it.number("is_causal")) or None, "queries": q, "keys": k, "values": v}
    facts["masks"] = tuple(value for value in (it.input(3),) if value)
    yield it.draft("attention-core", _data(it, q, k, v, *it.inputs[4:]), **facts)


SPELLERS: Final[dict[str, Speller]] = {
    **dict.fromkeys(("Attention", "PackedAttention", "QAttention", "DecoderMaskedSelfAttention"), _projecting),
    **dict.fromkeys(("MultiHeadAttention", "PackedMultiHeadAttention", "DecoderMaskedMultiHeadAttention"), _multi_head),
    **dict.fromkeys(("GroupQueryAttention", "SparseAttention", "PagedAttention"), _grouped),
}
