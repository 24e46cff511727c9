"""Estimates of memory and time on devices, from the workload of one model and published figures of devices."""

from onnx_autodoc.hardware.estimate import Estimate, LowerBound, TimeEstimator, TimeRange, compute_lower_bound, estimate
from onnx_autodoc.hardware.kernels import DataVolume, Kernel, fuse_kernels
from onnx_autodoc.hardware.requirements import Target
from onnx_autodoc.hardware.section import HardwareRequest, estimate_hardware
from onnx_autodoc.hardware.typical import estimate_typical_time, find_platform, published_measurements
from onnx_autodoc.hardware.workload import NUMBER_FORMATS, KernelTable, NumberFormat, Workload, measure_workload

__all__ = [
    "NUMBER_FORMATS",
    "DataVolume",
    "Estimate",
    "HardwareRequest",
    "Kernel",
    "KernelTable",
    "LowerBound",
    "NumberFormat",
    "Target",
    "TimeEstimator",
    "TimeRange",
    "Workload",
    "compute_lower_bound",
    "estimate",
    "estimate_hardware",
    "estimate_typical_time",
    "find_platform",
    "fuse_kernels",
    "measure_workload",
    "published_measurements",
]
