"""Mutants of real models: the same bytes for the same seed and number, in every run.

A quarter of the edits damage bytes; the others edit protobuf fields, which keeps the file readable.
"""

from functools import cache
from pathlib import Path
from random import Random
from typing import Final

from fuzz._edits import BYTES, MESSAGES, Pool
from fuzz._message_tree import edit_message, join, split

_ROOT: Final = Path(__file__).parent.parent
_MAX_PARENT_BYTES: Final = 1_000_000
_MAX_WHOLE_BYTES: Final = 60_000  # larger graphs are mostly cut to a window of their nodes first
_DEMO: Final = _ROOT / "src" / "onnx_autodoc" / "data" / "demo.onnx"


@cache
def parents() -> tuple[tuple[str, bytes], ...]:
    """Return the real models, by name."""
    graphs = sorted((_ROOT / "tests" / "data" / "corpus" / "graphs").glob("*.onnx"))
    paths = [path for path in (*graphs, _DEMO) if path.stat().st_size < _MAX_PARENT_BYTES]
    return tuple((path.stem, path.read_bytes()) for path in paths)


@cache
def _pool() -> Pool:
    return Pool.of([data for _, data in parents()])


def make_mutant(seed: int, number: int) -> bytes:
    """Return the bytes of a mutant; `describe_mutant` names its edits."""
    return _mutate(seed, number)[0]


def describe_mutant(seed: int, number: int) -> str:
    return _mutate(seed, number)[1]


def _mutate(seed: int, number: int) -> tuple[bytes, str]:
    random = Random(f"{seed}/{number}")
    name, data = random.choice(parents())
    steps = [name]
    if len(data) > _MAX_WHOLE_BYTES and random.random() < 0.9:
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
    return edit_message(data, lambda kind, pieces, rng: MESSAGES[name](kind, pieces, rng, _pool()), random), name


def _window(data: bytes, random: Random) -> bytes:
    """Keep some consecutive nodes, and everything that is not a node."""
    pieces = split(data)
    for at, (tag, content) in enumerate(pieces):
        if tag == 7 << 3 | 2:
            fields = split(content)
            nodes = [place for place, (inner, _) in enumerate(fields) if inner == 1 << 3 | 2]
            first = random.randrange(max(len(nodes), 1))
            selected = set(nodes[first : first + random.choice((1, 5, 20, 60, 150))])
            pieces[at] = tag, join([piece for place, piece in enumerate(fields) if place in selected or piece[0] != 10])
    return join(pieces)
