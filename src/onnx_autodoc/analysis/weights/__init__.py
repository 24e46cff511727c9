"""The numbers in the weights, read only if asked for: hashes, what is not finite, what is all one value.

Bytes are read in pieces of 1 MiB and forgotten; what stays is a few counts for each tensor. What cannot be read is
said with a reason, never guessed.
"""

from onnx_autodoc.analysis.weights.types import Owner, Surveyed, Weights
from onnx_autodoc.analysis.weights.weight_survey import external_hashes, survey

__all__ = ["Numbers", "Owner", "Surveyed", "Weights", "external_hashes", "survey"]
