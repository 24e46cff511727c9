"""What a file says of itself: classes, characters, sizes, rates; a claim of its exporter, not of its graph."""

from onnx_autodoc.metadata.contradictions import contradictions
from onnx_autodoc.metadata.dataset import Dataset, dataset

__all__ = ["Dataset", "contradictions", "dataset"]
