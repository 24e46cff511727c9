"""What differs between models, told from their cards alone."""

from onnx_autodoc.compare._compare import compare
from onnx_autodoc.compare._figures import Figures, read_figures
from onnx_autodoc.compare._interface import interface_changes
from onnx_autodoc.compare._numbers import key_measures
from onnx_autodoc.compare._ports import same_sizes
from onnx_autodoc.compare._types import (
    COMPARISON_VERSION,
    BlockChange,
    Comparison,
    CountChange,
    Diff,
    FactChange,
    FigureChange,
    FindingChange,
    FindingsChange,
    Measure,
    NumberChange,
    PortChange,
    PrecisionChange,
    Relation,
    Side,
    Sizes,
    WeightsChange,
)

__all__ = [
    "COMPARISON_VERSION",
    "BlockChange",
    "Comparison",
    "CountChange",
    "Diff",
    "FactChange",
    "FigureChange",
    "Figures",
    "FindingChange",
    "FindingsChange",
    "Measure",
    "NumberChange",
    "PortChange",
    "PrecisionChange",
    "Relation",
    "Side",
    "Sizes",
    "WeightsChange",
    "compare",
    "interface_changes",
    "key_measures",
    "read_figures",
    "same_sizes",
]
