"""Resolving: every value's type and concrete dims, in one forward pass, for one binding of the open dimensions."""

from onnx_autodoc.resolve._apply import SLIPS, unfit
from onnx_autodoc.resolve._bind import Binding, Request, bind, inputs_of, open_axes
from onnx_autodoc.resolve._fit import fit
from onnx_autodoc.resolve._lasting import at_any_size, only_here, subject
from onnx_autodoc.resolve._pass import resolve
from onnx_autodoc.resolve._roles import Role
from onnx_autodoc.resolve._shapes import Body, Shapes, Step
from onnx_autodoc.resolve._unresolved import unresolved

__all__ = [
    "SLIPS",
    "Binding",
    "Body",
    "Request",
    "Role",
    "Shapes",
    "Step",
    "at_any_size",
    "bind",
    "fit",
    "inputs_of",
    "only_here",
    "open_axes",
    "resolve",
    "subject",
    "unfit",
    "unresolved",
]
