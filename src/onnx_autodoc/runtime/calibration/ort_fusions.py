"""Operators that onnxruntime fuses, computes on integers or in blocks of channels, as version 1.31 optimizes them."""

from typing import Final

CONTROL: Final = frozenset(("If", "Loop", "Scan"))

CONVOLUTIONS: Final = frozenset(("Conv", "FusedConv", "NhwcConv", "NhwcFusedConv"))
INTEGER_CONVOLUTIONS: Final = frozenset(("QLinearConv", "ConvInteger"))
SUMS: Final = frozenset(("Add", "Sum"))
SCALES: Final = frozenset(("Mul", "Div"))
CHANNEL_WISE: Final = frozenset(("Add", "Mul"))  # by a constant for each channel, folded into the weights
BY_TANH: Final = frozenset(("Tanh", "Sigmoid"))  # in a quick GELU

# Fused into the convolution or product before
AFTER_CONVOLUTION: Final = frozenset(("Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "HardSigmoid", "HardSwish"))
AFTER_GEMM: Final = frozenset(
    (*("Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Elu", "Selu", "Softplus", "Softsign"), "ThresholdedRelu")
)
AFTER_DYNAMIC_PRODUCT: Final = frozenset(("Cast", "Mul", "Add"))
PACKED_PRODUCTS: Final = frozenset(("MatMulNBits", "MatMulBnb4"))
INTEGER_PRODUCTS: Final = frozenset(
    ("MatMulInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "QGemm", "QLinearMatMul")
)
SECOND_FACTOR: Final = {"QGemm": 3, "QLinearMatMul": 3, "QLinearConv": 3}  # input index, if not 1

# Computed on integers between DequantizeLinear and QuantizeLinear
QUANTIZABLE: Final = frozenset(
    (
        *("Add", "AveragePool", "Clip", "Concat", "Conv", "Flatten", "Gather", "Gemm", "GlobalAveragePool"),
        *("LeakyRelu", "MatMul", "MaxPool", "Mul", "Relu", "Reshape", "Resize", "Sigmoid", "Slice", "Softmax"),
        *("Split", "Squeeze", "Transpose", "Unsqueeze", "Where"),
    )
)
CLAMPED: Final = frozenset(("Add", "Conv", "Gemm", "MatMul"))  # followed by an activation that the quantizer includes
CLAMPS: Final = frozenset(("Relu", "Clip"))

# Computed in blocks of channels if their input is
BLOCKED_POOLS: Final = frozenset(("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"))
BLOCKED_UNARY: Final = AFTER_CONVOLUTION | {"QuickGelu", "Gelu"}
BLOCKED_BINARY: Final = frozenset(("Add", "Sum", "Mul"))
RESIZES: Final = frozenset(("Resize", "Upsample"))

INTEGER_MOVES: Final = frozenset(
    (
        *("Concat", "Flatten", "Gather", "MaxPool", "Reshape", "Resize", "Slice", "Split", "Squeeze", "Transpose"),
        "Unsqueeze",
    )
)
GATES: Final = {"LSTM": 4, "GRU": 3, "RNN": 1, "DynamicQuantizeLSTM": 4}  # by op type, weight matrices of a cell
