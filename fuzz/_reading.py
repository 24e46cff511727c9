"""One file through the reader, from memory: what the coverage-guided fuzzer and the replay of its corpus share."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fuzz import hostile
from fuzz.mutants import parents
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.readers import FORMATS
from onnx_autodoc.readers._sniff import sniff

CORPUS: Final = Path(__file__).parent / "corpus"
_LARGEST: Final = 8_192  # bytes of a seed: small ones are mutated thousands of times a second


class Memory:
    """A file that is not one."""

    path = "model.onnx"

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size = len(data)

    def read(self, offset: int, length: int) -> bytes:
        return self.data[offset : offset + length]


def once(data: bytes) -> bool:
    """Whether it is a model. A file that is refused in one line is fine; every other exception is a finding."""
    try:
        if sniff(data[:512]) is None:
            FORMATS["onnx"](Memory(data))
            return True
    except AutodocError as error:
        assert "\n" not in str(error), "more than one line"
    return False


def seeds() -> Iterator[tuple[str, bytes]]:
    """Hostile files that are small, and beginnings of real models, each under the name of its hash."""
    small = [made().data for name, made in hostile.files(systematic=False).items() if "000" not in name]
    real = [data[:_LARGEST] for _, data in parents()]
    for data in (*small, *real):
        if len(data) <= _LARGEST:
            yield hashlib.sha256(data).hexdigest()[:16], data
