"""Resolving: every value's type and concrete dims, in one forward pass, for one binding of the open dimensions."""

from onnx_autodoc.resolve._bind import Binding, Request, bind, inputs_of
from onnx_autodoc.resolve._fit import fit
from onnx_autodoc.resolve._pass import resolve
from onnx_autodoc.resolve._scope import Limits
from onnx_autodoc.resolve._shapes import Body, Shapes, Step

__all__ = ["Binding", "Body", "Limits", "Request", "Shapes", "Step", "bind", "fit", "inputs_of", "resolve"]
