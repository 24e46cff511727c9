"""Work on a stranger's file, apart from the process that answers for it.

The command line does everything that touches a file's content in a forked child with limits on memory and time; what
comes back over a pipe is a document or a reason. A child that dies is followed by one that leaves out the part it died
of. From Python nothing is forked: a caller may have threads; parts that fail cost themselves there, too.
"""

from onnx_autodoc.sandbox._clock import allow, allow_model, left
from onnx_autodoc.sandbox._ending import cleared_up, undisturbed
from onnx_autodoc.sandbox._guard import guarded
from onnx_autodoc.sandbox._parts import internal, part

__all__ = ["allow", "allow_model", "cleared_up", "guarded", "internal", "left", "part", "undisturbed"]
