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
# operator with packed weights -> (input that holds them, attribute with the bits of one weight, its default)
PACKED: Final = {
    "MatMulNBits": (1, "bits", 4),
    "GatherBlockQuantized": (0, "bits", 4),
    "MatMulBnb4": (1, "bits", 4),
    "QMoE": (2, "expert_weight_bits", 4),
}
