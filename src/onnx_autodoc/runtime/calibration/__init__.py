"""Calibration: benchmarks measure this machine once, and its profile predicts the time of a run from a graph alone.

A model is lowered to the kernels that onnxruntime runs on a CPU. Each has a class and an amount of work (multiply-adds,
elements, bytes); the profile has the seconds for one unit of each.
"""

from onnx_autodoc.runtime.calibration.benchmarks import Benchmarks, run_benchmarks
from onnx_autodoc.runtime.calibration.fit import (
    TimedGraph,
    cross_validate,
    fit_times,
    predict_seconds,
    sum_work,
)
from onnx_autodoc.runtime.calibration.lowering import KernelWork, lower_facts, lower_model
from onnx_autodoc.runtime.calibration.profile import (
    ErrorRange,
    KernelTimes,
    Profile,
    build_profile,
    check_profile_path,
    encode_profile,
    load_profile,
    path_exists,
    predict,
    profile_path,
)

__all__ = [
    "Benchmarks",
    "ErrorRange",
    "KernelTimes",
    "KernelWork",
    "Profile",
    "TimedGraph",
    "build_profile",
    "check_profile_path",
    "cross_validate",
    "encode_profile",
    "fit_times",
    "load_profile",
    "lower_facts",
    "lower_model",
    "path_exists",
    "predict",
    "predict_seconds",
    "profile_path",
    "run_benchmarks",
    "sum_work",
]
