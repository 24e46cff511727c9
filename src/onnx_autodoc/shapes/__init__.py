"""Shape inference: the type, dims and small values of every tensor, in one forward pass, for one binding."""

from onnx_autodoc.shapes.binding import Binding, bind
from onnx_autodoc.shapes.default_sizes import bind_and_infer
from onnx_autodoc.shapes.dynamic_axes import Role, dynamic_axes, required_inputs
from onnx_autodoc.shapes.inference import exclude_subjects, infer_shapes, infer_unbound, skip_inference
from onnx_autodoc.shapes.request import Request, parse_request
from onnx_autodoc.shapes.results import Body, Conflict, Shapes, Step
from onnx_autodoc.shapes.rule_application import RULE_ERRORS, rule_failure

__all__ = [
    "RULE_ERRORS",
    "Binding",
    "Body",
    "Conflict",
    "Request",
    "Role",
    "Shapes",
    "Step",
    "bind",
    "bind_and_infer",
    "dynamic_axes",
    "exclude_subjects",
    "infer_shapes",
    "infer_unbound",
    "parse_request",
    "required_inputs",
    "rule_failure",
    "skip_inference",
]
