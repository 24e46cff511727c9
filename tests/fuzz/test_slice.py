"""Some hostile files and mutants through the command line: a card, or one line with exit 2 or 3.

`make fuzz` takes all of them, and many more mutants.
"""

from collections.abc import Callable, Iterator

import pytest

from fuzz import hostile
from fuzz._plans import plan
from fuzz._reading import CORPUS, once
from fuzz.mutants import mutant, parents
from fuzz.runner import Result, run_all
from fuzz.wire import Case

SHARES = 4  # workers take them side by side
OF_EACH = {"operators": 20}  # one of so many files of a family; of the others one of three
FEW = 80


def wrong(results: Iterator[Result]) -> list[tuple[str, tuple[str, ...], list[str]]]:
    return [(result.name, result.argv, result.findings) for result in results if result.findings]


@pytest.mark.parametrize("share", range(SHARES))
def test_a_hostile_file_gets_a_card_or_one_line(share: int) -> None:
    files = list(some())[share::SHARES]
    assert len(files) > 50
    assert wrong(run_all((name, made(), plan(at)) for at, name, made in files)) == []


def some() -> Iterator[tuple[int, str, Callable[[], Case]]]:
    for at, (name, made) in enumerate(hostile.files().items()):
        if at % OF_EACH.get(name.partition("/")[0], 3) == 0:
            yield at, name, made


@pytest.mark.parametrize("share", range(2))
def test_a_mutant_gets_a_card_or_one_line(share: int) -> None:
    numbers = range(share, FEW, 2)
    assert wrong(run_all((f"mutant 7/{at}", Case(mutant(7, at)), plan(at)) for at in numbers)) == []


def test_the_corpus_of_the_fuzzer_is_read_or_refused() -> None:
    files = sorted(CORPUS.iterdir())
    read = [once(path.read_bytes()) for path in files]
    assert len(files) > 100
    assert any(read)
    assert not all(read)
    assert sum(path.stat().st_size for path in files) < 500_000


def test_hostile_files_are_many_and_all_different() -> None:
    made = {name: build() for name, build in hostile.files(systematic=False).items()}
    different = {(case.data, *case.beside.items(), *case.links.items()) for case in made.values()}
    assert len(different) == len(made) > 500


def test_every_operator_of_ours_is_among_the_systematic_ones() -> None:
    from fuzz.hostile.operators import operators
    from onnx_autodoc.ops import OPERATORS

    ours = set(OPERATORS)
    assert ours <= {(known.domain, known.op) for known in operators()}


def test_a_mutant_is_the_same_in_every_run_and_another_for_every_number() -> None:
    first = [mutant(3, at) for at in range(60)]
    assert first == [mutant(3, at) for at in range(60)]
    assert len({*first, *(data for _, data in parents())}) > 60 + len(parents()) - 5
    assert mutant(4, 0) != first[0]
