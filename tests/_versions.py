"""What tests require of a dependency's version, beyond the lowest version that the project allows."""

import msgspec
import onnxruntime
import pytest

_ONNXRUNTIME = tuple(map(int, onnxruntime.__version__.split(".")[:2]))
_MSGSPEC = tuple(map(int, msgspec.__version__.split(".")[:2]))
CASTS_INT4 = pytest.mark.skipif(_ONNXRUNTIME < (1, 23), reason="onnxruntime casts 4-bit integers since 1.23")
ORDERS_SCHEMA_TYPES = pytest.mark.skipif(
    _MSGSPEC < (0, 20), reason="msgspec 0.19 orders the types of a union otherwise"
)
