"""Groups of nodes that store their weights in the same format, and weights left in floating point.

A node with several weights belongs to the group of its largest one, so the groups sum to all weights that nodes use.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct

from onnx_autodoc.analysis.constants import Bundle, Place, Reader, StoredConstant
from onnx_autodoc.analysis.quantization import Scaling
from onnx_autodoc.card import WeightGroup
from onnx_autodoc.ir import BITS, is_float
from onnx_autodoc.ops import Trait, find, has_trait
from onnx_autodoc.text import quote_name

How = Literal["dynamic", "qdq", "qoperator", "weight-only", "float", "integer"]

_NAMED: Final = 6  # operators that the sentence on what stayed names
_PLAIN: Final = Scaling(None)


class _GroupKey(Struct, frozen=True):
    op: str
    dtype: str
    how: How
    bits: int | None
    scaling: Scaling


def weight_groups(weights: Iterable[StoredConstant], bundles: Iterable[Bundle], total: int) -> tuple[WeightGroup, ...]:
    """Groups by size, the largest first."""
    largest: dict[Place, tuple[int, _GroupKey]] = {}
    sums, readers = Counter[Place](), dict[Place, Reader]()
    for reader, elements, alike in (*map(_of_weight, weights), *map(_of_bundle, bundles)):
        if reader is None or not elements:
            continue
        readers[reader.place] = reader
        sums[reader.place] += elements
        if reader.place not in largest or elements > largest[reader.place][0]:
            largest[reader.place] = (elements, alike)
    members: dict[_GroupKey, list[Reader]] = {}
    for place, reader in sorted(readers.items(), key=lambda item: item[1].rank):
        members.setdefault(largest[place][1], []).append(reader)
    groups = [_group(alike, found, sums, total) for alike, found in members.items()]
    return tuple(sorted(groups, key=lambda group: (-group.params, group.op, group.dtype)))


def _group(alike: _GroupKey, members: list[Reader], sums: Counter[Place], total: int) -> WeightGroup:
    params = sum(sums[reader.place] for reader in members)
    known = alike.scaling
    return WeightGroup(
        op=alike.op,
        dtype=alike.dtype,
        how=alike.how,
        bits=alike.bits,
        block_size=known.block_size,
        per_channel=known.per_channel,
        symmetric=known.symmetric,
        nodes=len(members),
        params=params,
        share=params / total if total else 0.0,
        example=members[0].name,
    )


def _of_weight(held: StoredConstant) -> tuple[Reader | None, int, _GroupKey]:
    reader, dtype = held.reader, held.packed.dtype if held.packed else held.tensor.dtype or "unknown"
    known = held.scaling or _PLAIN
    how = _how(held, reader)
    if how in ("float", "integer"):
        known = _PLAIN
    elif _by_table(dtype):
        known = Scaling(known.bits, known.block_size, known.per_channel)
    bits = known.bits or _bits(dtype)
    return reader, held.elements, _GroupKey(reader.op if reader else "", dtype, how, bits, known)


def _of_bundle(bundle: Bundle) -> tuple[Reader | None, int, _GroupKey]:
    """Numbers in a node's attributes (trees, linear models) are kept in floating point."""
    alike = _GroupKey(bundle.reader.op, bundle.dtype, "float", _bits(bundle.dtype), _PLAIN)
    return bundle.reader, bundle.elements, alike


def _how(held: StoredConstant, reader: Reader | None) -> How:
    if reader is not None and not is_float(held.tensor.dtype):
        if has_trait(reader, Trait.DYNAMIC_QUANTIZATION):
            return "dynamic"
        if has_trait(reader, Trait.QOPERATOR):
            return "qoperator"
    if held.packed is not None:
        return "weight-only"
    if held.scaling is not None:
        return "qdq" if held.fed else "weight-only"
    return "float" if is_float(held.tensor.dtype) else "integer"


def _by_table(dtype: str) -> bool:
    """Whether bits stand for floating-point numbers: such types have no zero point."""
    return not dtype.startswith(("int", "uint")) and (_bits(dtype) or 32) <= 8


def _bits(dtype: str) -> int | None:
    digits = dtype[-1:] if dtype not in BITS else ""
    return int(digits) if digits.isdecimal() and digits.isascii() else BITS.get(dtype)


def format_float_rest(groups: Iterable[WeightGroup]) -> str | None:
    """One sentence on what a quantized model still keeps in floating point; None for models that are not quantized."""
    every = list(groups)
    kept = [group for group in every if group.how == "float"]
    if not kept or len(kept) == len(every):
        return None
    types = " and ".join(dict.fromkeys(group.dtype for group in kept))
    words = [_words(group) for group in kept[:_NAMED]]
    if len(kept) > _NAMED:
        words.append(f"{sum(group.nodes for group in kept[_NAMED:]):,} other nodes")
    return f"stayed in {types}: {', '.join(words)}; {_percent(sum(group.share for group in kept))} of the weights"


def _words(group: WeightGroup) -> str:
    rows = (find(domain, group.op) for domain in ("", "com.microsoft"))
    embeds = any(row is not None and row.index_input is not None for row in rows)
    name = f"{group.op} (embeddings)" if embeds else group.op
    one = f" ({quote_name(group.example)})" if group.nodes == 1 and group.example else ""
    return f"{group.nodes:,} {name}{one}"


def _percent(share: float) -> str:
    """Nothing but all is 100 %, and nothing but none is 0 %."""
    if share > 0.9995:
        return "over 99.9 %"
    return "under 0.1 %" if share < 0.001 else f"{share * 100:.1f} %"
