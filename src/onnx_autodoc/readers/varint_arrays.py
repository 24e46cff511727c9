"""Checks of long lists of varints, with numpy: several times the speed of `Cursor.check_varints`.

A file may store gigabytes of weights as varints, such as fp16 numbers in `int32_data`.
"""

import numpy as np
import numpy.typing as npt

_CONTINUATION = 0x80  # the bit of each byte but the last one
_Bytes = npt.NDArray[np.uint8]


def count_array_varints(data: bytes) -> int:
    """Return the number of varints; each ends with a byte below 128."""
    return len(data) - int(np.count_nonzero(np.frombuffer(data, np.uint8) >= _CONTINUATION))


def is_any_above_64_bits(data: bytes) -> bool:
    """Return whether a varint has more than ten bytes or 64 bits. The last one is terminated."""
    array = np.frombuffer(data, np.uint8)
    four = _continued_four_times(array)
    if not four.any():
        return False
    eight = four[:-4] & four[4:]
    nine = eight[:-1] & eight[1:]
    return bool((array[9:][nine[: len(array) - 9]] > 1).any())


def is_any_above_32_bits(data: bytes) -> bool:
    """Return whether a varint is no int32: up to 31 bits, or the 64 bits of a negative number."""
    array = np.frombuffer(data, np.uint8)
    long = np.flatnonzero(_continued_four_times(array))
    if not len(long):
        return False
    starts = long[(long == 0) | (array[long - 1] < _CONTINUATION)]
    starts = starts[array[starts + 4] > 0x07]
    if not len(starts):
        return False
    if starts[-1] + 10 > len(array):
        return True
    is_negative = (array[starts + 4] >= 0xF8) & (array[starts + 9] == 1)
    for place in range(5, 9):
        is_negative &= array[starts + place] == 0xFF
    return not bool(is_negative.all())


def _continued_four_times(array: _Bytes) -> npt.NDArray[np.bool_]:
    """Return for each byte whether it and the next three have the continuation bit."""
    more = array >= _CONTINUATION
    two = more[:-1] & more[1:]
    return two[:-2] & two[2:]
