"""Operators that the rules speak of, by what is said of them: the names stand here alone."""

from typing import Final

BATCH_NORM: Final = "BatchNormalization"
FOLDS_NORMS: Final = frozenset(("Conv", "ConvTranspose", "Gemm"))  # whose weights can take in one after them

# Waste: what does nothing, what undoes what was done before, what could be computed once
IDENTITY: Final = "Identity"
DROPOUT: Final = "Dropout"
CAST: Final = "Cast"
CASTS: Final = frozenset((CAST, "CastLike"))
RESHAPE: Final = "Reshape"
FLATTEN: Final = "Flatten"
RESHAPERS: Final = frozenset((RESHAPE, "Squeeze", "Unsqueeze", FLATTEN))  # the same numbers in the same order
SPLIT: Final = "Split"
ONE_OF_ONE: Final = frozenset(("Concat", "Max", "Mean", "Min", "Sum", SPLIT))  # of a single input or part: itself
KEEPS_BY_ONE: Final = {"Mul": (0, 1), "Div": (1,)}  # where a 1 leaves the other input as it is
REPEATS: Final = {"Expand": 1, "Tile": 1}  # where how often is said: once along each axis changes nothing
PAD: Final = "Pad"
# Each number by itself, so that it does not matter whether it is turned before or after
UNARY: Final = frozenset(
    (
        *("Abs", "Cast", "Ceil", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "Identity"),
        *("LeakyRelu", "Log", "Mish", "Neg", "Not", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin"),
        *("Softplus", "Softsign", "Sqrt", "Swish", "Tanh", "ThresholdedRelu"),
    )
)
WITH_SCALARS: Final = frozenset(("Add", "Clip", "Div", "Max", "Min", "Mul", "Pow", "Sub"))  # likewise, if the rest are
COUNT_FOR_NOTHING: Final = frozenset(("ConstantOfShape", "EyeLike", IDENTITY))  # large in few bytes; a second name
QUANTIZERS: Final = frozenset(("QuantizeLinear", "DequantizeLinear"))  # written out so that engines see them

# What stays on its way to a compiler
CONTROL: Final = ("If", "Loop", "Scan", "SequenceMap")
LOOPS: Final = ("Loop", "Scan", "SequenceMap")
COUNTED_BY_DATA: Final = (  # how many there are of what they make, the elements decide
    "Compress",
    "NonMaxSuppression",
    "NonZero",
    "StringSplit",
    "Unique",
)
SIZED_BY_VALUES: Final = {  # the inputs whose elements are sizes, bounds or counts
    "CenterCropPad": (1,),
    "ConstantOfShape": (0,),
    "Expand": (1,),
    "OneHot": (1,),
    "Pad": (1,),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (2, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Tile": (1,),
    "TopK": (1,),
    "Upsample": (1,),
}

# Training
TRAINING_DOMAIN: Final = "ai.onnx.preview.training"
MICROSOFT: Final = "com.microsoft"
GRADIENT: Final = "Grad"  # how names of com.microsoft's derivatives end
UPDATES: Final = frozenset(
    (
        *("AdamOptimizer", "AdamWOptimizer", "InPlaceAccumulator", "InPlaceAccumulatorV2", "LambOptimizer"),
        *("SGDOptimizer", "SGDOptimizerV2"),
    )
)
SAMPLERS: Final = ("Sampling",)  # com.microsoft's loops that draw tokens

# Quantization: heavy operators that runtimes have in int8, and what is moved across a quantization by some runtime
INT8_PRODUCTS: Final = frozenset(("Conv", "Gemm", "MatMul"))  # of their first two inputs
INT8_ALREADY: Final = frozenset(("QLinearConv", "QLinearMatMul", "QGemm"))
FINDS_SCALES: Final = frozenset(("Conv", "Gemm"))  # whose constants onnxruntime quantizes itself if their data are
MAKES_INT8: Final = frozenset(("Conv",))  # that onnxruntime runs in int8 only if the answer is quantized too
RECTIFIER: Final = "Relu"  # is in the quantization after it, if its zero is the lowest number
AROUND_INT8: Final = frozenset(
    (
        *("AveragePool", "Clip", "Concat", "DepthToSpace", "Dropout", "Expand", "Flatten", "Gather"),
        *("GlobalAveragePool", "Identity", "LeakyRelu", "MaxPool", "Pad", "Relu", "Reshape", "Resize", "Slice"),
        *("BatchNormalization", "Cast", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"),
        *("Upsample",),
    )
)
QUANTIZED_CONV: Final = "Conv"  # between QuantizeLinear and DequantizeLinear
INTEGER_CONV: Final = "QLinearConv"
DYNAMIC_CONV: Final = "ConvInteger"

# Operators that are a whole block in one, by the kind of block
FUSED: Final[dict[str, frozenset[str]]] = {
    "layer-norm": frozenset(
        ("LayerNormalization", "SkipLayerNormalization", "EmbedLayerNormalization", "QEmbedLayerNormalization")
    ),
    "gelu": frozenset(("BiasGelu", "BiasSplitGelu", "FastGelu", "Gelu", "GemmFastGelu", "QuickGelu")),
}
CLASSIC: Final = "ai.onnx.ml"  # the domain of trees, linear models and their kin

# Operator sets and positions
NEWEST_OPSET: Final = 28  # of ai.onnx, as released with onnx 1.23
NEWEST_IR: Final = 14  # likewise
OPSET_GUARANTEED: Final = 7  # the oldest that onnxruntime promises to run
OPSET_OF_TOOLS: Final = 11  # the oldest that its quantizer asks for
POSITIONS: Final = {"ArgMax": 0, "ArgMin": 0, "NonMaxSuppression": 0, "NonZero": 0, "TopK": 1}  # the output with them

# The numbers in the weights. What multiplies data by a matrix: a zero one gives nothing, an infinite one no number.
MULTIPLYING: Final = frozenset(
    (
        *("Conv", "ConvInteger", "ConvTranspose", "DeformConv", "FusedConv", "FusedGemm", "FusedMatMul", "Gemm"),
        *("DynamicQuantizeMatMul", "MatMul", "MatMulInteger", "MatMulIntegerToFloat", "MatMulNBits", "NhwcConv"),
        *("QGemm", "QLinearConv", "QLinearMatMul", "TransposeMatMul"),
    )
)
# What multiplies or adds number by number, or scales: what is no number stays none.
SPREADING: Final = MULTIPLYING | {
    *("Add", "Sub", "Mul", "Div", "BatchNormalization", "GroupNormalization", "InstanceNormalization"),
    *("LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization", "SkipLayerNormalization"),
    *("SkipSimplifiedLayerNormalization", "LSTM", "GRU", "RNN", "PRelu"),
}
SCALING: Final = frozenset(name for name in SPREADING if name.endswith("Normalization"))
# What takes or leaves a number by a condition, or asks what it is: NaN may be there on purpose.
CHOOSING: Final = frozenset(
    (
        *("Where", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "IsNaN", "IsInf", "Max", "Min"),
        *("Clip", "Pad", "OneHot", "Scatter", "ScatterElements", "ScatterND", "Concat", "LabelEncoder", "Imputer"),
    )
)

# What runtimes take. Gone before a provider of onnxruntime looks at the graph.
DROPPED_EARLY: Final = frozenset(("Constant", "Dropout", "Identity"))
