"""Differences between models, from their cards alone."""

from onnx_autodoc.compare.comparison import compare
from onnx_autodoc.compare.figures import key_measures
from onnx_autodoc.compare.interface import interface_changes, same_sizes
from onnx_autodoc.compare.types import (
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
from onnx_autodoc.compare.user_figures import Figures, read_figures

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
