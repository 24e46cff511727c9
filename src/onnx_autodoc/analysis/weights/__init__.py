"""The elements of the weights, read only on request: hashes, and counts of non-finite and equal elements.

Bytes are read in pieces of 1 MiB and dropped; a few counts for each tensor remain. Elements that cannot be read have a
reason, never an estimate.
"""

from onnx_autodoc.analysis.weights.weight_survey import Surveyed, Weights, external_hashes, survey

__all__ = ["Surveyed", "Weights", "external_hashes", "survey"]
