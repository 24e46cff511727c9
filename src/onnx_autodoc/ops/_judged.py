"""Operators that the rules speak of, by what is said of them: the names stand here alone."""

from typing import Final

BATCH_NORM: Final = "BatchNormalization"
FOLDS_NORMS: Final = frozenset(("Conv", "ConvTranspose", "Gemm"))  # whose weights can take in one after them
