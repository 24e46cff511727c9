"""Operators by the kind of work that they are to a processor: what runs at one pace, and what joins the work before it.

A class is a word; estimates of time have a rate for each. What a table names is of its class in every domain.
"""

from enum import StrEnum
from typing import Final


class WorkClass(StrEnum):
    CONVOLUTION = "convolution"
    PRODUCT = "product"
    ATTENTION = "attention"
    RECURRENT = "recurrent"
    NORMALIZATION = "normalization"
    SOFTMAX = "softmax"
    POINTWISE = "pointwise"  # each element by itself
    REDUCTION = "reduction"
    POOLING = "pooling"
    MOVE = "move"  # elements go elsewhere, as they are
    LOOKUP = "lookup"  # some elements are picked
    VIEW = "view"  # nothing is done: the same data under another shape
    OTHER = "other"


_NAMES: Final = {
    WorkClass.CONVOLUTION: (
        "Conv ConvInteger ConvTranspose ConvTransposeWithDynamicPads DeformConv FusedConv NhwcConv NhwcFusedConv "
        "QLinearConv QLinearConvTranspose CausalConvWithState VarlenCausalConvWithState WordConvEmbedding"
    ),
    WorkClass.PRODUCT: (
        "CDist DynamicQuantizeMatMul Einsum FusedGemm FusedMatMul FusedMatMulActivation Gemm GemmFastGelu GemmFloat8 "
        "LinearClassifier LinearRegressor MatMul MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight "
        "MatMulBnb4 MatMulFpQ4 MatMulInteger MatMulInteger16 MatMulIntegerToFloat MatMulNBits MatMulNBitsMlp "
        "MatMulNBitsQkv MoE QGemm QLinearMatMul QMoE QOrderedMatMul SparseToDenseMatMul TransposeMatMul"
    ),
    WorkClass.ATTENTION: (
        "Attention DecoderAttention DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention "
        "DisentangledAttention_TRT DynamicSparseAttention FlexAttention "
        "GatedDeltaNet GroupQueryAttention LinearAttention LongformerAttention MultiHeadAttention PackedAttention "
        "PackedMultiHeadAttention PagedAttention QAttention QOrderedAttention QOrderedLongformerAttention "
        "SparseAttention SparsePagedAttention"
    ),
    WorkClass.RECURRENT: "AttnLSTM DynamicQuantizeLSTM GRU GRUUnit LSTM RNN",
    WorkClass.NORMALIZATION: (
        "BatchNormalization BranchwiseRMSNorm EmbedLayerNormalization GatedRMSNorm GroupNorm GroupNormalization "
        "InstanceNormalization LRN LayerNormalization LpNormalization MeanVarianceNormalization Normalizer "
        "QEmbedLayerNormalization QOrderedLayerNormalization RMSNormalization SimplifiedLayerNormalization "
        "SkipGroupNorm SkipLayerNormalization SkipSimplifiedLayerNormalization"
    ),
    WorkClass.SOFTMAX: "BiasSoftmax Hardmax LogSoftmax QLinearSoftmax Softmax",
    WorkClass.POINTWISE: (
        "Abs Acos Acosh Add Affine And Asin Asinh Atan Atanh BiasAdd BiasDropout BiasGelu BiasSplitGelu Binarizer "
        "BitCast BitShift BitmaskBiasDropout BitmaskDropout BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike "
        "Ceil Celu Clip ComplexMul ComplexMulConj Cos Cosh DequantizeBFP DequantizeLinear DequantizeWithOrder Div "
        "Dropout DynamicQuantizeLinear Elu EngramGate Equal Erf Exp FastGelu Floor GatedAdd "
        "GatedRelativePositionBias Gelu GemmaRotaryEmbedding Greater GreaterOrEqual HardSigmoid HardSwish "
        "HyperConnectionPostMix HyperConnectionPreMix ImageScaler Imputer IsInf IsNaN LeakyRelu Less LessOrEqual "
        "LinearAttentionGate Log MRotaryEmbedding Max Mean Min Mish Mod Mul MulInteger Neg Not Or PRelu "
        "ParametricSoftplus Pow QLinearAdd QLinearLeakyRelu QLinearMul QLinearSigmoid QLinearWhere QOrderedGelu "
        "QuantizeBFP QuantizeLinear QuantizeWithOrder QuickGelu Reciprocal Relu RotaryEmbedding Round Scale "
        "ScaledSiLU ScaledTanh Scaler Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Sum SwiGLU Swish "
        "Tan Tanh ThresholdedRelu Trilu Where Xor"
    ),
    WorkClass.REDUCTION: (
        "ArgMax ArgMin CumProd CumSum IsAllFinite QLinearReduceMean ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp "
        "ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumInteger ReduceSumSquare"
    ),
    WorkClass.POOLING: (
        "AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxpoolWithMask MaxRoiPool MaxUnpool "
        "NhwcMaxPool QLinearAveragePool QLinearGlobalAveragePool RoiAlign"
    ),
    WorkClass.MOVE: (
        "CenterCropPad Col2Im Concat ConcatFromSequence Crop CropAndResize DepthToSpace Expand GridSample Pad "
        "QLinearConcat RemovePadding ReorderInput ReorderOutput Resize RestorePadding ReverseSequence Slice "
        "SpaceToDepth Split SplitToSequence TensorScatter Tile Transpose UnfoldTensor Upsample"
    ),
    WorkClass.LOOKUP: (
        "ArrayFeatureExtractor Compress Gather GatherBlockQuantized GatherElements GatherND NonZero OneHot "
        "OneHotEncoder Scatter ScatterElements ScatterND TopK TorchEmbedding"
    ),
    WorkClass.VIEW: "Constant ExpandDims Flatten Identity Reshape Shape Size Squeeze Unsqueeze",
}
_BY_NAME: Final = {name: kind for kind, names in _NAMES.items() for name in names.split()}

LIGHT: Final = frozenset(  # what a compiler puts into the kernel that made its input
    (WorkClass.NORMALIZATION, WorkClass.POINTWISE, WorkClass.REDUCTION, WorkClass.SOFTMAX)
)


def work_class(op: str) -> WorkClass:
    return _BY_NAME.get(op, WorkClass.OTHER)
