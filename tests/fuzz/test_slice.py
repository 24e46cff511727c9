"""A sample of hostile files and mutants through the command line: a card, or one line with exit 2 or 3.

`make fuzz` runs all of them, and many more mutants.
"""

from collections.abc import Callable, Iterator

import pytest

from fuzz import hostile
from fuzz._memory_reader import CORPUS, read_bytes
from fuzz._plans import plan_for
from fuzz.mutants import make_mutant, parents
from fuzz.runner import Result, run_all
from fuzz.wire import Case

PARTS = 4  # run in parallel by the test workers
INTERVALS = {"operators": 20}  # of a family: one file of so many; default 3
MUTANTS = 80


def violations(results: Iterator[Result]) -> list[tuple[str, tuple[str, ...], list[str]]]:
    return [(result.name, result.argv, result.findings) for result in results if result.findings]


@pytest.mark.parametrize("part", range(PARTS))
def test_hostile_file_gives_a_card_or_one_line(part: int) -> None:
    files = list(sample_files())[part::PARTS]
    assert len(files) > 50
    assert violations(run_all((name, build(), plan_for(at)) for at, name, build in files)) == []


def sample_files() -> Iterator[tuple[int, str, Callable[[], Case]]]:
    for at, (name, build) in enumerate(hostile.hostile_files().items()):
        if at % INTERVALS.get(name.partition("/")[0], 3) == 0:
            yield at, name, build


@pytest.mark.parametrize("part", range(2))
def test_mutant_gives_a_card_or_one_line(part: int) -> None:
    numbers = range(part, MUTANTS, 2)
    assert violations(run_all((f"mutant 7/{at}", Case(make_mutant(7, at)), plan_for(at)) for at in numbers)) == []


def test_fuzzer_corpus_is_read_or_rejected() -> None:
    files = sorted(CORPUS.iterdir())
    read = [read_bytes(path.read_bytes()) for path in files]
    assert len(files) > 100
    assert any(read)
    assert not all(read)
    assert sum(path.stat().st_size for path in files) < 500_000


def test_hostile_files_are_distinct() -> None:
    build = {name: build() for name, build in hostile.hostile_files(systematic=False).items()}
    distinct = {(case.data, *case.siblings.items(), *case.links.items()) for case in build.values()}
    assert len(distinct) == len(build) > 500


def test_systematic_files_cover_all_operators() -> None:
    from fuzz.hostile.operators import operators
    from onnx_autodoc.ops import OPERATORS

    assert set(OPERATORS) <= {(operator.domain, operator.op) for operator in operators()}


def test_mutant_is_determined_by_seed_and_number() -> None:
    first = [make_mutant(3, at) for at in range(60)]
    assert first == [make_mutant(3, at) for at in range(60)]
    assert len({*first, *(data for _, data in parents())}) > 60 + len(parents()) - 5
    assert make_mutant(4, 0) != first[0]
