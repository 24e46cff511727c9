"""Running models with onnxruntime in worker processes: verification, timing, calibration.

Names are imported on first use: the worker process needs none of the tool's analysis.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx_autodoc.runtime.machine import background_load, describe_machine, read_cpu_clock
    from onnx_autodoc.runtime.process import cleanup_on_alarm, require_onnxruntime
    from onnx_autodoc.runtime.progress import ProgressBar
    from onnx_autodoc.runtime.protocol import Options, Stage, TimingResult
    from onnx_autodoc.runtime.verification import (
        MAX_BACKGROUND_LOAD,
        check_external_weights,
        describe_access,
        make_feeds,
        time_model,
        verify,
        verify_facts,
    )

__all__ = [
    "MAX_BACKGROUND_LOAD",
    "Options",
    "ProgressBar",
    "Stage",
    "TimingResult",
    "background_load",
    "check_external_weights",
    "cleanup_on_alarm",
    "describe_access",
    "describe_machine",
    "make_feeds",
    "read_cpu_clock",
    "require_onnxruntime",
    "time_model",
    "verify",
    "verify_facts",
]

_MODULES = {
    "machine": ("background_load", "describe_machine", "read_cpu_clock"),
    "process": ("cleanup_on_alarm", "require_onnxruntime"),
    "progress": ("ProgressBar",),
    "protocol": ("Options", "Stage", "TimingResult"),
    "verification": (
        *("MAX_BACKGROUND_LOAD", "check_external_weights", "describe_access", "make_feeds", "time_model"),
        *("verify", "verify_facts"),
    ),
}
_MODULE_BY_NAME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"onnx_autodoc.runtime.{_MODULE_BY_NAME[name]}"), name)
