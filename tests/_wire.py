"""Protobuf encoding by hand, for files that no library writes."""


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def integer(field: int, number: int) -> bytes:
    return varint(field << 3) + varint(number)


def chunk(field: int, payload: bytes | str) -> bytes:
    data = payload.encode() if isinstance(payload, str) else payload
    return varint(field << 3 | 2) + varint(len(data)) + data


def model(graph: bytes, opset: int = 17, ir: int = 8, extra: bytes = b"") -> bytes:
    return integer(1, ir) + chunk(7, graph) + chunk(8, integer(2, opset)) + extra


def node(op: str, inputs: str, outputs: str, *attributes: bytes) -> bytes:
    """Return a node; `inputs` and `outputs` are names separated by spaces."""
    names = b"".join(chunk(1, name) for name in inputs.split()) + b"".join(chunk(2, name) for name in outputs.split())
    return chunk(1, names + chunk(4, op) + b"".join(chunk(5, attribute) for attribute in attributes))


def value(field: int, name: str, dims: tuple[int | str, ...], dtype: int = 1) -> bytes:
    """Return a graph's input (field 11), output (12) or declared value (13)."""
    shape = b"".join(chunk(1, integer(1, dim) if isinstance(dim, int) else chunk(2, dim)) for dim in dims)
    return chunk(field, chunk(1, name) + chunk(2, chunk(1, integer(1, dtype) + chunk(2, shape))))


def relu() -> bytes:
    return model(value(11, "x", (2, 3)) + node("Relu", "x", "y") + value(12, "y", (2, 3)))
