"""What the specification of ONNX has of each operator: the opset that first had it, and those that take it back.

Written off `onnx.defs` of onnx 1.23 (opset 28); a test holds it to the version that is installed.
"""

from functools import cache
from typing import Final

# domain -> opset -> the operators that it was the first to have
_FIRST: Final = {
    "": {
        1: (
            "Abs Add And ArgMax ArgMin AveragePool BatchNormalization Cast Ceil Clip Concat Constant Conv "
            "ConvTranspose DepthToSpace Div Dropout Elu Equal Exp Flatten Floor GRU Gather Gemm GlobalAveragePool "
            "GlobalLpPool GlobalMaxPool Greater HardSigmoid Hardmax Identity If InstanceNormalization LRN LSTM "
            "LeakyRelu Less Log LogSoftmax Loop LpNormalization LpPool MatMul Max MaxPool MaxRoiPool Mean Min Mul Neg "
            "Not Or PRelu Pad Pow RNN RandomNormal RandomNormalLike RandomUniform RandomUniformLike Reciprocal "
            "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
            "ReduceSumSquare Relu Reshape Selu Shape Sigmoid Size Slice Softmax Softplus Softsign SpaceToDepth Split "
            "Sqrt Squeeze Sub Sum Tanh Tile TopK Transpose Unsqueeze Upsample Xor"
        ),
        7: "Acos Asin Atan Cos Multinomial Sin Tan",
        8: "Expand Scan",
        9: (
            "Acosh Asinh Atanh Compress ConstantOfShape Cosh Erf EyeLike IsNaN MaxUnpool MeanVarianceNormalization "
            "NonZero OneHot Scatter Shrink Sign Sinh TfIdfVectorizer Where"
        ),
        10: (
            "ConvInteger DequantizeLinear IsInf MatMulInteger Mod NonMaxSuppression QLinearConv QLinearMatMul "
            "QuantizeLinear Resize ReverseSequence RoiAlign StringNormalizer ThresholdedRelu"
        ),
        11: (
            "BitShift ConcatFromSequence CumSum Det DynamicQuantizeLinear GatherElements GatherND Range Round "
            "ScatterElements ScatterND SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert "
            "SequenceLength SplitToSequence Unique"
        ),
        12: "Celu Einsum GreaterOrEqual LessOrEqual NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
        14: "HardSwish Trilu",
        15: "Bernoulli CastLike Optional OptionalGetElement OptionalHasElement",
        16: "GridSample",
        17: "BlackmanWindow DFT HammingWindow HannWindow LayerNormalization MelWeightMatrix STFT SequenceMap",
        18: "BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad Col2Im GroupNormalization Mish",
        19: "DeformConv",
        20: "AffineGrid Gelu ImageDecoder RegexFullMatch StringConcat StringSplit",
        23: "Attention RMSNormalization RotaryEmbedding",
        24: "Swish TensorScatter",
        26: "BitCast CumProd",
        27: "CausalConvWithState LinearAttention",
        28: "SwiGLU",
    },
    "ai.onnx.ml": {
        1: (
            "ArrayFeatureExtractor Binarizer CastMap CategoryMapper DictVectorizer FeatureVectorizer Imputer "
            "LabelEncoder LinearClassifier LinearRegressor Normalizer OneHotEncoder SVMClassifier SVMRegressor Scaler "
            "TreeEnsembleClassifier TreeEnsembleRegressor ZipMap"
        ),
        5: "TreeEnsemble",
    },
}
SPECIFIED_DOMAINS: Final = frozenset(_FIRST)
# (domain, operator) -> the opsets at which it is deprecated, and what stands for it there
DEPRECATED: Final[dict[tuple[str, str], tuple[range, str]]] = {
    ("", "GroupNormalization"): (range(18, 21), "GroupNormalization of opset 21, which has a scale per channel"),
    ("", "Scatter"): (range(11, 1000), "ScatterElements"),
    ("", "Upsample"): (range(10, 1000), "Resize"),
    ("ai.onnx.ml", "TreeEnsembleClassifier"): (range(5, 1000), "TreeEnsemble"),
    ("ai.onnx.ml", "TreeEnsembleRegressor"): (range(5, 1000), "TreeEnsemble"),
}
# Never released: operators of ONNX's first days and of its exporters, of which runtimes kept a few at old opsets.
EXPERIMENTAL: Final = frozenset(
    (
        *("ATen", "Affine", "ConstantFill", "Crop", "DynamicSlice", "GRUUnit", "GivenTensorFill", "ImageScaler"),
        *("ParametricSoftplus", "Scale", "ScaledTanh"),
    )
)
PLUGIN: Final = "_TRT"  # how the names of TensorRT's plugins end, which its users write as nodes of ai.onnx
PREVIEW: Final = "ai.onnx.preview"  # and the domains below it
# Domains whose operators come with ONNX or onnxruntime, and the beginnings of the names of others.
STOCK_DOMAINS: Final = frozenset(("", "ai.onnx", "ai.onnx.ml", "ai.onnx.training"))
CONTRIB_FAMILIES: Final = ("com.microsoft", "com.ms.")
STOCK_FAMILIES: Final = (PREVIEW, *CONTRIB_FAMILIES)


@cache
def first_opsets() -> dict[tuple[str, str], int]:
    """(domain, operator) -> the opset that first had it."""
    return {
        (domain, op): opset for domain, rows in _FIRST.items() for opset, names in rows.items() for op in names.split()
    }


def newest(domain: str) -> int:
    """The last opset of which the table above has something new: of later ones it knows nothing."""
    return max(_FIRST[domain])
