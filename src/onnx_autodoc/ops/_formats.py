"""Operators that tell how a model was quantized."""

from typing import Final

QUANTIZE: Final = "QuantizeLinear"
DEQUANTIZE: Final = "DequantizeLinear"
# integer products of activations that are quantized while the model runs
DYNAMIC: Final = frozenset(
    ("MatMulInteger", "ConvInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM")
)
# operators on int8 tensors from end to end
QOPERATOR: Final = frozenset(("QLinearConv", "QLinearMatMul", "QGemm", "QAttention", "QLinearAdd"))
