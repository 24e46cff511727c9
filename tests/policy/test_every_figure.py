"""Every number of a card can be limited."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from onnx_autodoc.card import Card
from onnx_autodoc.policy.figures import find_figure
from onnx_autodoc.policy.paths import list_figures, names_of
from tests.policy._cards import SAMPLE, card, check_status, replace_figure

NUMERIC = [path for path, kinds in list_figures().items() if "number" in kinds]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield (path, path with <…> for names, value) of every number in a card, with rows by name."""
    if isinstance(value, bool | str) or value is None:
        return
    if isinstance(value, int | float):
        yield path, path, value
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            for at, shape, number in leaves(getattr(value, field)):
                yield f"{path}{field}.{at}".rstrip("."), f"{path}{field}.{shape}".rstrip("."), number
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from ((f"{key}.{at}".rstrip("."), f"<name>.{shape}".rstrip("."), n) for at, shape, n in leaves(item))
    else:
        for index, row in enumerate(value):
            names = names_of(type(row)) if isinstance(row, msgspec.Struct) else ()
            name = ".".join(str(getattr(row, field)) for field in names) or str(index)
            placeholder = ".".join(names) or "place"
            yield from (
                (f"{name}.{at}".rstrip("."), f"<{placeholder}>.{shape}".rstrip("."), n) for at, shape, n in leaves(row)
            )


def group_by_shape(subject: Card) -> dict[str, list[tuple[str, Any]]]:
    groups: dict[str, list[tuple[str, Any]]] = {}
    for path, shape, value in leaves(subject):
        groups.setdefault(shape.replace("children.<id>.", "", 9), []).append((path, value))
    return groups


@pytest.mark.parametrize("name", SAMPLE)
def test_limit_passes_at_the_value_and_fails_below_it(name: str) -> None:
    """For each kind of number, of the first rows of each table."""
    subject = card(name)
    checked = 0
    for rows in group_by_shape(subject).values():
        for path, _ in rows[:3]:
            figure = find_figure(subject, path)
            if figure.value is None or figure.uncertainty is not None:
                continue
            n = figure.value
            assert check_status(subject, path, max=n) == "pass", path
            assert check_status(subject, path, max=n - 1) == "fail", path
            assert check_status(subject, path, min=n) == "pass", path
            assert check_status(subject, path, min=n + 1) == "fail", path
            assert check_status(subject, path, equals=n) == "pass", path
            assert check_status(subject, path, equals=n + 1) == "fail", path
            checked += 1
    assert checked > 60


@pytest.mark.parametrize("name", SAMPLE)
def test_figure_equals_the_json_value(name: str) -> None:
    """Rows of one name are summed; any other figure is the number of the card."""
    subject = card(name)
    for rows in group_by_shape(subject).values():
        for path, value in rows[:5]:
            same = [n for other, n in rows if other == path]
            figure = find_figure(subject, path).value
            assert figure in (value, sum(same)) or (figure is None and len(same) > 1), path


def test_sample_covers_every_number_of_the_card() -> None:
    """Numbers that no model of the sample has are unknown, and fail."""
    covered = {shape for name in SAMPLE for shape in group_by_shape(card(name))}
    for path in NUMERIC:
        if path in covered:
            continue
        example = path.replace("<name>", "x").replace("<place>", "0").replace("<source.target>", "a.b")
        example = example.replace("<device.phase.context>", "t4.decode.99").replace("<device.batch>", "t4.99")
        example = example.replace("findings.<rule>", "findings.dynamic-input")
        for field in ("op", "kind", "part", "node", "path", "name", "form", "id", "device"):
            example = example.replace(f"<{field}>", "nothing-of-that-name")
        for field in ("batch", "tokens", "at"):
            example = example.replace(f"<{field}>", "12345")
        assert "<" not in example, path
        figure = find_figure(card(SAMPLE[0]), example)
        assert figure.value in (None, 0), path
        if figure.value is None:
            assert check_status(card(SAMPLE[0]), example, max=2**63 - 1) == "fail", path
            assert check_status(card(SAMPLE[0]), example, max=2**63 - 1, allow_gaps=True) == "allowed", path
    assert len(covered & set(NUMERIC)) > 50


@pytest.mark.parametrize("path", ["graph.nodes", "parameters.total", "compute.macs", "model.opsets.ai.onnx"])
@pytest.mark.parametrize("n", [0, 1, 2**31, 2**53, 2**53 + 1, 2**63 - 2])
def test_limits_are_exact_for_large_numbers(path: str, n: int) -> None:
    changed = replace_figure(
        card(SAMPLE[0]), path.replace("ai.onnx", "").rstrip("."), {"ai.onnx": n} if "ops" in path else n
    )
    assert check_status(changed, path, max=n) == "pass"
    assert check_status(changed, path, max=n - 1) == "fail"
    assert check_status(changed, path, min=n + 1) == "fail"
