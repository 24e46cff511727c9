"""Files with holes: gigabytes of zeros that take no disk."""

from pathlib import Path

from tests._wire import varint

Pieces = tuple["bytes | int", ...]  # bytes, and sizes of holes


def size_of(pieces: Pieces) -> int:
    return sum(piece if isinstance(piece, int) else len(piece) for piece in pieces)


def sparse_chunk(field: int, *pieces: bytes | int) -> Pieces:
    """Return a field with a length, as `tests._wire.chunk` does."""
    return (varint(field << 3 | 2) + varint(size_of(pieces)), *pieces)


def write_sparse(path: Path, pieces: Pieces) -> Path:
    with path.open("wb") as file:
        for piece in pieces:
            if isinstance(piece, int):
                file.seek(piece, 1)
            else:
                file.write(piece)
        file.truncate(file.tell())
    return path
