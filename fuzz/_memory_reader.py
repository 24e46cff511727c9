"""Reading of a file in memory, for the coverage-guided fuzzer and the replay of its corpus."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Self

from fuzz import hostile
from fuzz.mutants import parents
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.readers import READERS
from onnx_autodoc.storage import FileMissing

CORPUS: Final = Path(__file__).parent / "corpus"
_MAX_SEED_BYTES: Final = 8_192  # small seeds are mutated thousands of times per second


class MemorySource:
    """Bytes as an open file."""

    fingerprint = ""

    def __init__(self, path: str, data: bytes) -> None:
        self.path, self.data, self.size = path, data, len(data)

    def read(self, offset: int, length: int) -> bytes:
        return self.data[offset : offset + length]

    def read_into(self, offset: int, buffer: memoryview) -> int:
        data = self.read(offset, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def next_data(self, offset: int) -> int:
        return offset

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class MemoryStorage:
    """A model file in memory, in a folder without other files."""

    path = "model.onnx"

    def __init__(self, data: bytes) -> None:
        self.data = data

    def open(self) -> MemorySource:
        return MemorySource(self.path, self.data)

    def sibling(self, name: str) -> MemorySource:
        raise FileMissing(f"{name}: file not found")

    def size(self, name: str) -> int:
        raise FileMissing(f"{name}: file not found")

    def stored_size(self, name: str | None = None) -> int:
        return len(self.data) if name is None else self.size(name)

    def list(self) -> list[str]:
        return [self.path]

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def read_bytes(data: bytes) -> bool:
    """Return whether the bytes are a model. An error of one line is correct; any other exception is a finding."""
    storage = MemoryStorage(data)
    try:
        reader = next((reader for reader in READERS if reader.match(data[:512], storage.path)), None)
        if reader is not None:
            reader.read(storage)
            return True
    except AutodocError as error:
        assert "\n" not in str(error), "more than one line"
    return False


def seeds() -> Iterator[tuple[str, bytes]]:
    """Yield small hostile files and beginnings of real models, each with its hash as name."""
    small = [made().data for name, made in hostile.hostile_files(systematic=False).items() if "000" not in name]
    real = [data[:_MAX_SEED_BYTES] for _, data in parents()]
    for data in (*small, *real):
        if len(data) <= _MAX_SEED_BYTES:
            yield hashlib.sha256(data).hexdigest()[:16], data
