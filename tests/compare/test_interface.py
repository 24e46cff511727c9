"""Which changes of inputs and outputs break callers."""

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Card, Port
from onnx_autodoc.compare import PortChange, interface_changes
from tests.compare._cards import of_text

CARD = of_text("g (float[n, 3] x) => (float[n, 3] y) { y = Relu(x) }")
Shape = tuple[int | str | None, ...] | None


def port(name: str, shape: Shape = ("n", 3), dtype: str | None = "float32", kind: str = "tensor") -> Port:
    return Port(name, dtype, shape, None, kind, None, None)


def having(inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> Card:
    return replace(CARD, interface=replace(CARD.interface, inputs=inputs, outputs=outputs))


def changes(side: str, was: tuple[Port, ...], now: tuple[Port, ...]) -> list[PortChange]:
    other = (port("other"),)
    cards = [having(ports, other) if side == "input" else having(other, ports) for ports in (was, now)]
    found = list(interface_changes(*cards))
    assert {change.kind for change in found} <= {side}
    return found


def told(side: str, was: tuple[Port, ...], now: tuple[Port, ...]) -> list[tuple[str, str, bool]]:
    return [(change.port, change.what, change.breaking) for change in changes(side, was, now)]


A, B, C = port("a"), port("b", (1,), "int64"), port("c", (), "bool")

CASES = {
    # what happened: (was, now, input: (port, what, breaking) …, output: …)
    "gone": ((A, B), (A,), [("b", "removed", True)], [("b", "removed", True)]),
    "came": ((A,), (A, B), [("b", "added", True)], [("b", "added", False)]),
    "renamed": ((A, B), (port("z"), B), [("a", "renamed", True)], [("a", "renamed", True)]),
    "swapped": ((A, B, C), (B, A, C), [("", "order", False)], [("", "order", True)]),
    "another type": ((A,), (port("a", dtype="float16"),), [("a", "type", True)], [("a", "type", True)]),
    "type declared": ((port("a", dtype=None),), (A,), [("a", "type", True)], [("a", "type", False)]),
    "type left open": ((A,), (port("a", dtype=None),), [("a", "type", False)], [("a", "type", True)]),
    "another rank": ((A,), (port("a", ("n", 3, 1)),), [("a", "rank", True)], [("a", "rank", True)]),
    "shape declared": ((port("a", None),), (A,), [("a", "rank", True)], [("a", "rank", False)]),
    "shape left open": ((A,), (port("a", None),), [("a", "rank", False)], [("a", "rank", True)]),
    "fixed": ((A,), (port("a", (1, 3)),), [("a", "fixed", True)], [("a", "fixed", False)]),
    "opened": ((A,), (port("a", ("n", "c")),), [("a", "opened", False)], [("a", "opened", True)]),
    "another size": ((A,), (port("a", ("n", 4)),), [("a", "size", True)], [("a", "size", True)]),
    "a dimension's name": (
        (A,),
        (port("a", ("batch", 3)),),
        [("a", "dimension name", False)],
        [("a", "dimension name", False)],
    ),
    "a dimension loses its name": (
        (A,),
        (port("a", (None, 3)),),
        [("a", "dimension name", False)],
        [("a", "dimension name", False)],
    ),
    "another container": (
        (A,),
        (port("a", kind="sequence"),),
        [("a", "container", True)],
        [("a", "container", True)],
    ),
    "nothing": ((A, B, C), (A, B, C), [], []),
}


@pytest.mark.parametrize("what", CASES)
@pytest.mark.parametrize("side", ["input", "output"])
def test_interface_change_breaks_its_callers(what: str, side: str) -> None:
    was, now, of_inputs, of_outputs = CASES[what]
    assert told(side, was, now) == (of_inputs if side == "input" else of_outputs)


def test_port_of_another_type_is_not_a_rename() -> None:
    assert told("input", (A,), (port("z", dtype="int8"),)) == [("a", "removed", True), ("z", "added", True)]


def test_renamed_and_fixed_input_has_two_changes() -> None:
    assert told("input", (A,), (port("z", (1, 3)),)) == [("a", "renamed", True), ("a", "fixed", True)]


def test_removed_port_does_not_reorder_the_rest() -> None:
    assert told("output", (A, B, C), (B, C)) == [("a", "removed", True)]


def test_every_change_has_a_reason_and_old_value() -> None:
    for was, now, *_ in CASES.values():
        for side in ("input", "output"):
            assert all(change.reason for change in changes(side, was, now))
    change = changes("input", (A,), (port("a", ("n", 4)),))[0]
    assert (change.was, change.now, change.reason) == ("3", "4", "dimension 1: another fixed size")
