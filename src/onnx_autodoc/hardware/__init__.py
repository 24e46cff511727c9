"""Will it fit, how fast can it be: what published figures of devices imply for one model. Estimates, and said so."""

from onnx_autodoc.hardware._demand import Demand, Load, demand
from onnx_autodoc.hardware._estimate import Estimate, Grade, estimate
from onnx_autodoc.hardware._floor import Floor, floor
from onnx_autodoc.hardware._formats import FORMATS, Format, own_format
from onnx_autodoc.hardware._grades import BOUND, CALIBRATED, MEASURED, TYPICAL, Range
from onnx_autodoc.hardware._kernels import Amount, Kernel, kernels
from onnx_autodoc.hardware._requirements import Target
from onnx_autodoc.hardware._section import Wanted, hardware
from onnx_autodoc.hardware._types import (
    Choice,
    DeviceRow,
    HardwareSection,
    MemoryNeed,
    OperatorTime,
    Price,
    Requirements,
    ScaleRow,
    Seconds,
    TokenRow,
)
from onnx_autodoc.hardware._typical import measurements, platform_of, typical

__all__ = [
    "BOUND",
    "CALIBRATED",
    "FORMATS",
    "MEASURED",
    "TYPICAL",
    "Amount",
    "Choice",
    "Demand",
    "DeviceRow",
    "Estimate",
    "Floor",
    "Format",
    "Grade",
    "HardwareSection",
    "Kernel",
    "Load",
    "MemoryNeed",
    "OperatorTime",
    "Price",
    "Range",
    "Requirements",
    "ScaleRow",
    "Seconds",
    "Target",
    "TokenRow",
    "Wanted",
    "demand",
    "estimate",
    "floor",
    "hardware",
    "kernels",
    "measurements",
    "own_format",
    "platform_of",
    "typical",
]
