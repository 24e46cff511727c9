"""Categories of blocks and their colors, the same in every chart and diagram.

The hues are Okabe and Ito's colorblind-safe palette, as pale fills with dark borders: black text is readable on them,
and they are visible on white and on black pages. Text repeats all information that a color carries.
"""

from typing import Final

from msgspec import Struct


class Color(Struct, frozen=True):
    fill: str
    border: str


TEXT_COLOR: Final = "#111827"
COLORS: Final[dict[str, Color]] = {
    "port": Color("#f3f4f6", "#4b5563"),
    "embedding": Color("#fde9c4", "#b87a00"),
    "convolution": Color("#c9efe1", "#00795a"),
    "attention": Color("#cfe4f7", "#0072b2"),
    "dense": Color("#fbdacb", "#c24e00"),
    "recurrent": Color("#f3d9e8", "#a8487d"),
    "normal": Color("#f8f3b6", "#8f8200"),
    "layer": Color("#d9dcf9", "#4a4fb3"),
    "other": Color("#e5e7eb", "#6b7280"),
}
# Words of block kinds by category. The first match wins: conv-norm-act is a convolution, layer-norm is no layer.
_CATEGORY_WORDS: Final = (
    ("port", "input output"),
    ("convolution", "dense-layer"),
    ("embedding", "embedding embeddings positions lookup"),
    ("convolution", "conv convolution depthwise bottleneck inverted squeeze residual"),
    ("convolution", "pool pooling upsample downsample resize c2f csp spp inception"),
    ("attention", "attention cross scores"),
    ("dense", "mlp moe linear dense gemm matmul projection head classifier"),
    ("dense", "tree trees ensemble"),
    ("recurrent", "lstm gru rnn recurrent loop scan state"),
    ("normal", "norm silu gelu relu swish mish softmax activation add gate"),
    ("layer", "layer layers block stage encoder decoder transformer tower"),
)
_CATEGORIES: Final = tuple((category, frozenset(words.split())) for category, words in _CATEGORY_WORDS)


def block_category(kind: str) -> str:
    """Return the color category of a block kind."""
    words = {kind.lower(), *kind.lower().split("-")}
    return next((category for category, known in _CATEGORIES if words & known), "other")
