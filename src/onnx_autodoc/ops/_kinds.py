"""Operators by what they do with values, for whoever follows values through a graph: the names stand here alone."""

from typing import Final

CONSTANT: Final = "Constant"
BRANCH: Final = "If"
TURN: Final = "Transpose"
CUT: Final = "Slice"
SCALE: Final = "Mul"
SCATTER_ND: Final = "ScatterND"  # writes at places, not along an axis
DYNAMIC_SCALE: Final = "DynamicQuantizeLinear"  # its second output, times the scale of a weight

OF_SIZES: Final = frozenset(("Shape", "Size"))
DRAWN: Final = frozenset(
    ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial")
)
MADE_ANEW: Final = OF_SIZES | {"ConstantOfShape", "Range", "EyeLike"}  # no constant is in what they make
SHARING: Final = frozenset(("Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"))  # the memory of their input

# Moves: the same numbers, each axis where it was, at another place, or turned.
_IN_PLACE: Final = frozenset(
    ("Cast", "CastLike", "DequantizeLinear", "DynamicQuantizeLinear", "Identity", "QuantizeLinear", "Slice", "Split")
)
SHIFTING: Final = frozenset(("Expand", "Gather", "Reshape", "Squeeze", "Tile", "Unsqueeze"))
MOVERS: Final = _IN_PLACE | SHIFTING | {TURN}
RESHAPED: Final = frozenset(("Cast", "Identity", "Reshape", "Squeeze"))  # one number stays the same one

ALONG: Final = frozenset(("Scatter", "ScatterElements"))  # write along one axis
JOINS: Final = frozenset(("Concat", "ConcatFromSequence", "SequenceConstruct"))
WRITERS: Final = {"Scatter": (0,), "ScatterElements": (0,), SCATTER_ND: (0,), "Where": (1, 2)}  # what they write into
PICKERS: Final = {"Gather": 1, "GatherBlockQuantized": 1, "EmbedLayerNormalization": 0}  # the input that picks rows

# Attention: between a cache and its product, positions are turned in and scales taken out.
ATTENTION: Final = "Attention"  # a part of the name of every operator that is one
SOFTMAX: Final = "Softmax"  # likewise
PASSING: Final = MOVERS | {"Add", "Concat", "Div", "Mul", "Neg", "RotaryEmbedding", "Sub", "Where"}
SCORES: Final = frozenset(("Add", "Cast", "Div", "IsNaN", "Mul", "Reshape", "Squeeze", "Unsqueeze", "Sub", "Where"))
SUMMED: Final = "Einsum"
# matrix products, and the inputs that they multiply
PRODUCTS: Final = {
    **dict.fromkeys(("FusedMatMul", "MatMul", "MatMulInteger", "MatMulIntegerToFloat", "TransposeMatMul"), (0, 1)),
    **dict.fromkeys(("DynamicQuantizeMatMul", "Gemm", "FusedGemm"), (0, 1)),
    "QLinearMatMul": (0, 3),
}
