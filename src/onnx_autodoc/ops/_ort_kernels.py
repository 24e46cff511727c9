"""What onnxruntime does with operators on a CPU: which it joins, which it computes in blocks of channels, at what pace.

Read off the graphs that it writes when it optimises (version 1.31). The names stand here alone; how they are used is in
`calibrate`.
"""

from typing import Final

from onnx_autodoc.ops._classes import WorkClass, work_class

# What is not there when a model runs, but for its first input
DROPPED: Final = frozenset(("Identity", "Dropout"))
CONTROL: Final = frozenset(("If", "Loop", "Scan"))
REPEATED: Final = frozenset(("Loop", "Scan"))

CONVOLUTIONS: Final = frozenset(("Conv", "FusedConv", "NhwcConv", "NhwcFusedConv"))
INTEGER_CONVOLUTIONS: Final = frozenset(("QLinearConv", "ConvInteger"))
DYNAMIC_CONVOLUTIONS: Final = frozenset(("ConvInteger",))
TRANSPOSED: Final = frozenset(("ConvTranspose",))
FOLDED_NORM: Final = "BatchNormalization"
SUMS: Final = frozenset(("Add", "Sum"))
ADD: Final = "Add"
SCALES: Final = frozenset(("Mul", "Div"))
CHANNEL_WISE: Final = frozenset(("Add", "Mul"))  # by a constant for each channel, they go into the weights
CAST: Final = "Cast"
PAD: Final = "Pad"
BRANCH: Final = "If"
FACTORS: Final = frozenset(("Mul", "Div"))  # by one, they change nothing
TERMS: Final = frozenset(("Add", "Sub"))  # with zero, likewise
MEANS: Final = frozenset(("ReduceMean",))
REDUCTIONS: Final = "Reduce"  # how their names begin
ROOT: Final = "Sqrt"
QUOTIENT: Final = "Div"
POWER: Final = "Pow"
TURN: Final = "Transpose"
ERF: Final = "Erf"
TANH: Final = "Tanh"
BY_TANH: Final = frozenset(("Tanh", "Sigmoid"))  # what a quick gelu is made with

# What goes into the convolution, the product before it
AFTER_CONVOLUTION: Final = frozenset(("Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "HardSigmoid", "HardSwish"))
AFTER_GEMM: Final = frozenset(
    (
        *("Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Elu", "Selu", "Softplus", "Softsign"),
        "ThresholdedRelu",
    )
)
GEMM: Final = "Gemm"
MATMUL: Final = "MatMul"
DYNAMIC_PRODUCT: Final = "MatMulInteger"
AFTER_DYNAMIC_PRODUCT: Final = frozenset(("Cast", "Mul", "Add"))
PACKED_PRODUCTS: Final = frozenset(("MatMulNBits", "MatMulBnb4"))
INTEGER_PRODUCTS: Final = frozenset(
    ("MatMulInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "QGemm", "QLinearMatMul")
)
SECOND_FACTOR: Final = {"QGemm": 3, "QLinearMatMul": 3, "QLinearConv": 3}  # where it is not the input 1

QUANTIZE: Final = "QuantizeLinear"
DEQUANTIZE: Final = "DequantizeLinear"
# Between a dequantizer and a quantizer they are computed on integers
QUANTIZABLE: Final = frozenset(
    (
        *("Add", "AveragePool", "Clip", "Concat", "Conv", "Flatten", "Gather", "Gemm", "GlobalAveragePool"),
        *("LeakyRelu", "MatMul", "MaxPool", "Mul", "Relu", "Reshape", "Resize", "Sigmoid", "Slice", "Softmax"),
        *("Split", "Squeeze", "Transpose", "Unsqueeze", "Where"),
    )
)
CLAMPED: Final = frozenset(("Add", "Conv", "Gemm", "MatMul"))  # whose activation the quantizer does
CLAMPS: Final = frozenset(("Relu", "Clip"))

# In blocks of channels: convolutions, and what can go on in their layout
BLOCKED_POOLS: Final = frozenset(("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"))
BLOCKED_UNARY: Final = AFTER_CONVOLUTION | {"QuickGelu", "Gelu"}
BLOCKED_BINARY: Final = frozenset(("Add", "Sum", "Mul"))
CONCAT: Final = "Concat"
RESIZES: Final = frozenset(("Resize", "Upsample"))

# Those with kernels for half precision; around all others numbers are cast
HALF: Final = frozenset(
    (
        *("Cast", "Concat", "Constant", "Expand", "Flatten", "Gather", "Identity", "Pad", "Reshape", "Shape"),
        *("Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze", "Where"),
    )
)

_ACTIVATIONS: Final = {
    "erf": "Erf",
    "exp": "Exp Elu Selu Celu",
    "tanh": "Tanh FastGelu Mish Softplus",
    "sigmoid": "Sigmoid",
    "pow": "Pow",
    "log": "Log",
    "root": "Sqrt Reciprocal",
    "sine": "Sin Cos Tan Atan Asin Acos",
    "round": "Floor Ceil Round Mod",
    "gelu": "Gelu BiasGelu",
    "silu": "QuickGelu Swish",
    "divide": "Div",
    "select": "Where",
}
_FUNCTIONS: Final = {op: name for name, ops in _ACTIVATIONS.items() for op in ops.split()}
_COPIES: Final = frozenset(
    (
        *("Concat", "ConstantOfShape", "DepthToSpace", "Expand", "Pad", "Range", "ReverseSequence", "Slice"),
        *("SpaceToDepth", "Split", "Tile"),
    )
)
_OWN: Final = {
    "QuantizeLinear": "quantize",
    "DequantizeLinear": "dequantize",
    "DynamicQuantizeLinear": "quantize dynamically",
    "Cast": "cast",
    "BatchNormalization": "plain",
    **dict.fromkeys(_COPIES, "copy"),
    **dict.fromkeys(("TopK", "NonZero"), "sort"),
    **dict.fromkeys(("QLinearAdd", "QLinearMul", "QLinearConcat", "QLinearAveragePool"), "integer pointwise"),
    **dict.fromkeys(("QLinearGlobalAveragePool", "QLinearSigmoid", "QLinearLeakyRelu"), "integer pointwise"),
    "Transpose": "transpose",
    **dict.fromkeys(RESIZES, "resize"),
    **{op: f"function {name}" for op, name in _FUNCTIONS.items()},
}
_BY_CLASS: Final = {
    WorkClass.NORMALIZATION: "norm",
    WorkClass.SOFTMAX: "softmax",
    WorkClass.POOLING: "pool",
    WorkClass.REDUCTION: "reduce",
    WorkClass.LOOKUP: "gather",
    WorkClass.VIEW: "view",
    WorkClass.POINTWISE: "plain",
    WorkClass.ATTENTION: "attention",
    WorkClass.RECURRENT: "recurrent",
    WorkClass.CONVOLUTION: "convolution",
    WorkClass.PRODUCT: "product",
    WorkClass.MOVE: "copy",
    WorkClass.OTHER: "other",
}
INTEGER_MOVES: Final = frozenset(
    (
        *("Concat", "Flatten", "Gather", "MaxPool", "Reshape", "Resize", "Slice", "Split", "Squeeze", "Transpose"),
        "Unsqueeze",
    )
)
GATES: Final = {"LSTM": 4, "GRU": 3, "RNN": 1, "DynamicQuantizeLSTM": 4}  # rows of weights for each hidden number
INTEGER_RECURRENT: Final = frozenset(("DynamicQuantizeLSTM",))


def pace(op: str) -> str:
    """The word for what takes time in the same way; convolutions and products are told apart by their shapes."""
    return _OWN.get(op) or _BY_CLASS[work_class(op)]
