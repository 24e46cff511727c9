"""Outputs that are a map of the features (classes, tokens, one number), or the features themselves."""

from typing import Final

from onnx_autodoc.blocks._head import Head, act_of, has_tokens, is_normed, pooled_by
from onnx_autodoc.blocks._net import Net, Term
from onnx_autodoc.blocks._tails import Tail, is_biased, last_map, places, width
from onnx_autodoc.blocks._words import NORMS, POOLS, RECURRENT

_MAPS: Final = ("linear", "conv", "mlp", "head")
_POOLING: Final = frozenset((*POOLS, "Gather", "Slice", "ReduceSum"))
_MOST_TAGS: Final = 5000
_FEWEST_TOKENS: Final = 16
_PADDED: Final = 1.1  # tables are rounded up


def of_map(net: Net, tail: Tail) -> Head | None:
    """A linear map (or a convolution) of the features, once or for each place."""
    source = tail.source or _like_all(net, tail)
    last = last_map(source) if source is not None else None
    wide = width(source) if source is not None and last is not None else None
    if source is None or not wide or not _ends_with(source, last) or ("Concat" in tail.ops and source is tail.source):
        return None
    act = act_of(net, tail, wide)
    cut = 1 if wide == 2 and _is_halved(net, tail) else wide
    count = places(net, tail.value, 1 if act == "argmax" else cut) or _pooled_before(net, source)
    if _is_vocabulary(net, source, wide):
        said = f"{tail.output} has a number for each of {wide:,} tokens"
        return Head("lm", tail.output, None, act, count, said)
    return _once(net, tail, source, wide, act) if count == 1 else _each(net, tail, cut, act, count)


def _like_all(net: Net, tail: Tail) -> Term | None:
    """The nearest of several maps, where all are as wide (an average of two heads), or the output is as wide as it."""
    dims = net.shape(tail.value)
    if not tail.sources or tail.mixed or not dims:
        return None
    near = tail.sources[0]
    alike = len({width(term) for term in tail.sources}) == 1 and near.op in _MAPS
    refined = len(dims) == 3 and dims[-1] == width(near) and near.op in _MAPS and "Sigmoid" in tail.ops
    return near if alike or refined else None


def _pooled_before(net: Net, source: Term) -> int | None:
    """One place, where sizes are not known but the map reads what was pooled."""
    unknown = net.shape(source.outputs[0]) is None
    return 1 if unknown and net.maker(source.inputs[0], *POOLS, "Gather") is not None else None


def _ends_with(source: Term, last: Term | None) -> bool:
    """Whether the last thing in a block is its map: an activation or a norm after it makes features. SqueezeNet alone
    has an activation after its classes: a convolution of single pixels.
    """
    if source.op in ("conv-norm-act", "depthwise-separable", "inverted-residual"):
        bare = source.facts.get("norm") is None and source.facts.get("act") in (None, "Relu")
        single = all(size == 1 for size in source.facts.get("kernel", (0,)))
        return bare and last is not None and (single or source.facts.get("act") is None)
    return source.op in _MAPS or (source.op == "attention" and bool(source.facts.get("projected")))


def _is_halved(net: Net, tail: Tail) -> bool:
    """Two numbers for each place that go to two outputs."""
    dims, made = net.shape(tail.value), net.shape(tail.ends[0])
    return bool(dims and made and made[-1] == 2 and dims[-1] == 1 and tail.ops & {"Split", "Slice", "Gather"})


def _is_vocabulary(net: Net, source: Term, wide: int) -> bool:
    """As many as the token table has rows, or the table itself; or more than any tags, after a decoder without one."""
    tables = [term for term in net.of("embedding") if term.facts.get("role") == "token"]
    rows = [term.facts.get("rows") or 0 for term in tables]
    last = last_map(source)
    if last is not None and any(last.facts.get("weight") in term.inputs for term in tables):
        return True
    if any(count <= wide * _PADDED and wide <= count * _PADDED and wide > _FEWEST_TOKENS for count in rows):
        return True
    return wide >= _MOST_TAGS and any(term.facts.get("causal") for term in net.of("attention"))


def _once(net: Net, tail: Tail, source: Term, wide: int, act: str | None) -> Head | None:
    """One answer for the whole example."""
    if wide == 1:
        kind = "probability" if act == "sigmoid" else "score"
        said = f"{tail.output} is one number" + (", a probability" if act == "sigmoid" else "")
        return Head(kind, tail.output, None, act, 1, said)
    if _is_embedding(tail, source, wide, act):
        said = f"{tail.output} is {wide} features of the whole"
        return Head("embedding", tail.output, None, pooled_by(tail) or "projected", 1, said)
    said = f"{tail.output} has {wide:,} numbers, {_made(source)}" + (f", through {act}" if act else "")
    return Head("classification", tail.output, wide, act, 1, said)


def _made(source: Term) -> str:
    last = last_map(source)
    return f"the width of the last {last.op if last is not None else source.op}"


def _is_embedding(tail: Tail, source: Term, wide: int, act: str | None) -> bool:
    """Features and not classes: normalised, or made without a bias (classes always have one), or as wide as before."""
    last = last_map(source)
    if act is not None or "Log" in tail.ops:
        return False
    if is_normed(tail) or "Tanh" in tail.ops or not is_biased(source):
        return True
    if source.op == "conv-norm-act" and source.facts.get("act"):
        return wide % 32 == 0
    return last is not None and last.facts.get("from") == wide and wide > 16


def _each(net: Net, tail: Tail, wide: int, act: str | None, count: int | None) -> Head | None:
    """An answer for each place of a sequence."""
    if count is None:
        return None
    if wide == 1:
        kind = "probability-per-place" if act == "sigmoid" else "score-per-place"
        return Head(kind, tail.output, None, act, count, f"{tail.output} is one number for each of {count:,} places")
    if not is_biased(tail.sources[0]) and act is None and wide % 32 == 0:
        return Head("hidden", tail.output, None, act, count, f"{tail.output} is {wide} features of each place")
    kind = "token-classification" if has_tokens(net) else "ctc"
    return Head(kind, tail.output, wide, act, count, f"{tail.output} has {wide:,} numbers for each of {count:,} places")


def of_features(net: Net, tail: Tail) -> Head | None:
    """Not a map but what maps work on: the stream of features, for each place or pooled."""
    source = tail.source
    dims = net.shape(tail.ends[0]) if source is not None else None
    if source is None or not dims or "Concat" in tail.ops:
        return None
    pictured = len(dims) == 4 and source.op not in ("layer-norm", "rms-norm", *RECURRENT)
    wide = dims[1] if pictured or source.op == "batch-norm" else dims[-1]
    count = places(net, tail.value, wide)
    pooled = count == 1 and (bool(tail.ops & _POOLING) or source.op in NORMS)
    if count is None or wide < 2:
        return None
    said = f"{tail.output} is {wide} features of " + ("the whole" if pooled else "each place")
    act = pooled_by(tail) if pooled else act_of(net, tail)
    return Head("embedding" if pooled else "hidden", tail.output, None, act, count, said)
