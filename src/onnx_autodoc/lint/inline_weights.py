"""The model's own file is larger than protobuf can read, or nearly.

Why it matters: a protobuf message ends at 2 GiB. Beyond that onnx, onnxruntime and every tool built on protobuf refuse
the file, and near it they fail as soon as they add something.

What to do: keep the weights in a file of their own: export with external_data=True of torch.onnx.export, or for a file
that still loads onnx.save_model(model, "model.onnx", save_as_external_data=True, location="model.onnx.data").

From 1.5 GiB on it is a note, beyond 2 GiB an error.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.text import memory

SEVERITY: Final = Severity.NOTE
_LIMIT: Final = (1 << 31) - 1  # bytes of a message, by protobuf's own constant
_NEAR: Final = 3 << 29


def check(case: Case) -> Iterator[Found]:
    size = case.model.nbytes
    if size > _LIMIT:
        text = f"the file is {memory(size)} in one message, and protobuf reads no more than 2 GiB"
        yield Found(text, severity=Severity.ERROR)
    elif size >= _NEAR:
        yield Found(f"the file is {memory(size)} in one message, close to the 2 GiB that protobuf can read")
