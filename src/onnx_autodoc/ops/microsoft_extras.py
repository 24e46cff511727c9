"""Operators that onnxruntime defines in the domain of ONNX itself: of its own passes, of TensorRT, of Caffe2."""

from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._known import Contradiction, Known, Shape, tensor
from onnx_autodoc.ops._operator import Operator
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
    "DisentangledAttention_TRT": Operator(same),
    "DynamicSlice": SLICING["Slice"],
    "EfficientNMS_TRT": Operator(_efficient_nms),
    "GRUUnit": Operator(same),
    "GivenTensorFill": Operator(_given_fill),
    "MemcpyFromHost": Operator(same),
    "MemcpyToHost": Operator(same),
    "MultilevelCropAndResize_TRT": Operator(_roi_patches),
    "PyramidROIAlign_TRT": Operator(_roi_patches),
    "SimplifiedLayerNormalization": Operator(simplified_norm),
}
