"""Numbers and names for people: the only place that rounds and scales, and that makes a file's strings safe to show."""

from onnx_autodoc.say._scale import count, duration, file_size, memory, percent, plural, short, three
from onnx_autodoc.say._text import clean

__all__ = ["clean", "count", "duration", "file_size", "memory", "percent", "plural", "short", "three"]
