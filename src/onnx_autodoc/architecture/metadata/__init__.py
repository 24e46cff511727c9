"""What a file says of itself: classes, characters, sizes, rates; a claim of its exporter, not of its graph."""

from onnx_autodoc.architecture.metadata.contradictions import contradictions
from onnx_autodoc.architecture.metadata.dataset import Dataset, dataset

__all__ = ["Dataset", "contradictions", "dataset"]
