"""The key-value cache of a decoder.

Recognized by the graph alone, never by names: an output that is an input with more tokens (past and present), the cache
of an operator that has one, or the keys and values of a prefill. A state of constant length (recurrent state, window of
samples, encoder keys) is no key-value cache.
"""

import math
from collections import Counter
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis.kv_pairs import Pair, Pairs
from onnx_autodoc.ir import Model, stored_bytes
from onnx_autodoc.shapes import Shapes, required_inputs

_BOTH: Final = 2  # keys and values in one tensor


class _Kept(Struct, frozen=True):
    """A tensor of the cache, and its dims but for the tokens and the batch."""

    pair: Pair
    dims: tuple[int, ...]
    dtype: str
    nbytes: int

    @property
    def each(self) -> int:
        """Bytes for one token of one sequence."""
        return stored_bytes(self.dtype, math.prod(self.dims)) or 0

    @property
    def count(self) -> int:
        """How many keys or values (of layers) are stacked in it."""
        return math.prod(self.dims[:-2])

    @property
    def is_stacked(self) -> bool:
        return _BOTH in self.dims[:-2]


class Cache(Struct, frozen=True):
    bytes_per_token: int
    layers: int | None
    kv_heads: int | None
    head_dim: int | None
    dtype: str
    nbytes: int  # of the whole cache after this run
    tensors: tuple[str, ...]  # the outputs that hold it
    windows: tuple[tuple[int, int], ...] = ()  # (tokens, bytes of each): the part that keeps only the newest tokens

    def at(self, tokens: int) -> int:
        dropped = sum(each * max(tokens - most, 0) for most, each in self.windows)
        return self.bytes_per_token * tokens - dropped


def cache(model: Model, shapes: Shapes) -> Cache | None:
    pairs = list(Pairs(model, shapes).all())
    kept = _kept(pairs, _batch(model, shapes, pairs))
    if not pairs or kept is None:
        return None
    numbers = [each for each in kept if each.dims[-1:] != (1,)] or kept  # the rest are scales, one for each head
    heads = {each.dims[-2] if len(each.dims) > 1 else None for each in numbers}
    sizes = {each.dims[-1] if len(each.dims) > 1 else None for each in numbers}
    return Cache(
        bytes_per_token=sum(each.each for each in kept),
        layers=_layers(numbers),
        kv_heads=next(iter(heads)) if len(heads) == 1 else None,
        head_dim=next(iter(sizes)) if len(sizes) == 1 else None,
        dtype=Counter(each.dtype for each in numbers).most_common(1)[0][0],
        nbytes=sum(each.nbytes for each in kept),
        tensors=tuple(pair.present for pair in pairs),
        windows=tuple((each.pair.most, each.each) for each in kept if each.pair.most is not None),
    )


def _layers(kept: list[_Kept]) -> int | None:
    """Two tensors for each layer, or one with both in it."""
    count, stacked = sum(each.count for each in kept), {each.is_stacked for each in kept}
    return count // _BOTH if count % _BOTH == 0 and len(stacked) == 1 else None


def _batch(model: Model, shapes: Shapes, pairs: list[Pair]) -> int:
    """How many sequences there are: as many as other inputs begin with."""
    cached = {pair.past for pair in pairs}
    others = [
        value.name for value in required_inputs(model) if value.name not in cached and value.name in shapes.values
    ]
    dims = [shapes.values[name].concrete or () for name in others]
    found = Counter(each[0] for each in dims if len(each) > 1)
    return found.most_common(1)[0][0] if found else 1


def _kept(pairs: list[Pair], batch: int) -> list[_Kept] | None:
    """None where a size is not known."""
    found = []
    for pair in pairs:
        dims, dtype = pair.known.concrete, pair.known.dtype
        if dims is None or dtype is None:
            return None
        found.append(_Kept(pair, _of_one(pair, dims, batch), dtype, stored_bytes(dtype, math.prod(dims)) or 0))
    return found


def _of_one(pair: Pair, dims: tuple[int, ...], batch: int) -> tuple[int, ...]:
    """The dims of one token of one sequence. The batch may be an axis of its own, or in one axis with the heads."""
    left = [dim for at, dim in enumerate(dims) if at not in pair.tokens]
    if len(pair.tokens) > 1:
        return tuple(left)  # blocks of a paged cache belong to nobody
    if batch in left:
        left.remove(batch)
        return tuple(left)
    at = next((at for at, dim in enumerate(left) if batch > 1 and dim % batch == 0), None)
    return tuple(dim // batch if at == place else dim for place, dim in enumerate(left))
