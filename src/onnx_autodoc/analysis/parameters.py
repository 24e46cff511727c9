"""The number, types and places of the weights of a model, and the groups of nodes that store them in one format.

Weights are counted as the numbers they stand for, wherever the file stores them: a tensor with several readers once, a
packed one by its elements, a quantized one once with its scale and zero point. BatchNorm running statistics,
quantization scales and zero points, and non-learned constants are counted separately.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from onnx_autodoc.analysis.constants import Bundle, Place, Reader, StoredConstant, find_constants, role_of_constant
from onnx_autodoc.analysis.quantization import Scaling
from onnx_autodoc.card import WeightGroup
from onnx_autodoc.ir import BITS, Model, is_float, stored_bytes
from onnx_autodoc.ops import ConstantRole, Trait, has_trait

How = Literal["dynamic", "qdq", "qoperator", "weight-only", "float", "integer"]


class Share(Struct, frozen=True):
    """The weights of one node or one operator."""

    elements: int = 0
    nbytes: int = 0

    def __add__(self, other: "Share") -> "Share":
        return Share(self.elements + other.elements, self.nbytes + other.nbytes)


class Weight(Struct, frozen=True):
    name: str  # by which nodes read it
    place: Place  # of the node that uses it first
    elements: int
    dtype: str


class Parameters(Struct, frozen=True):
    total: int
    nbytes: int  # of the weights with their scales, zero points and statistics
    tensors: int
    by_dtype: dict[str, int]
    packed: bool  # whether some bytes have several weights
    statistics: int
    quantization: int
    constants: int
    unread: int  # weights that no node uses
    readers: dict[Place, Reader]  # the nodes that use weights, in file order
    nodes: dict[Place, Share]  # the weights of each
    groups: tuple[WeightGroup, ...]  # the formats in which they are stored
    held: tuple[Weight, ...]  # those that are used
    doubtful: tuple[str, ...] = ()  # tensors that are in none of these numbers: their size is contradictory


def parameters(model: Model) -> Parameters:
    constants, bundles, doubtful = find_constants(model)
    # A file stores its weights in Constant nodes if more elements may be weights there than elsewhere.
    candidates = Counter[bool]()
    for constant in constants:
        if role_of_constant(constant, has_literal_weights=True) is ConstantRole.WEIGHT:
            candidates[constant.literal] += constant.elements
    roles = [(constant, role_of_constant(constant, candidates[True] > candidates[False])) for constant in constants]
    sums, by_dtype = Counter[ConstantRole](), Counter[str]()
    for constant, role in roles:
        sums[role] += constant.elements
    weights: list[StoredConstant | Bundle] = [each for each, role in roles if role is ConstantRole.WEIGHT]
    weights += bundles
    for weight in weights:
        by_dtype[weight.dtype] += weight.elements
    shares = [(each.reader, _share(each, role)) for each, role in roles if role is not ConstantRole.CONSTANT]
    shares += [(each.reader, Share(each.elements, stored_bytes(each.dtype, each.elements) or 0)) for each in bundles]
    readers: dict[Place, Reader] = {}
    nodes: dict[Place, Share] = {}
    used = [(reader, share) for reader, share in shares if reader is not None]
    for reader, share in sorted(used, key=lambda item: item[0].rank):
        readers[reader.place] = reader
        nodes[reader.place] = nodes.get(reader.place, Share()) + share
    total = sum(by_dtype.values())
    return Parameters(
        total=total,
        nbytes=sum(share.nbytes for _, share in shares),
        tensors=len(weights),
        by_dtype=dict(sorted(by_dtype.items(), key=lambda item: (-item[1], item[0]))),
        packed=any(isinstance(weight, StoredConstant) and weight.packed is not None for weight in weights),
        statistics=sums[ConstantRole.STATISTIC],
        quantization=sums[ConstantRole.QUANTIZATION],
        constants=sums[ConstantRole.CONSTANT],
        unread=sum(weight.elements for weight in weights if weight.reader is None),
        readers=readers,
        nodes=nodes,
        groups=_weight_groups(weights, total),
        held=tuple(Weight(each.name, each.reader.place, each.elements, each.dtype) for each in weights if each.reader),
        doubtful=doubtful,
    )


def _share(constant: StoredConstant, role: ConstantRole) -> Share:
    tensor = constant.tensor
    stored = tensor.elements if tensor.stored_elements is None else tensor.stored_elements
    nbytes = stored_bytes(tensor.dtype, stored) if tensor.dtype else None
    return Share(constant.elements if role is ConstantRole.WEIGHT else 0, nbytes or 0)


class _Format(Struct, frozen=True):
    """The format in which an operator stores its weights."""

    op: str
    dtype: str
    how: How
    bits: int | None
    scaling: Scaling


def _weight_groups(weights: Sequence[StoredConstant | Bundle], total: int) -> tuple[WeightGroup, ...]:
    """Return the groups by size, the largest first.

    A node with several weights belongs to the group of its largest one, so the groups sum to all weights in use.
    """
    largest: dict[Place, StoredConstant | Bundle] = {}
    sums, readers = Counter[Place](), dict[Place, Reader]()
    for weight in weights:
        if weight.reader is None or not weight.elements:
            continue
        place = weight.reader.place
        readers[place] = weight.reader
        sums[place] += weight.elements
        if place not in largest or weight.elements > largest[place].elements:
            largest[place] = weight
    members: dict[_Format, list[Reader]] = {}
    for place, reader in sorted(readers.items(), key=lambda item: item[1].rank):
        members.setdefault(_format_of(largest[place], reader), []).append(reader)
    groups = []
    for stored, nodes in members.items():
        params = sum(sums[reader.place] for reader in nodes)
        group = WeightGroup(
            op=stored.op,
            dtype=stored.dtype,
            how=stored.how,
            bits=stored.bits,
            block_size=stored.scaling.block_size,
            per_channel=stored.scaling.per_channel,
            symmetric=stored.scaling.symmetric,
            nodes=len(nodes),
            params=params,
            share=params / total if total else 0.0,
            example=nodes[0].name,
        )
        groups.append(group)
    return tuple(sorted(groups, key=lambda group: (-group.params, group.op, group.dtype)))


def _format_of(weight: StoredConstant | Bundle, reader: Reader) -> _Format:
    dtype = weight.dtype
    digits = dtype[-1:] if dtype not in BITS else ""
    bits = int(digits) if digits.isdecimal() and digits.isascii() else BITS.get(dtype)
    how, known = _how(weight, reader), Scaling(None)
    if isinstance(weight, StoredConstant) and weight.scaling and how not in ("float", "integer"):
        known = weight.scaling
        if not dtype.startswith(("int", "uint")) and (bits or 32) <= 8:  # small floats have no zero point
            known = Scaling(known.bits, known.block_size, known.per_channel)
    return _Format(reader.op, dtype, how, known.bits or bits, known)


def _how(weight: StoredConstant | Bundle, reader: Reader) -> How:
    if isinstance(weight, Bundle):
        return "float"
    if not is_float(weight.tensor.dtype):
        if has_trait(reader, Trait.DYNAMIC_QUANTIZATION):
            return "dynamic"
        if has_trait(reader, Trait.QOPERATOR):
            return "qoperator"
    if weight.packed is not None:
        return "weight-only"
    if weight.scaling is not None:
        return "qdq" if weight.has_quantized_data else "weight-only"
    return "float" if is_float(weight.tensor.dtype) else "integer"
