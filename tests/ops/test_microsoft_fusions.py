"""Fused operators of onnxruntime cost what the plain ones cost that they stand for."""

from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ops import OPERATORS
from onnx_autodoc.ops.cost import Cost
from tests.ops._arrays import half, single, small
from tests.ops._calls import Case, cost_of
from tests.ops.test_microsoft import embed
from tests.ops.test_microsoft_costs import SCALE, SMALL, ZERO, cost
from tests.ops.test_microsoft_schemas import NBITS

ONNX = {op: row for (domain, op), row in OPERATORS.items() if not domain}


def plain_cost(op: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Cost:
    return cost_of(ONNX[op], Case(op, inputs, attributes, outputs, opset=22), "")


def together(*costs: Cost) -> tuple[Any, Any]:
    """Multiply-adds and other arithmetic of several."""
    return sum((each.macs for each in costs), start=0), sum((each.other for each in costs), start=0)


X, Y = half(2, 3, 8), half(2, 3, 16)
VECTOR = half(8)
PIXELS, KERNELS = half(1, 3, 8, 9), half(4, 3, 3, 3)
LAST_PIXELS, PLANES = half(1, 8, 9, 3), half(1, 4, 6, 7)
BYTES = small(2, 3)

PAIRS: dict[str, tuple[Cost, tuple[Cost, ...]]] = {
    "FusedMatMul": (
        cost("FusedMatMul", half(2, 8, 3), half(16, 8), transA=1, transB=1, alpha=0.5),
        (plain_cost("MatMul", X, half(8, 16)), plain_cost("Mul", Y, half())),
    ),
    "FusedMatMul over a batch inside": (
        cost("FusedMatMul", half(3, 2, 8), half(2, 8, 16), transBatchA=1),
        (plain_cost("MatMul", X, half(2, 8, 16)),),
    ),
    "FusedMatMulActivation": (
        cost("FusedMatMulActivation", X, half(8, 16), activation="Softmax"),
        (plain_cost("MatMul", X, half(8, 16)), plain_cost("Softmax", Y)),
    ),
    "FusedGemm": (
        cost("FusedGemm", half(3, 8), half(16, 8), half(16), transB=1, activation="LeakyRelu"),
        (plain_cost("Gemm", half(3, 8), half(16, 8), half(16), transB=1), plain_cost("LeakyRelu", half(3, 16))),
    ),
    "GemmFloat8": (
        cost("GemmFloat8", half(3, 8), half(16, 8), transB=1, activation="RELU"),
        (plain_cost("Gemm", half(3, 8), half(16, 8), transB=1), plain_cost("Relu", half(3, 16))),
    ),
    "GemmFastGelu": (
        cost("GemmFastGelu", X, half(8, 16), half(16)),
        (
            plain_cost("MatMul", X, half(8, 16)),
            plain_cost("Add", Y, half(16)),
            plain_cost("Gelu", Y, approximate="tanh"),
        ),
    ),
    "FusedConv": (
        cost("FusedConv", PIXELS, KERNELS, half(4), PLANES, activation="Relu"),
        (plain_cost("Conv", PIXELS, KERNELS, half(4)), plain_cost("Add", PLANES, PLANES), plain_cost("Relu", PLANES)),
    ),
    "FusedConv between bounds": (
        cost("FusedConv", PIXELS, KERNELS, activation="Clip", activation_params=[0.0, 6.0]),
        (plain_cost("Conv", PIXELS, KERNELS), plain_cost("Clip", PLANES, half(), half())),
    ),
    "NhwcConv": (cost("NhwcConv", LAST_PIXELS, KERNELS, half(4)), (plain_cost("Conv", PIXELS, KERNELS, half(4)),)),
    "NhwcConv with its weight last": (
        cost("NhwcConv", half(1, 8, 9, 6), half(4, 3, 2, 3), kernel_shape=[3, 2], group=2),
        (plain_cost("Conv", half(1, 6, 8, 9), half(4, 3, 3, 2), group=2),),
    ),
    "ConvTransposeWithDynamicPads": (
        cost("ConvTransposeWithDynamicPads", PIXELS, half(3, 4, 3, 3), np.array([1, 1, 1, 1]), half(4)),
        (plain_cost("ConvTranspose", PIXELS, half(3, 4, 3, 3), half(4), pads=[1, 1, 1, 1]),),
    ),
    "BiasGelu": (cost("BiasGelu", X, VECTOR), (plain_cost("Add", X, VECTOR), plain_cost("Gelu", X))),
    "FastGelu": (
        cost("FastGelu", X, VECTOR),
        (plain_cost("Add", X, VECTOR), plain_cost("Gelu", X, approximate="tanh")),
    ),
    "QuickGelu": (
        cost("QuickGelu", X),
        (plain_cost("Mul", X, half()), plain_cost("Sigmoid", X), plain_cost("Mul", X, X)),
    ),
    "BiasSplitGelu": (
        cost("BiasSplitGelu", Y, half(16)),
        (plain_cost("Add", Y, half(16)), plain_cost("Gelu", X), plain_cost("Mul", X, X)),
    ),
    "BiasSoftmax": (
        cost("BiasSoftmax", X, X, axis=2, is_inner_broadcast=1),
        (plain_cost("Add", X, X), plain_cost("Softmax", X)),
    ),
    "BiasDropout": (cost("BiasDropout", X, VECTOR, X), (plain_cost("Add", X, VECTOR), plain_cost("Add", X, X))),
    "SkipLayerNormalization": (
        cost("SkipLayerNormalization", X, X, VECTOR, VECTOR, VECTOR),
        (plain_cost("Add", X, VECTOR), plain_cost("Add", X, X), plain_cost("LayerNormalization", X, VECTOR, VECTOR)),
    ),
    "SkipSimplifiedLayerNormalization": (
        cost("SkipSimplifiedLayerNormalization", X, X, VECTOR),
        (plain_cost("Add", X, X), plain_cost("RMSNormalization", X, VECTOR)),
    ),
    "SimplifiedLayerNormalization": (
        cost("SimplifiedLayerNormalization", X, half(3, 8), axis=1),
        (plain_cost("RMSNormalization", X, half(3, 8), axis=1),),
    ),
    "GatedRMSNorm": (
        cost("GatedRMSNorm", X, half(4), X),
        (plain_cost("RMSNormalization", half(12, 4), half(4)), plain_cost("Swish", X), plain_cost("Mul", X, X)),
    ),
    "BranchwiseRMSNorm": (
        cost("BranchwiseRMSNorm", X, half(4), num_branches=2),
        (plain_cost("RMSNormalization", half(12, 4), half(4)),),
    ),
    "SkipGroupNorm": (
        cost("SkipGroupNorm", half(2, 3, 4, 8), VECTOR, VECTOR, half(2, 3, 4, 8), activation=1, groups=2),
        (
            plain_cost("Add", half(2, 3, 4, 8), half(2, 3, 4, 8)),
            plain_cost("GroupNormalization", half(2, 8, 3, 4), VECTOR, VECTOR, num_groups=2),
            plain_cost("Swish", half(2, 3, 4, 8)),
        ),
    ),
    "EmbedLayerNormalization": (
        cost("EmbedLayerNormalization", *embed(), outputs=2),
        (plain_cost("Add", X, X), plain_cost("Add", X, X), plain_cost("LayerNormalization", X, VECTOR, VECTOR)),
    ),
    "MatMulNBits": (
        cost("MatMulNBits", half(2, 3, 64), small(10, 2, 16), half(10, 2), None, None, half(10), **NBITS, N=10),
        (plain_cost("MatMul", half(2, 3, 64), half(64, 10)), plain_cost("Add", half(2, 3, 10), half(10))),
    ),
    "MatMulNBitsMlp": (
        cost(
            "MatMulNBitsMlp",
            *(half(2, 3, 64), half(2, 3, 64), half(64), *[small(10, 2, 16), half(10, 2), None] * 2),
            **NBITS,
            N=10,
            activation="silu",
        ),
        (
            plain_cost("Add", half(2, 3, 64), half(2, 3, 64)),
            plain_cost("RMSNormalization", half(2, 3, 64), half(64)),
            *[plain_cost("MatMul", half(2, 3, 64), half(64, 10))] * 2,
            plain_cost("Swish", half(2, 3, 10)),
            plain_cost("Mul", half(2, 3, 10), half(2, 3, 10)),
        ),
    ),
    "MatMulNBitsQkv": (
        cost(
            "MatMulNBitsQkv",
            *(half(2, 3, 64), None, half(64), small(10, 2, 16), half(10, 2), half(10)),
            *[small(6, 2, 16), half(6, 2), None] * 2,
            outputs=3,
            **NBITS,
            Nq=10,
            Nkv=6,
        ),
        (
            plain_cost("RMSNormalization", half(2, 3, 64), half(64)),
            plain_cost("MatMul", half(2, 3, 64), half(64, 22)),
            plain_cost("Add", half(2, 3, 10), half(10)),
        ),
    ),
    "MatMulBnb4": (
        cost("MatMulBnb4", half(2, 10), small(320), half(20), N=10, K=64, transB=0),
        (plain_cost("MatMul", half(2, 10), half(10, 64)),),
    ),
    "MatMulFpQ4": (
        cost("MatMulFpQ4", half(2, 64), small(400), np.array([64, 10])),
        (plain_cost("MatMul", half(2, 64), half(64, 10)),),
    ),
    "MatMulBlockQuantizedFp4Weight": (
        cost("MatMulBlockQuantizedFp4Weight", half(2, 3, 64), small(10, 32), small(10, 4), single()),
        (plain_cost("MatMul", half(2, 3, 64), half(64, 10)),),
    ),
    "DynamicQuantizeMatMul": (
        cost("DynamicQuantizeMatMul", single(2, 3, 8), small(8, 16), SCALE, ZERO, single(16)),
        (
            plain_cost("DynamicQuantizeLinear", single(2, 3, 8), outputs=3),
            plain_cost("MatMulInteger", small(2, 3, 8), small(8, 16)),
            plain_cost("Mul", single(2, 3, 16), SCALE),
            plain_cost("Add", single(2, 3, 16), single(16)),
        ),
    ),
    "QGemm": (
        cost("QGemm", small(3, 8), *SMALL, small(8, 16), *SMALL, None, *SMALL),
        (plain_cost("Gemm", half(3, 8), half(8, 16)), plain_cost("QuantizeLinear", single(3, 16), *SMALL)),
    ),
    "QLinearAdd": (
        cost("QLinearAdd", BYTES, *SMALL, small(3), *SMALL, *SMALL),
        (
            plain_cost("DequantizeLinear", BYTES, *SMALL),
            plain_cost("DequantizeLinear", small(3), *SMALL),
            plain_cost("Add", BYTES, small(3)),
            plain_cost("QuantizeLinear", single(2, 3), *SMALL),
        ),
    ),
    "QLinearSoftmax": (
        cost("QLinearSoftmax", BYTES, *SMALL, *SMALL, opset=13),
        (
            plain_cost("DequantizeLinear", BYTES, *SMALL),
            plain_cost("Softmax", single(2, 3)),
            plain_cost("QuantizeLinear", single(2, 3), *SMALL),
        ),
    ),
    "QLinearConv with its channels last": (
        cost("QLinearConv", small(1, 8, 9, 3), *SMALL, small(4, 3, 3, 3), *SMALL, *SMALL, channels_last=1),
        (plain_cost("QLinearConv", small(1, 3, 8, 9), *SMALL, small(4, 3, 3, 3), *SMALL, *SMALL),),
    ),
    "DynamicQuantizeLSTM": (
        cost("DynamicQuantizeLSTM", single(5, 2, 4), small(1, 4, 32), small(1, 8, 32), hidden_size=8, outputs=3),
        (plain_cost("LSTM", single(5, 2, 4), single(1, 32, 4), single(1, 32, 8), hidden_size=8, outputs=3),),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_fused_operator_costs_the_sum_of_the_operators_it_replaces(name: str) -> None:
    ours, parts = PAIRS[name]
    assert (ours.macs, ours.other) == together(*parts)
    assert sum(together(*parts)) > 0
