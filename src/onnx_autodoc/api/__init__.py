"""The library's functions: from a path to a card, a comparison or a verdict.

`pipeline.make_card` is the walk of one model; everything else here prepares its arguments or uses its result.
"""

from onnx_autodoc.api.cards import (
    Card,
    CardSource,
    ExternalPath,
    can_render,
    card,
    check_can_render,
    external_paths,
    is_json_card,
    load_or_make_card,
    load_report,
)
from onnx_autodoc.api.hardware_options import HardwareOptions
from onnx_autodoc.api.pipeline import generation_stamp, make_card, measure_model

__all__ = [
    "Card",
    "CardSource",
    "ExternalPath",
    "HardwareOptions",
    "can_render",
    "card",
    "check_can_render",
    "external_paths",
    "generation_stamp",
    "is_json_card",
    "load_or_make_card",
    "load_report",
    "make_card",
    "measure_model",
]
