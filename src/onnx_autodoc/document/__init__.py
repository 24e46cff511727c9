"""The published document and how it comes from what was measured."""

from onnx_autodoc.document._build import build
from onnx_autodoc.document._cost_types import BatchRow, CacheSection, Uncounted, WeightRow
from onnx_autodoc.document._load import load
from onnx_autodoc.document._rows import node_rows
from onnx_autodoc.document._summary import SURE
from onnx_autodoc.document._timed import with_times
from onnx_autodoc.document._types import (
    SCHEMA_VERSION,
    Card,
    ExternalFile,
    Generated,
    NodeRow,
    OperatorRow,
    OutputCell,
    Port,
)
from onnx_autodoc.facts import WeightGroup
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
from onnx_autodoc.rules import Confidence, Finding, Severity
from onnx_autodoc.run import Verified
from onnx_autodoc.structure import AttentionKind, Box, Edge, Sample
from onnx_autodoc.weights import Numbers

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
