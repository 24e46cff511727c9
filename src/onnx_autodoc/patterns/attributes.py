"""Typed attributes of blocks: one struct per kind of block, each read through a view of `Op`."""

from msgspec import Struct


class BlockAttributes(Struct, frozen=True, kw_only=True):
    """Widths that every kind of block may have. None: unknown, or the block has none."""

    in_features: int | None = None
    out_features: int | None = None


class LinearAttributes(BlockAttributes, frozen=True, kw_only=True):
    """A product with a weight. `weight` is its value in the net."""

    weight: int | None = None
    biased: bool = False


class ConvAttributes(LinearAttributes, frozen=True, kw_only=True):
    """A convolution, alone or fused with a norm and an activation (both named by their kind)."""

    kernel: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    group: int | None = None
    transposed: bool = False
    depthwise: bool = False
    norm: str | None = None
    activation: str | None = None


class EinsumAttributes(BlockAttributes, frozen=True, kw_only=True):
    equation: str = ""


class NormAttributes(BlockAttributes, frozen=True, kw_only=True):
    """`scaled` and `shifted`: whether the learned scale and bias are part of the block."""

    scaled: bool = False
    shifted: bool = False


class MlpAttributes(BlockAttributes, frozen=True, kw_only=True):
    inner_features: int | None = None
    activation: str | None = None


class ExpertsAttributes(BlockAttributes, frozen=True, kw_only=True):
    experts: int | None = None
    experts_per_token: int | None = None


class EmbeddingAttributes(BlockAttributes, frozen=True, kw_only=True):
    """A table lookup (`role` is token, type or position) or a patch embedding. `out_features` is the row width."""

    rows: int | None = None
    role: str | None = None
    patch: tuple[int, ...] | None = None


class RecurrentAttributes(BlockAttributes, frozen=True, kw_only=True):
    """`looped`: whether a decomposed cell is in a loop body; None for a recurrent operator."""

    hidden: int | None = None
    bidirectional: bool = False
    looped: bool | None = None


class AttentionAttributes(BlockAttributes, frozen=True, kw_only=True):
    """`form` is plain (decomposed), additive, linear, or the fused operator's name; empty for other blocks.

    `queries`, `keys`, `values` and `masks` are values in the net, set for fused operators only.
    """

    form: str = ""
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    causal: bool | None = None
    rotary: bool = False
    cross: bool = False
    windowed: bool = False
    relative_bias: bool = False
    queries: int | None = None
    keys: int | None = None
    values: int | None = None
    masks: tuple[int, ...] = ()


class Residual(Struct, frozen=True):
    """The end of a residual connection: `kind` is add, concat, subtract or gate, `start` the value it begins at."""

    kind: str
    start: int


NO_ATTRIBUTES = BlockAttributes()
