"""Operators by what they do with values, for whoever follows values through a graph: the names stand here alone."""

from typing import Final

CONSTANT: Final = "Constant"
BRANCH: Final = "If"
LOOP: Final = "Loop"
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
LOOKUPS: Final = frozenset(("Gather", "GatherElements"))  # take rows of their first input by the numbers in the second
LOOKUP_ND: Final = "GatherND"  # likewise, by a number for each of several axes
EMBEDS: Final = {"EmbedLayerNormalization": 8, "QEmbedLayerNormalization": 99}  # where positions are, if they are given
COUNT: Final = "CumSum"  # positions from a mask
COUNTED: Final = {  # what keeps them positions, and how a constant beside them moves them
    **dict.fromkeys(("Cast", "Identity", "Mul", "Reshape", "Slice", "Squeeze", "Unsqueeze", "Where"), 0),
    "Add": 1,
    "Sub": -1,
}

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

# Quantized weights: where the weight is, where its scale, where its zero point (-1: the operator takes none).
# The input of a quantizer counts too: floating-point weights that are quantized and back again on their way.
SCALED: Final[dict[str, tuple[tuple[int, int, int], ...]]] = {
    **dict.fromkeys(("DequantizeLinear", "QuantizeLinear"), ((0, 1, 2),)),
    **dict.fromkeys(("ConvInteger", "MatMulInteger"), ((1, -1, 3),)),
    "MatMulIntegerToFloat": ((1, 3, 5),),
    "DynamicQuantizeMatMul": ((1, 2, 3),),
    "DynamicQuantizeLSTM": ((1, 8, 9), (2, 10, 11)),
    **dict.fromkeys(("QLinearConv", "QLinearConvTranspose", "QGemm"), ((3, 4, 5),)),
    **dict.fromkeys(("QLinearMatMul", "QLinearAdd", "QLinearMul"), ((3, 4, 5), (0, 1, 2))),
    "QAttention": ((1, 4, 7),),
    "QEmbedLayerNormalization": ((2, 8, 13), (3, 9, 14), (4, 10, 15)),
    **dict.fromkeys(("MatMulNBits", "MatMulBnb4"), ((1, 2, 3),)),
    **dict.fromkeys(("MatMulBlockQuantizedFp4Weight", "MatMulBlockQuantizedFp8Weight"), ((1, 2, -1),)),
    "MatMulNBitsMlp": ((3, 4, -1), (6, 7, -1)),
    "MatMulNBitsQkv": ((3, 4, -1), (6, 7, -1), (9, 10, -1)),
    "GatherBlockQuantized": ((0, 2, 3),),
    "QMoE": ((2, 3, 11), (5, 6, 12), (8, 9, 13)),
}
# Those whose bytes hold several numbers around the middle of their range, unless zero points say otherwise
PACKED: Final = frozenset(("MatMulNBits", "MatMulNBitsMlp", "MatMulNBitsQkv", "GatherBlockQuantized", "QMoE"))
BLOCKS: Final = {"GatherBlockQuantized": 128}  # numbers with one scale, where the node does not say
BY_DIRECTION: Final = frozenset(("DynamicQuantizeLSTM",))  # the first axis of their weights and scales is the direction
ON_INTEGERS: Final = ("QLinear", "QGemm", "QAttention", "QOrdered", "QEmbed")  # how names of int8 operators begin

# What turns the number of a class into its label
ENCODER: Final = "LabelEncoder"
LABEL_PICK: Final = "ArrayFeatureExtractor"
