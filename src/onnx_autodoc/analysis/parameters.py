"""How many weights a model has, of which types, and where they are.

Weights are counted as the numbers they stand for, wherever the file keeps them: a tensor with several readers once, a
packed one by what it holds, a quantized one once with its scale and zero point. What was measured in training, what
belongs to a quantization, and constants that nobody learned are counted apart.
"""

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from onnx_autodoc.analysis.constants import Bundle, Place, Reader, StoredConstant, find_constants, role_of_constant
from onnx_autodoc.analysis.weight_groups import weight_groups
from onnx_autodoc.card import WeightGroup
from onnx_autodoc.ir import Model, stored_bytes
from onnx_autodoc.ops import ConstantRole


class Share(Struct, frozen=True):
    """What one node or one operator has of the weights."""

    elements: int = 0
    nbytes: int = 0

    def __add__(self, other: "Share") -> "Share":
        return Share(self.elements + other.elements, self.nbytes + other.nbytes)


class Weight(Struct, frozen=True):
    name: str  # that nodes read it by
    place: Place  # of the node that puts it to use first
    elements: int
    dtype: str


class Parameters(Struct, frozen=True):
    total: int
    nbytes: int  # of the weights with their scales, zero points and statistics
    tensors: int
    by_dtype: dict[str, int]
    packed: bool  # some are kept several in one byte
    statistics: int
    quantization: int
    constants: int
    unread: int  # weights that no node puts to use
    readers: dict[Place, Reader]  # the nodes that put them to use, in file order
    nodes: dict[Place, Share]  # and what each has of them
    groups: tuple[WeightGroup, ...]  # and which of them keep them alike
    held: tuple[Weight, ...]  # each of them that is used
    doubtful: tuple[str, ...] = ()  # tensors that are in none of these numbers: the file contradicts itself about them


def parameters(model: Model) -> Parameters:
    held, bundles, doubtful = find_constants(model)
    literals = _literals_count(held)
    parts = [(each, role_of_constant(each, literals)) for each in held]
    sums = Counter[ConstantRole]()
    for each, part in parts:
        sums[part] += each.elements
    weights = [each for each, part in parts if part is ConstantRole.WEIGHT]
    shares = [(each.reader, _share(each, part)) for each, part in parts if part is not ConstantRole.CONSTANT]
    shares += [(bundle.reader, Share(bundle.elements, _stored(bundle))) for bundle in bundles]
    readers, nodes = _by_node(shares)
    total = sums[ConstantRole.WEIGHT] + sum(bundle.elements for bundle in bundles)
    return Parameters(
        total=total,
        nbytes=sum(share.nbytes for _, share in shares),
        tensors=len(weights) + len(bundles),
        by_dtype=_by_dtype(weights, bundles),
        packed=any(each.packed is not None for each in weights),
        statistics=sums[ConstantRole.STATISTIC],
        quantization=sums[ConstantRole.QUANTIZATION],
        constants=sums[ConstantRole.CONSTANT],
        unread=sum(each.elements for each in weights if each.reader is None),
        readers=readers,
        nodes=nodes,
        groups=weight_groups(weights, bundles, total),
        held=tuple(_held(weights, bundles)),
        doubtful=doubtful,
    )


def _held(weights: list[StoredConstant], bundles: list[Bundle]) -> Iterator[Weight]:
    for each in weights:
        if each.reader is not None:
            dtype = each.packed.dtype if each.packed else each.tensor.dtype or "unknown"
            yield Weight(each.name, each.reader.place, each.elements, dtype)
    for bundle in bundles:
        yield Weight("", bundle.reader.place, bundle.elements, bundle.dtype)


def _literals_count(held: list[StoredConstant]) -> bool:
    """Whether the file keeps its weights in Constant nodes: there is more of what may be one there than elsewhere."""
    sums = Counter[bool]()
    for each in held:
        if role_of_constant(each, literals_count=True) is ConstantRole.WEIGHT:
            sums[each.literal] += each.elements
    return sums[True] > sums[False]


def _by_node(shares: list[tuple[Reader | None, Share]]) -> tuple[dict[Place, Reader], dict[Place, Share]]:
    readers: dict[Place, Reader] = {}
    nodes: dict[Place, Share] = {}
    known = [(reader, share) for reader, share in shares if reader is not None]
    for reader, share in sorted(known, key=lambda item: item[0].rank):
        readers[reader.place] = reader
        nodes[reader.place] = nodes.get(reader.place, Share()) + share
    return readers, nodes


def _stored(bundle: Bundle) -> int:
    return stored_bytes(bundle.dtype, bundle.elements) or 0


def _share(held: StoredConstant, part: ConstantRole) -> Share:
    tensor = held.tensor
    stored = tensor.elements if tensor.stored_elements is None else tensor.stored_elements
    nbytes = stored_bytes(tensor.dtype, stored) if tensor.dtype else None
    return Share(held.elements if part is ConstantRole.WEIGHT else 0, nbytes or 0)


def _by_dtype(weights: list[StoredConstant], bundles: list[Bundle]) -> dict[str, int]:
    counts = Counter[str]()
    for each in weights:
        counts[each.packed.dtype if each.packed else each.tensor.dtype or "unknown"] += each.elements
    for bundle in bundles:
        counts[bundle.dtype] += bundle.elements
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
