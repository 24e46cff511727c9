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

_KEYS_AND_VALUES: Final = 2


class _CacheTensor(Struct, frozen=True):
    """A tensor of the cache, and its dims without the tokens and the batch."""

    pair: Pair
    dims: tuple[int, ...]
    dtype: str
    nbytes: int

    @property
    def bytes_per_token(self) -> int:
        """Bytes for one token of one sequence."""
        return stored_bytes(self.dtype, math.prod(self.dims)) or 0


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
        dropped = sum(nbytes * max(tokens - window, 0) for window, nbytes in self.windows)
        return self.bytes_per_token * tokens - dropped


def cache(model: Model, shapes: Shapes) -> Cache | None:
    """Return the cache; None where there is none, or one of its sizes is unknown."""
    pairs = list(Pairs(model, shapes).all())
    batch = _find_batch(model, shapes, pairs)
    tensors = []
    for pair in pairs:
        dims, dtype = pair.known.concrete, pair.known.dtype
        if dims is None or dtype is None:
            return None
        nbytes = stored_bytes(dtype, math.prod(dims)) or 0
        tensors.append(_CacheTensor(pair, _dims_per_token(pair, dims, batch), dtype, nbytes))
    if not tensors:
        return None
    numbers = [tensor for tensor in tensors if tensor.dims[-1:] != (1,)] or tensors  # others are scales per head
    heads = {tensor.dims[-2] if len(tensor.dims) > 1 else None for tensor in numbers}
    sizes = {tensor.dims[-1] if len(tensor.dims) > 1 else None for tensor in numbers}
    # Each layer has two tensors, or one with both keys and values in it; a tensor may stack several layers.
    count = sum(math.prod(tensor.dims[:-2]) for tensor in numbers)
    is_stacked = {_KEYS_AND_VALUES in tensor.dims[:-2] for tensor in numbers}
    return Cache(
        bytes_per_token=sum(tensor.bytes_per_token for tensor in tensors),
        layers=count // _KEYS_AND_VALUES if count % _KEYS_AND_VALUES == 0 and len(is_stacked) == 1 else None,
        kv_heads=heads.pop() if len(heads) == 1 else None,
        head_dim=sizes.pop() if len(sizes) == 1 else None,
        dtype=Counter(tensor.dtype for tensor in numbers).most_common(1)[0][0],
        nbytes=sum(tensor.nbytes for tensor in tensors),
        tensors=tuple(pair.present for pair in pairs),
        windows=tuple((each.pair.window, each.bytes_per_token) for each in tensors if each.pair.window is not None),
    )


def _find_batch(model: Model, shapes: Shapes, pairs: list[Pair]) -> int:
    """Return the number of sequences: the most frequent first dimension of the other inputs."""
    cached = {pair.past for pair in pairs}
    names = (value.name for value in required_inputs(model) if value.name not in cached)
    dims = [shapes.values[name].concrete or () for name in names if name in shapes.values]
    sizes = Counter(size[0] for size in dims if len(size) > 1)
    return sizes.most_common(1)[0][0] if sizes else 1


def _dims_per_token(pair: Pair, dims: tuple[int, ...], batch: int) -> tuple[int, ...]:
    """Return the dims for one token of one sequence; the batch may share an axis with the heads."""
    rest = [dim for at, dim in enumerate(dims) if at not in pair.tokens]
    if len(pair.tokens) > 1:
        return tuple(rest)  # blocks of a paged cache belong to no sequence
    if batch in rest:
        rest.remove(batch)
        return tuple(rest)
    at = next((at for at, dim in enumerate(rest) if batch > 1 and dim % batch == 0), None)
    return tuple(dim // batch if at == place else dim for place, dim in enumerate(rest))
