"""Numbers and names for people: the only place that rounds and scales, and that makes a file's strings safe to show."""

from onnx_autodoc.text._log import quiet, quiet_json, tame, visible
from onnx_autodoc.text._scale import count, duration, file_size, memory, percent, plural, short, three
from onnx_autodoc.text._text import clean, marked, named, quoted, told

__all__ = [
    "clean",
    "count",
    "duration",
    "file_size",
    "marked",
    "memory",
    "named",
    "percent",
    "plural",
    "quiet",
    "quiet_json",
    "quoted",
    "short",
    "tame",
    "three",
    "told",
    "visible",
]
