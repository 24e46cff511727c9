"""How many heads an attention has, and how wide: read off its projections, else off the product of queries and keys."""

import math

from onnx_autodoc.patterns._net import Fact, Net, Term
from onnx_autodoc.patterns._tracing import Trail


def heads_of(net: Net, product: Term, trails: list[Trail]) -> dict[str, Fact]:
    """`trails` lead back from queries, keys and values."""
    batch, width = _equation(net, product) or _plain(net, product)
    wide = [_width(net, trail) for trail in trails]
    packed = _is_packed(net, trails)
    heads, kv_heads = batch, batch
    if width and not packed:
        heads, kv_heads = _ratio(wide[0], width) or batch, _ratio(wide[1], width) or _cached(net, trails[1]) or batch
    elif width and batch and wide[0] and wide[0] % width == 0:
        # values may be wider than keys: then what is left over is no number of heads
        spare = (wide[0] // width - batch) // 2
        kv_heads = spare if spare and batch % spare == 0 else batch
    rotary = any(_turned(net, trail) for trail in trails[:2])
    return {"heads": heads, "kv_heads": kv_heads, "head_dim": width, "form": "plain", "rotary": rotary}


def repeated(net: Net, facts: dict[str, Fact], trails: list[Trail]) -> dict[str, Fact]:
    """Of an operator that is given keys repeated for each head: how many there were before."""
    width = facts.get("head_dim")
    found = _ratio(_width(net, trails[1]), width) if width and not _is_packed(net, trails) else None
    turned = {"rotary": True} if any(_turned(net, trail) for trail in trails[:2]) else {}
    return turned | ({"kv_heads": found} if found and found < (facts.get("heads") or 0) else {})


def _plain(net: Net, product: Term) -> tuple[int | None, int | None]:
    """[…, heads, tokens, width] times […, heads, width, tokens]; axes of one element may be anywhere."""
    queries = product.facts["weight"] if product.op == "linear" else product.inputs[0]
    left, made = net.shape(queries), net.shape(product.outputs[0])
    if not left or not made or len(made) < 2 or not math.prod(made):
        return None, None
    learned = product.op == "linear"  # queries that are the same for the whole batch
    return (made[-3] if len(made) > 2 else 1), left[-1] if learned else math.prod(left) * made[-1] // math.prod(made)


def _equation(net: Net, product: Term) -> tuple[int | None, int | None] | None:
    """Of an einsum: heads are the last axis that both sides and the result have, the width is summed over."""
    text = str(product.facts.get("equation", "")).replace(" ", "")
    sides, _, made = text.partition("->")
    left, _, right = sides.partition(",")
    dims, given = net.shape(product.outputs[0]), net.shape(product.inputs[0])
    if dims is None or given is None or len(made) != len(dims):
        return None
    sizes = dict(zip(made, dims))
    shared = [letter for letter in made if letter in left and letter in right]
    others = math.prod(sizes.get(letter, 1) for letter in left)
    return (sizes[shared[-1]] if len(shared) > 1 else 1), math.prod(given) // max(others, 1)


def _width(net: Net, trail: Trail) -> int | None:
    """How wide a projection is, if there is just one behind."""
    found = {term: term.facts.get("to") for term in trail.projections(net)}
    return next(iter(found.values())) if len(found) == 1 else None


def _is_packed(net: Net, trails: list[Trail]) -> bool:
    """One projection for queries and keys."""
    query, key = (set(trail.projections(net)) for trail in trails[:2])
    return bool(query & key)


def _cached(net: Net, trail: Trail) -> int | None:
    """Keys that come in from outside: [batch, heads, tokens, width]."""
    for value in trail.ends:
        dims = net.shape(value)
        if net.makers[value] is None and dims is not None and len(dims) == 4:
            return dims[1]
    return None


def _ratio(wide: int | None, width: int) -> int | None:
    return wide // width if wide and wide % width == 0 else None


def _turned(net: Net, trail: Trail) -> bool:
    """Rotated by position: halves swapped and one of them negated, or one operator that does it."""
    ops = {term.op for term in trail.terms}
    return "RotaryEmbedding" in ops or ("Neg" in ops and "Concat" in ops) or ("Sub" in ops and "Mul" in ops)
