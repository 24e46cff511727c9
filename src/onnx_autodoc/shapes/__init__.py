"""Resolving: every value's type and concrete dims, in one forward pass, for one binding of the open dimensions."""

from onnx_autodoc.shapes._apply import SLIPS, unfit
from onnx_autodoc.shapes._bind import Binding, Request, bind, inputs_of, open_axes
from onnx_autodoc.shapes._default_sizes import fit
from onnx_autodoc.shapes._pass import resolve
from onnx_autodoc.shapes._roles import Role
from onnx_autodoc.shapes._shapes import Body, Shapes, Step
from onnx_autodoc.shapes._size_independent import at_any_size, only_here, subject
from onnx_autodoc.shapes._unresolved import unresolved

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
