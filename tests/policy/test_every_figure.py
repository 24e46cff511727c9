"""Every number of a card can be limited."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from onnx_autodoc.card import Card
from onnx_autodoc.policy.figures import find_figure
from onnx_autodoc.policy.paths import list_figures, names_of
from tests.policy._cards import SAMPLE, card, check_status

NUMERIC = [path for path, kinds in list_figures().items() if "number" in kinds]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str, Any]]:
    """(path, path with <…> for names, value) of every number in a card, rows by their names."""
    if isinstance(value, bool | str) or value is None:
        return
    if isinstance(value, int | float):
        yield path, path, value
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            for at, shape, found in leaves(getattr(value, field)):
                yield f"{path}{field}.{at}".rstrip("."), f"{path}{field}.{shape}".rstrip("."), found
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from ((f"{key}.{at}".rstrip("."), f"<name>.{shape}".rstrip("."), n) for at, shape, n in leaves(each))
    else:
        for place, each in enumerate(value):
            names = names_of(type(each)) if isinstance(each, msgspec.Struct) else ()
            name = ".".join(str(getattr(each, field)) for field in names) or str(place)
            called = ".".join(names) or "place"
            yield from (
                (f"{name}.{at}".rstrip("."), f"<{called}>.{shape}".rstrip("."), n) for at, shape, n in leaves(each)
            )


def by_shape(found: Card) -> dict[str, list[tuple[str, Any]]]:
    every: dict[str, list[tuple[str, Any]]] = {}
    for path, shape, value in leaves(found):
        every.setdefault(shape.replace("children.<id>.", "", 9), []).append((path, value))
    return every


@pytest.mark.parametrize("name", SAMPLE)
def test_limit_passes_at_the_value_and_fails_below_it(name: str) -> None:
    """For each kind of number, of the first rows of each table."""
    found = card(name)
    tried = 0
    for rows in by_shape(found).values():
        for path, _ in rows[:3]:
            read = find_figure(found, path)
            if read.value is None or read.uncertainty is not None:
                continue
            n = read.value
            assert check_status(found, path, max=n) == "pass", path
            assert check_status(found, path, max=n - 1) == "fail", path
            assert check_status(found, path, min=n) == "pass", path
            assert check_status(found, path, min=n + 1) == "fail", path
            assert check_status(found, path, equals=n) == "pass", path
            assert check_status(found, path, equals=n + 1) == "fail", path
            tried += 1
    assert tried > 60


@pytest.mark.parametrize("name", SAMPLE)
def test_figure_equals_the_json_value(name: str) -> None:
    """Rows of one name add up; everywhere else the figure is the very number of the document."""
    found = card(name)
    for rows in by_shape(found).values():
        for path, value in rows[:5]:
            same = [n for other, n in rows if other == path]
            read = find_figure(found, path).value
            assert read in (value, sum(same)) or (read is None and len(same) > 1), path


def test_sample_covers_every_number_of_the_card() -> None:
    """Those that no model of the sample has are read all the same: as unknown, which fails."""
    met = {shape for name in SAMPLE for shape in by_shape(card(name))}
    for path in NUMERIC:
        if path in met:
            continue
        tried = path.replace("<name>", "x").replace("<place>", "0").replace("<source.target>", "a.b")
        tried = tried.replace("<device.phase.context>", "t4.decode.99").replace("<device.batch>", "t4.99")
        tried = tried.replace("findings.<rule>", "findings.dynamic-input")
        for called in ("op", "kind", "part", "node", "path", "name", "form", "id", "device"):
            tried = tried.replace(f"<{called}>", "nothing-of-that-name")
        for called in ("batch", "tokens", "at"):
            tried = tried.replace(f"<{called}>", "12345")
        assert "<" not in tried, path
        read = find_figure(card(SAMPLE[0]), tried)
        assert read.value in (None, 0), path
        if read.value is None:
            assert check_status(card(SAMPLE[0]), tried, max=10**30) == "fail", path
            assert check_status(card(SAMPLE[0]), tried, max=10**30, allow_gaps=True) == "allowed", path
    assert len(met & set(NUMERIC)) > 50


@pytest.mark.parametrize("path", ["graph.nodes", "parameters.total", "compute.macs", "model.opsets.ai.onnx"])
@pytest.mark.parametrize("n", [0, 1, 2**31, 2**53, 2**53 + 1, 2**63, 10**30])
def test_limits_are_exact_for_large_numbers(path: str, n: int) -> None:
    from tests.policy._cards import replace_figure

    made = replace_figure(
        card(SAMPLE[0]), path.replace("ai.onnx", "").rstrip("."), {"ai.onnx": n} if "ops" in path else n
    )
    assert check_status(made, path, max=n) == "pass"
    assert check_status(made, path, max=n - 1) == "fail"
    assert check_status(made, path, min=n + 1) == "fail"
