"""Which changes of inputs and outputs break callers."""

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Card, Port
from onnx_autodoc.compare import PortChange, interface_changes
from tests.compare._cards import of_text

CARD = of_text("g (float[n, 3] x) => (float[n, 3] y) { y = Relu(x) }")
Shape = tuple[int | str | None, ...] | None


def make_port(name: str, shape: Shape = ("n", 3), dtype: str | None = "float32", kind: str = "tensor") -> Port:
    return Port(name, dtype, shape, None, kind, None, None)


def make_card(inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> Card:
    return replace(CARD, interface=replace(CARD.interface, inputs=inputs, outputs=outputs))


def compare_ports(side: str, was: tuple[Port, ...], now: tuple[Port, ...]) -> list[PortChange]:
    unchanged = (make_port("other"),)
    cards = [make_card(ports, unchanged) if side == "input" else make_card(unchanged, ports) for ports in (was, now)]
    result = list(interface_changes(*cards))
    assert {change.kind for change in result} <= {side}
    return result


def summarize_changes(side: str, was: tuple[Port, ...], now: tuple[Port, ...]) -> list[tuple[str, str, bool]]:
    return [(change.port, change.what, change.breaking) for change in compare_ports(side, was, now)]


A, B, C = make_port("a"), make_port("b", (1,), "int64"), make_port("c", (), "bool")

CASES = {
    # name: (was, now, input: (port, kind of change, breaking) …, output: …)
    "gone": ((A, B), (A,), [("b", "removed", True)], [("b", "removed", True)]),
    "came": ((A,), (A, B), [("b", "added", True)], [("b", "added", False)]),
    "renamed": ((A, B), (make_port("z"), B), [("a", "renamed", True)], [("a", "renamed", True)]),
    "swapped": ((A, B, C), (B, A, C), [("", "order", False)], [("", "order", True)]),
    "another type": ((A,), (make_port("a", dtype="float16"),), [("a", "type", True)], [("a", "type", True)]),
    "type declared": ((make_port("a", dtype=None),), (A,), [("a", "type", True)], [("a", "type", False)]),
    "type left open": ((A,), (make_port("a", dtype=None),), [("a", "type", False)], [("a", "type", True)]),
    "another rank": ((A,), (make_port("a", ("n", 3, 1)),), [("a", "rank", True)], [("a", "rank", True)]),
    "shape declared": ((make_port("a", None),), (A,), [("a", "rank", True)], [("a", "rank", False)]),
    "shape left open": ((A,), (make_port("a", None),), [("a", "rank", False)], [("a", "rank", True)]),
    "fixed": ((A,), (make_port("a", (1, 3)),), [("a", "fixed", True)], [("a", "fixed", False)]),
    "opened": ((A,), (make_port("a", ("n", "c")),), [("a", "opened", False)], [("a", "opened", True)]),
    "another size": ((A,), (make_port("a", ("n", 4)),), [("a", "size", True)], [("a", "size", True)]),
    "a dimension's name": (
        (A,),
        (make_port("a", ("batch", 3)),),
        [("a", "dimension name", False)],
        [("a", "dimension name", False)],
    ),
    "a dimension loses its name": (
        (A,),
        (make_port("a", (None, 3)),),
        [("a", "dimension name", False)],
        [("a", "dimension name", False)],
    ),
    "another container": (
        (A,),
        (make_port("a", kind="sequence"),),
        [("a", "container", True)],
        [("a", "container", True)],
    ),
    "nothing": ((A, B, C), (A, B, C), [], []),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("side", ["input", "output"])
def test_interface_change_breaks_its_callers(case: str, side: str) -> None:
    was, now, of_inputs, of_outputs = CASES[case]
    assert summarize_changes(side, was, now) == (of_inputs if side == "input" else of_outputs)


def test_port_of_another_type_is_not_a_rename() -> None:
    assert summarize_changes("input", (A,), (make_port("z", dtype="int8"),)) == [
        ("a", "removed", True),
        ("z", "added", True),
    ]


def test_renamed_and_fixed_input_has_two_changes() -> None:
    assert summarize_changes("input", (A,), (make_port("z", (1, 3)),)) == [("a", "renamed", True), ("a", "fixed", True)]


def test_removed_port_does_not_reorder_the_rest() -> None:
    assert summarize_changes("output", (A, B, C), (B, C)) == [("a", "removed", True)]


def test_every_change_has_a_reason_and_old_value() -> None:
    for was, now, *_ in CASES.values():
        for side in ("input", "output"):
            assert all(change.reason for change in compare_ports(side, was, now))
    change = compare_ports("input", (A,), (make_port("a", ("n", 4)),))[0]
    assert (change.was, change.now, change.reason) == ("3", "4", "dimension 1: different fixed size")
