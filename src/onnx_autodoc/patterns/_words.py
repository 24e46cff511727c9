"""Kinds by what they are, for rules and for whoever reads the net."""

from typing import Final

NORMS: Final = ("layer-norm", "rms-norm", "batch-norm", "group-norm", "instance-norm")
SHOWN_ACTIVATIONS: Final = ("silu", "gelu", "hard-swish", "mish")
ACTIVATIONS: Final = (
    *SHOWN_ACTIVATIONS,
    *("Relu", "LeakyRelu", "PRelu", "Elu", "Selu", "Celu", "Clip", "Softplus", "Softsign", "ThresholdedRelu"),
)
GATES: Final = ("Sigmoid", "HardSigmoid", "Tanh", "softmax")
RECURRENT: Final = ("lstm", "gru", "rnn")
MIXERS: Final = ("attention", "state-space", *RECURRENT)  # what lets places of a sequence see each other
WEIGHTED: Final = (
    *("linear", "conv", "mlp", "gated-mlp", "moe", "embedding", "patch-embedding", "conv-norm-act", "squeeze-excite"),
    *(
        "inverted-residual",
        "depthwise-separable",
        "expert-weights",
        "stft",
        "Conv",
        "ConvTranspose",
        "DeformConv",
        *MIXERS,
    ),
)
SHRINKING: Final = ("MaxPool", "AveragePool")
POOLS: Final = ("GlobalAveragePool", "GlobalMaxPool", "AveragePool", "MaxPool", "mean", "ReduceMean", "ReduceMax")
SHOWN: Final = (
    *NORMS,
    *SHOWN_ACTIVATIONS,
    *("softmax", "attention", "mlp", "gated-mlp", "moe", "embedding", "patch-embedding", "linear", "conv"),
    *("conv-norm-act", "depthwise-separable", "inverted-residual", "squeeze-excite", "head", *RECURRENT, "stft"),
)
# operators that are a block all by themselves, and what they are called
NAMED: Final = {
    "NonMaxSuppression": "nms",
    "TreeEnsemble": "tree-ensemble",
    "TreeEnsembleClassifier": "tree-ensemble",
    "TreeEnsembleRegressor": "tree-ensemble",
}
# what a person would draw as a box of its own
RESIZING: Final = ("Resize", "Upsample", "DepthToSpace", "SpaceToDepth", "MaxUnpool", "GridSample", "AffineGrid")
TREES: Final = ("TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor")
WAVES: Final = ("Sin", "Cos")
SPECTRA: Final = ("stft", "MelWeightMatrix")
CLASSIC: Final = ("LinearClassifier", "LinearRegressor", "SVMClassifier", "SVMRegressor", *TREES)
_SINGLE: Final = (
    "head",
    "softmax",
    "MatMul",
    "NonMaxSuppression",
    "RoiAlign",
    "LRN",
    "LpNormalization",
    "TopK",
    "ArgMax",
)
DRAWN: Final = frozenset((*WEIGHTED, *NORMS, *POOLS, *RESIZING, *CLASSIC, *SPECTRA, *_SINGLE))
PREPARING: Final = (
    *("Scaler", "Normalizer", "Imputer", "OneHotEncoder", "LabelEncoder", "Binarizer", "FeatureVectorizer"),
    *("TfIdfVectorizer", "StringNormalizer", "StringSplit", "StringConcat", "RegexFullMatch", "Tokenizer"),
    *(*SPECTRA, "ImageDecoder", "Resize"),
)
CONVOLVING: Final = ("conv", "stft", "Conv", "ConvTranspose", "DeformConv")
FILTERS: Final = ("conv", "Conv", "ConvTranspose")  # with a weight, and with one that is computed
DECAYING: Final = ("Softplus", "Exp")  # by a learned step, as state-space layers do
JOINING: Final = "Concat"
ADDING: Final = "Add"
CUTTING: Final = frozenset(("Split", "Slice"))


def either(*ops: str) -> str:
    return "|".join(ops)
