"""Operators that onnxruntime defines in the domain of ONNX itself: of its own passes, of TensorRT, of Caffe2."""

from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._cost import each, free, untold
from onnx_autodoc.ops._known import Contradiction, Known, Shape, tensor
from onnx_autodoc.ops._microsoft_prices import rms_norm
from onnx_autodoc.ops._operator import Operator, constants, weights
from onnx_autodoc.ops._prices import between, made
from onnx_autodoc.ops._ranks import deep, ranked
from onnx_autodoc.ops._sizes import sizes
from onnx_autodoc.ops.elementwise import same
from onnx_autodoc.ops.microsoft import simplified_norm
from onnx_autodoc.ops.slicing import OPERATORS as SLICING


def _given_fill(call: Call) -> list[Known]:
    extra = call.attr_ints("extra_shape") or ()
    if call.has(0):
        asked = sizes(call, 0) if call.attr_int("input_as_shape", 0) else call.shape(0)
        return [tensor("float32", (*asked, *extra))]
    shape = call.attr_ints("shape")
    if shape is None:
        raise Contradiction("GivenTensorFill without a shape")
    return [tensor("float32", shape)]


def _efficient_nms(call: Call) -> list[Known]:
    batch, most = deep(call, 0)[0], call.attr_required("max_output_boxes")
    kept: Shape = (batch, most)
    return [
        tensor("int32", (batch, 1)),
        tensor(call.dtype(0), (*kept, 4)),
        tensor(call.dtype(0), kept),
        tensor("int32", kept),
    ]


def _roi_patches(call: Call) -> list[Known]:
    # boxes [B, R, 4], features [B, C, H, W] = [B, R, C, pooled, pooled]
    pooled = call.attr_required("pooled_size")
    return [tensor(call.dtype(0), (*ranked(call, 0, 3)[:2], ranked(call, 1, 4)[1], pooled, pooled))]


ONNX_EXTRAS: dict[str, Operator] = {
    "DisentangledAttention_TRT": Operator(same, cost=each(3, "two sums, scale")),
    "DynamicSlice": SLICING["Slice"],
    "EfficientNMS_TRT": Operator(
        _efficient_nms, cost=untold("how many boxes are compared, the data decide"), parts=constants(2)
    ),
    "GRUUnit": Operator(same, cost=each(6, "sigmoid, tanh, two products, difference, sum")),
    "GivenTensorFill": Operator(_given_fill, cost=made, held=("values",)),
    "MemcpyFromHost": Operator(same, cost=free),
    "MemcpyToHost": Operator(same, cost=free),
    "MultilevelCropAndResize_TRT": Operator(_roi_patches, cost=each(between(4), "place between four others")),
    "PyramidROIAlign_TRT": Operator(_roi_patches, cost=untold("how often a region is sampled, the plugin decides")),
    "SimplifiedLayerNormalization": Operator(simplified_norm, cost=rms_norm, parts=weights(1)),
}
