"""Mutants of real models: the same bytes for the same seed and number, in every run.

Half of them are damaged as bytes, half as protobuf, where the file stays readable and says something else.
"""

from functools import cache
from pathlib import Path
from random import Random
from typing import Final

from fuzz._edits import BYTES, MESSAGES, Pool
from fuzz._tree import edited, join, split

_ROOT: Final = Path(__file__).parent.parent
_LARGEST: Final = 1_000_000
_SLOW: Final = 60_000  # bytes: larger graphs are mostly cut to a window of their nodes first
_DEMO: Final = _ROOT / "src" / "onnx_autodoc" / "data" / "demo.onnx"


@cache
def parents() -> tuple[tuple[str, bytes], ...]:
    """The real models, by name."""
    found = sorted((_ROOT / "tests" / "data" / "corpus" / "graphs").glob("*.onnx"))
    paths = [path for path in (*found, _DEMO) if path.stat().st_size < _LARGEST]
    return tuple((path.stem, path.read_bytes()) for path in paths)


@cache
def _pool() -> Pool:
    return Pool.of([data for _, data in parents()])


def mutant(seed: int, number: int) -> bytes:
    """One file; how it came about is told by `told`."""
    return _made(seed, number)[0]


def told(seed: int, number: int) -> str:
    return _made(seed, number)[1]


def _made(seed: int, number: int) -> tuple[bytes, str]:
    random = Random(f"{seed}/{number}")
    name, data = random.choice(parents())
    steps = [name]
    if len(data) > _SLOW and random.random() < 0.9:
        data = _window(data, random)
        steps.append("window")
    for _ in range(min(1 + int(random.expovariate(0.7)), 12)):
        data, step = _step(data, random)
        steps.append(step)
    return data, " ".join(steps)


def _step(data: bytes, random: Random) -> tuple[bytes, str]:
    if random.random() < 0.25:
        name = random.choice(sorted(BYTES))
        return BYTES[name](data, random, _pool()), name
    name = random.choice(sorted(MESSAGES))
    return edited(data, lambda kind, pieces, rolled: MESSAGES[name](kind, pieces, rolled, _pool()), random), name


def _window(data: bytes, random: Random) -> bytes:
    """Some nodes in a row, and everything that is not a node."""
    pieces = split(data)
    for at, (tag, content) in enumerate(pieces):
        if tag == 7 << 3 | 2:
            fields = split(content)
            nodes = [place for place, (inner, _) in enumerate(fields) if inner == 1 << 3 | 2]
            first = random.randrange(max(len(nodes), 1))
            kept = set(nodes[first : first + random.choice((1, 5, 20, 60, 150))])
            pieces[at] = tag, join([piece for place, piece in enumerate(fields) if place in kept or piece[0] != 10])
    return join(pieces)
