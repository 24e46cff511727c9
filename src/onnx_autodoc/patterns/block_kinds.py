"""Kinds of blocks and operators, grouped by what they do.

Blocks have lower-case names, operators of the file the names that ONNX gives them.
"""

from typing import Final

NORMS: Final = ("layer-norm", "rms-norm", "batch-norm", "group-norm", "instance-norm")
DECOMPOSED_ACTIVATIONS: Final = ("silu", "gelu", "hard-swish", "mish")
ACTIVATIONS: Final = (
    *DECOMPOSED_ACTIVATIONS,
    *("Relu", "LeakyRelu", "PRelu", "Elu", "Selu", "Celu", "Clip", "Softplus", "Softsign", "ThresholdedRelu"),
)
GATES: Final = ("Sigmoid", "HardSigmoid", "Tanh", "softmax")
RECURRENT: Final = ("lstm", "gru", "rnn")
MIXERS: Final = ("attention", "state-space", *RECURRENT)  # exchange information between positions of a sequence
CONV_BLOCKS: Final = ("conv", "conv-norm-act", "depthwise-separable", "inverted-residual")
FEED_FORWARD: Final = ("mlp", "gated-mlp", "moe")
WEIGHTED: Final = (
    *("linear", "conv", *FEED_FORWARD, "embedding", "patch-embedding", "conv-norm-act", "squeeze-excite"),
    *("inverted-residual", "depthwise-separable", "expert-weights", "stft", "Conv", "ConvTranspose", "DeformConv"),
    *MIXERS,
)
SPATIAL_POOLS: Final = ("MaxPool", "AveragePool")
POOLS: Final = ("GlobalAveragePool", "GlobalMaxPool", "AveragePool", "MaxPool", "mean", "ReduceMean", "ReduceMax")
COUNTED: Final = (
    *(*NORMS, *DECOMPOSED_ACTIVATIONS, "softmax", "attention", *FEED_FORWARD),
    *("embedding", "patch-embedding", "linear", "conv"),
    *("conv-norm-act", "depthwise-separable", "inverted-residual", "squeeze-excite", "head", *RECURRENT, "stft"),
)
TREES: Final = ("TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor")
OPERATOR_BLOCKS: Final = {"NonMaxSuppression": "nms", **dict.fromkeys(TREES, "tree-ensemble")}
RESIZING: Final = ("Resize", "Upsample", "DepthToSpace", "SpaceToDepth", "MaxUnpool", "GridSample", "AffineGrid")
SINUSOIDS: Final = ("Sin", "Cos")
SPECTRA: Final = ("stft", "MelWeightMatrix")
CLASSICAL_MODELS: Final = ("LinearClassifier", "LinearRegressor", "SVMClassifier", "SVMRegressor", *TREES)
# drawn as a box of their own
DRAWN: Final = frozenset(
    (
        *(*WEIGHTED, *NORMS, *POOLS, *RESIZING, *CLASSICAL_MODELS, *SPECTRA),
        *("head", "softmax", "MatMul", "NonMaxSuppression", "RoiAlign", "LRN", "LpNormalization", "TopK", "ArgMax"),
    )
)
PREPROCESSING: Final = (
    *("Scaler", "Normalizer", "Imputer", "OneHotEncoder", "LabelEncoder", "Binarizer", "FeatureVectorizer"),
    *("TfIdfVectorizer", "StringNormalizer", "StringSplit", "StringConcat", "RegexFullMatch", "Tokenizer"),
    *(*SPECTRA, "ImageDecoder", "Resize"),
)
CONVOLUTIONS: Final = ("conv", "stft", "Conv", "ConvTranspose", "DeformConv")
CONV_FILTERS: Final = ("conv", "Conv", "ConvTranspose")  # with a constant weight, and with a computed one
STATE_SPACE_DECAY: Final = ("Softplus", "Exp")
SPLITTING: Final = frozenset(("Split", "Slice"))


def any_of(*kinds: str) -> str:
    """Return the alternatives in the notation of patterns."""
    return "|".join(kinds)
