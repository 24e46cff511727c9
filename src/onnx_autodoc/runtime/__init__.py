"""Running a model with onnxruntime, in a process of its own: what really happened, and how long it took.

Names are imported when they are asked for: the process that runs a model needs none of the tool's analysis.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx_autodoc.runtime._feeds import feeds_of
    from onnx_autodoc.runtime._given import given, temporary
    from onnx_autodoc.runtime._late import cleared_when_late
    from onnx_autodoc.runtime._machine import clock, machine, others
    from onnx_autodoc.runtime._messages import Stage
    from onnx_autodoc.runtime._outside import check_external
    from onnx_autodoc.runtime._process import PRIVATE, check_extra
    from onnx_autodoc.runtime._progress import Bar
    from onnx_autodoc.runtime._said import said
    from onnx_autodoc.runtime._types import (
        Agreement,
        Difference,
        Feed,
        Load,
        Machine,
        Measured,
        MeasuredOperatorTime,
        Options,
        Timing,
        Verified,
    )
    from onnx_autodoc.runtime._verify import BUSIEST, timed, verify, verify_facts

__all__ = [
    "BUSIEST",
    "PRIVATE",
    "Agreement",
    "Bar",
    "Difference",
    "Feed",
    "Load",
    "Machine",
    "Measured",
    "MeasuredOperatorTime",
    "Options",
    "Stage",
    "Timing",
    "Verified",
    "check_external",
    "check_extra",
    "cleared_when_late",
    "clock",
    "feeds_of",
    "given",
    "machine",
    "others",
    "said",
    "temporary",
    "timed",
    "verify",
    "verify_facts",
]

_TYPES = ("Agreement", "Difference", "Feed", "Load", "Machine", "Measured", "MeasuredOperatorTime", "Options", "Timing")
_HOMES = {
    **dict.fromkeys((*_TYPES, "Verified"), "_types"),
    **dict.fromkeys(("BUSIEST", "timed", "verify", "verify_facts"), "_verify"),
    **dict.fromkeys(("clock", "machine", "others"), "_machine"),
    "Bar": "_progress",
    "check_external": "_outside",
    "cleared_when_late": "_late",
    "Stage": "_messages",
    **dict.fromkeys(("PRIVATE", "check_extra"), "_process"),
    "feeds_of": "_feeds",
    **dict.fromkeys(("given", "temporary"), "_given"),
    "said": "_said",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"onnx_autodoc.runtime.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
