"""Families of blocks and their colours: the same in every picture.

The hues are those of Okabe and Ito, which colour-blind people can tell apart, as pale fills with dark borders: black
text reads on them, and they read on a white page and on a black one. No colour says what the words do not.
"""

from typing import Final

from msgspec import Struct


class Colour(Struct, frozen=True):
    fill: str
    border: str


TEXT: Final = "#111827"
COLOURS: Final[dict[str, Colour]] = {
    "port": Colour("#f3f4f6", "#4b5563"),
    "embedding": Colour("#fde9c4", "#b87a00"),
    "convolution": Colour("#c9efe1", "#00795a"),
    "attention": Colour("#cfe4f7", "#0072b2"),
    "dense": Colour("#fbdacb", "#c24e00"),
    "recurrent": Colour("#f3d9e8", "#a8487d"),
    "normal": Colour("#f8f3b6", "#8f8200"),
    "layer": Colour("#d9dcf9", "#4a4fb3"),
    "other": Colour("#e5e7eb", "#6b7280"),
}
# Words of a kind, the telling ones first: conv-norm-act is a convolution, layer-norm is no layer, a DenseNet's is none.
_WORDS: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    ("port", frozenset(("input", "output"))),
    ("convolution", frozenset(("dense-layer",))),
    ("embedding", frozenset(("embedding", "embeddings", "positions", "lookup"))),
    ("convolution", frozenset(("conv", "convolution", "depthwise", "bottleneck", "inverted", "squeeze", "residual"))),
    (
        "convolution",
        frozenset(("pool", "pooling", "upsample", "downsample", "resize", "c2f", "csp", "spp", "inception")),
    ),
    ("attention", frozenset(("attention", "cross", "scores"))),
    ("dense", frozenset(("mlp", "moe", "linear", "dense", "gemm", "matmul", "projection", "head", "classifier"))),
    ("dense", frozenset(("tree", "trees", "ensemble"))),
    ("recurrent", frozenset(("lstm", "gru", "rnn", "recurrent", "loop", "scan", "state"))),
    ("normal", frozenset(("norm", "silu", "gelu", "relu", "swish", "mish", "softmax", "activation", "add", "gate"))),
    ("layer", frozenset(("layer", "layers", "block", "stage", "encoder", "decoder", "transformer", "tower"))),
)


def family(kind: str) -> str:
    """The family of a block's kind, by the words it is made of."""
    words = {kind.lower(), *kind.lower().split("-")}
    return next((name for name, known in _WORDS if words & known), "other")
