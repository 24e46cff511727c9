"""The published document and how it comes from what was measured."""

from onnx_autodoc.analysis import WeightGroup
from onnx_autodoc.analysis.weights import Numbers
from onnx_autodoc.architecture import AttentionKind, Box, Edge, Sample
from onnx_autodoc.card._build import build
from onnx_autodoc.card._cost_types import BatchRow, CacheSection, Uncounted, WeightRow
from onnx_autodoc.card._load import load
from onnx_autodoc.card._rows import node_rows
from onnx_autodoc.card._summary import SURE
from onnx_autodoc.card._timed import with_times
from onnx_autodoc.card._types import (
    SCHEMA_VERSION,
    Card,
    ExternalFile,
    Generated,
    NodeRow,
    OperatorRow,
    OutputCell,
    Port,
)
from onnx_autodoc.hardware import (
    BOUND,
    CALIBRATED,
    MEASURED,
    TYPICAL,
    Choice,
    DeviceRow,
    HardwareSection,
    OperatorTime,
    Price,
    Requirements,
    ScaleRow,
    TokenRow,
)
from onnx_autodoc.lint import Confidence, Finding, Severity
from onnx_autodoc.runtime import Verified

__all__ = [
    "BOUND",
    "CALIBRATED",
    "MEASURED",
    "SCHEMA_VERSION",
    "SURE",
    "TYPICAL",
    "AttentionKind",
    "BatchRow",
    "Box",
    "CacheSection",
    "Card",
    "Choice",
    "Confidence",
    "DeviceRow",
    "Edge",
    "ExternalFile",
    "Finding",
    "Generated",
    "HardwareSection",
    "NodeRow",
    "Numbers",
    "OperatorRow",
    "OperatorTime",
    "OutputCell",
    "Port",
    "Price",
    "Requirements",
    "Sample",
    "ScaleRow",
    "Severity",
    "TokenRow",
    "Uncounted",
    "Verified",
    "WeightGroup",
    "WeightRow",
    "build",
    "load",
    "node_rows",
    "with_times",
]
