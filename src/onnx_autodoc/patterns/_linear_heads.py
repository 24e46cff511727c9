"""Outputs that are a map of the features (classes, tokens, one number), or the features themselves."""

from typing import Final

from onnx_autodoc.patterns._head import USUAL, Head, act_of, has_tokens, is_normed, is_scaled, pooled_by
from onnx_autodoc.patterns._net import Net, Term
from onnx_autodoc.patterns._output_trace import Tail, is_biased, last_map, places, width
from onnx_autodoc.patterns._words import ACTIVATIONS, NORMS, POOLS, RECURRENT

_MAPS: Final = ("linear", "conv", "mlp", "head")
_POOLING: Final = frozenset((*POOLS, "Gather", "Slice", "ReduceSum"))
_BENT: Final = frozenset(ACTIVATIONS) - {"Relu", "Clip"} | {"Tanh"}  # after a map, they make features of it
_NARROWEST: Final = 4  # features of one place
_FEWEST_FEATURES: Final = 32
_OF_FEATURES: Final = 128  # widths of features are multiples of it, numbers of classes hardly ever
_MOST_TAGS: Final = 5000
_FEWEST_TOKENS: Final = 16
_PADDED: Final = 1.1  # tables are rounded up


def of_map(net: Net, tail: Tail) -> Head | None:
    """A linear map (or a convolution) of the features, once or for each place."""
    source = tail.source or _like_all(net, tail)
    last = last_map(source) if source is not None else None
    wide = width(source) if source is not None and last is not None else None
    if source is None or not wide or not _ends_with(tail, source, last) or _is_joined(tail):
        return None
    act = act_of(net, tail, wide)
    cut = 1 if wide == 2 and _is_halved(net, tail) else wide
    each = has_tokens(net) and (cut != wide or _is_of_one_token(net, tail, source))
    count = places(net, tail.value, 1 if act == "argmax" else cut) or _pooled_before(net, source)
    if _is_vocabulary(net, source, wide):
        return _of_tokens(net, tail, wide, act, count)
    return _each(net, tail, cut, act, count) if each or count != 1 else _once(net, tail, source, wide, act)


def _is_joined(tail: Tail) -> bool:
    return "Concat" in tail.ops and tail.source is not None


def _of_tokens(net: Net, tail: Tail, wide: int, act: str | None, count: int | None) -> Head | None:
    """One of them was picked, or there is a number for each: how sure it was of one is neither."""
    dims = net.shape(tail.value)
    if dims is not None and act != "argmax" and wide not in dims:
        return None
    return Head("lm", tail.output, None, act, count, f"{tail.said} has a number for each of {wide:,} tokens")


def _is_of_one_token(net: Net, tail: Tail, source: Term) -> bool:
    """An answer for each token of a text that is one token long, as asked for with `--seq 1`."""
    tables = [term for term in net.of("embedding") if term.facts.get("role") == "token"]
    single = [term for term in tables if (net.shape(term.inputs[0]) or (0,))[1:] == (1,)]
    pooled = net.maker(source.inputs[0], *_POOLING) is not None
    return bool(single) and net.rank(tail.value) == 3 and not pooled


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


def _ends_with(tail: Tail, source: Term, last: Term | None) -> bool:
    """Whether the last thing in a block is its map: an activation or a norm after it makes features. SqueezeNet alone
    has an activation after its classes: a convolution of single pixels.
    """
    if source.op in ("conv-norm-act", "depthwise-separable", "inverted-residual"):
        bare = source.facts.get("norm") is None and source.facts.get("act") in (None, "Relu")
        single = all(size == 1 for size in source.facts.get("kernel", (0,)))
        return bare and last is not None and (single or source.facts.get("act") is None)
    if source.op == "attention" and source.facts.get("form") == "additive":
        return last is not None and not set(tail.ends).isdisjoint(last.outputs)
    return source.op in _MAPS


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
    scaled = is_scaled(net, tail)
    if wide == 1:
        kind = "probability" if act == "sigmoid" and not scaled else "score"
        said = f"{tail.said} is one number" + (", a probability" if kind == "probability" else "")
        return Head(kind, tail.output, None, act, 1, said)
    if scaled:
        return None
    if _is_embedding(tail, source, wide, act):
        said = f"{tail.said} is {wide} features of the whole"
        return Head("embedding", tail.output, None, pooled_by(tail) or "projected", 1, said)
    said = f"{tail.said} has {wide:,} numbers, {_made(source)}" + (f", through {act}" if act else "")
    return Head("classification", tail.output, wide, act, 1, said)


def _made(source: Term) -> str:
    last = last_map(source)
    return f"the width of the last {last.op if last is not None else source.op}"


def _is_embedding(tail: Tail, source: Term, wide: int, act: str | None) -> bool:
    """Features and not classes: normalised, or bent, or as wide as before, or wide and made without a bias. Classes
    have one; exporters drop it where it is zero.
    """
    last = last_map(source)
    if act is not None or "Log" in tail.ops:
        return False
    if is_normed(tail) or tail.ops & _BENT or wide % _OF_FEATURES == 0:
        return True
    if not is_biased(source) and wide >= _FEWEST_FEATURES and wide not in USUAL:
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
        return Head(kind, tail.output, None, act, count, f"{tail.said} is one number for each of {count:,} places")
    biased = is_biased(tail.sources[0])
    if act is None and (tail.ops & _BENT or (not biased and wide % _FEWEST_FEATURES == 0)) and not _is_spectrum(tail):
        return Head("hidden", tail.output, None, act, count, f"{tail.said} is {wide} features of each place")
    said = f"{tail.said} has {wide:,} numbers for each of {count:,} places"
    if act is None and not has_tokens(net) and (not biased or _is_spectrum(tail)):
        return Head("numbers", tail.output, wide, act, count, said)
    kind = "token-classification" if has_tokens(net) else "ctc"
    return Head(kind, tail.output, wide, act, count, said)


def _is_spectrum(tail: Tail) -> bool:
    """The logarithm of a sum over bands: how a spectrogram is made."""
    return "Log" in tail.ops and not tail.ops & {"softmax", "LogSoftmax", "Sigmoid"}


def of_features(net: Net, tail: Tail) -> Head | None:
    """Not a map but what maps work on: the stream of features, for each place or pooled."""
    source = tail.source
    dims = net.shape(tail.ends[0]) if source is not None else None
    if source is None or not dims or tail.ops & {"Concat", "Log"} or is_scaled(net, tail):
        return None
    wide = _depth(source, dims)
    count = places(net, tail.value, wide)
    pooled = count == 1 and (bool(tail.ops & _POOLING) or source.op in NORMS)
    if count is None or wide < _NARROWEST:
        return None
    said = f"{tail.said} is {wide} features of " + ("the whole" if pooled else "each place")
    act = pooled_by(tail) if pooled else act_of(net, tail)
    return Head("embedding" if pooled else "hidden", tail.output, None, act, count, said)


def _depth(source: Term, dims: tuple[int, ...]) -> int:
    """How many features there are for each place: as many as the last map made, wherever that axis is."""
    made = width(source)
    if made is not None and made in dims[1:]:
        return made
    pictured = len(dims) == 4 and source.op not in ("layer-norm", "rms-norm", *RECURRENT)
    return dims[1] if pictured or source.op == "batch-norm" else dims[-1]
