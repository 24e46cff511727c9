"""Protobuf's variable-length integers: seven bits a byte, the last one below 128."""

_BITS = (1 << 64) - 1


def signed(number: int) -> int:
    """An int64 from the 64 bits that a varint holds."""
    return number - (1 << 64) if number >> 63 else number


def varints(data: bytes, most: int) -> list[int]:
    """The first varints of some bytes, as the 64 bits they hold."""
    found: list[int] = []
    if most <= 0:
        return found
    result = shift = 0
    for byte in data:
        result |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            found.append(result & _BITS)
            if len(found) == most:
                break
            result = shift = 0
    return found
