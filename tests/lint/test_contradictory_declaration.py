"""contradictory-declaration: what is declared of a value, against what else the file says of it."""

import pytest

from tests._wire import chunk, integer, model, node
from tests.lint._malformed import X, Y, check_bytes, initializer, value


def sequence(field: int, name: str, kind: int = 4) -> bytes:
    """A value that is declared as a sequence (or, kind 9, as an optional) of float tensors."""
    return chunk(field, chunk(1, name) + chunk(2, chunk(kind, chunk(1, chunk(1, integer(1, 1))))))


CHAIN = X + node("Relu", "x", "q") + node("Neg", "q", "y")
WEIGHT = initializer("w", (2, 3), bytes(24))
SUM = X + WEIGHT + node("Add", "x w", "y") + Y
WRONG = {
    "an output of another type": (
        model(CHAIN + value(12, "y", (2, 3), 7)),
        "error",
        "a value is of another type: the file declares y as int64, its nodes give float32",
    ),
    "a value of another type": (
        model(CHAIN + Y + value(13, "q", (2, 3), 7)),
        "error",
        "a value is of another type: the file declares q as int64, its nodes give float32",
    ),
    "a sequence that is a tensor": (
        model(CHAIN + sequence(12, "y")),
        "error",
        "a value is of another type: the file declares y as sequence of float32, its nodes give tensor of float32",
    ),
    "an inner value that is no sequence": (
        model(CHAIN + Y + sequence(13, "q")),
        "error",
        "a value is of another type: the file declares q as sequence of float32, its nodes give tensor of float32",
    ),
    "a tensor that is a sequence": (
        model(X + node("SequenceConstruct", "x x", "y") + Y),
        "error",
        "a value is of another type: the file declares y as tensor of float32, its nodes give sequence of float32",
    ),
    "a tensor that is optional": (
        model(X + node("Optional", "x", "y") + Y),
        "error",
        "a value is of another type: the file declares y as tensor of float32, its nodes give optional of float32",
    ),
    "a value of no type": (
        model(CHAIN + Y + value(13, "q", (2, 3), 99)),
        "error",
        "a value is of another type: the file declares q as no known type, its nodes give float32",
    ),
    "an input of no type": (
        model(value(11, "x", (2, 3), 99) + node("Relu", "x", "y") + Y),
        "error",
        "an input has no type: the elements of x are of a type that ONNX does not define",
    ),
    "an input of which nothing is said": (
        model(chunk(11, chunk(1, "x")) + node("Relu", "x", "y") + Y),
        "error",
        "an input has no type: of x nothing is declared",
    ),
    "a sequence of nothing": (
        model(chunk(11, chunk(1, "x") + chunk(2, chunk(4, b""))) + node("Identity", "x", "y") + Y),
        "error",
        "an input has no type: x is a sequence of nothing",
    ),
    "a weight of another shape": (
        model(value(11, "w", (5, 5)) + SUM),
        "error",
        "a weight is not as its input: w is float32[2, 3], and declared as float32[5, 5]",
    ),
    "a weight of another type": (
        model(value(11, "w", (2, 3), 7) + SUM),
        "error",
        "a weight is not as its input: w is float32[2, 3], and declared as int64[2, 3]",
    ),
    "a weight that is declared otherwise inside": (
        model(SUM + value(13, "w", (5, 5))),
        "warning",
        "a weight is declared otherwise: w is float32[2, 3], and declared as float32[5, 5]",
    ),
    "a weight that goes out as another one": (
        model(SUM + value(12, "w", (2, 3), 7)),
        "warning",
        "a weight is declared otherwise: w is float32[2, 3], and declared as int64[2, 3]",
    ),
    "a weight that is no input of an old file": (
        model(SUM, ir=3),
        "note",
        "1 weight is not listed among the inputs, as IR version 3 wants",
    ),
    "an output of which nothing is said": (
        model(CHAIN + chunk(12, chunk(1, "y"))),
        "note",
        "an output has no type: of y nothing is declared",
    ),
    "a value that is declared twice": (
        model(CHAIN + Y + value(13, "q", (2, 3)) + value(13, "q", (7, 7))),
        "warning",
        "a value is declared twice: q as float32[2, 3] and as float32[7, 7]",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_contradictory_declarations_are_reported(name: str) -> None:
    content, severity, said = WRONG[name]
    (finding,) = check_bytes("contradictory-declaration", content)
    assert (finding.severity, finding.message) == (severity, said)


RIGHT = {
    "what holds": model(CHAIN + Y + value(13, "q", (2, 3))),
    "the same twice": model(CHAIN + Y + value(13, "q", (2, 3)) + value(13, "q", ("n", 3))),
    "no shape as a single number": model(CHAIN + Y + value(13, "q", (2, 3)) + value(13, "q", ())),
    "what nobody makes": model(CHAIN + Y + value(13, "nobody", (7, 7))),
    "a weight as it is declared": model(SUM + value(13, "w", ("n", 3))),
    "a weight of no known shape": model(SUM + value(13, "w", ())),
    "a weight among the inputs of an old file": model(value(11, "w", (2, 3)) + SUM, ir=3),
    "a weight as its input": model(value(11, "w", ("n", 3)) + SUM),
    "an open size": model(value(11, "x", (-1, 3)) + node("Relu", "x", "y") + value(12, "y", (-1, 3))),
    "a sequence": model(X + node("SequenceConstruct", "x x", "y") + sequence(12, "y")),
    "an optional that comes in": model(sequence(11, "x", 9) + node("Identity", "x", "y") + sequence(12, "y", 9)),
    "an operator of nobody": model(X + node("Wobble", "x", "y") + value(12, "y", (2, 3), 7)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_consistent_declarations_are_not_reported(name: str) -> None:
    assert check_bytes("contradictory-declaration", RIGHT[name]) == []


def test_last_of_two_kinds_in_one_type_is_used() -> None:
    """As protobuf has it of one field that can be written in several ways."""
    both = chunk(1, integer(1, 1)) + chunk(4, chunk(1, chunk(1, integer(1, 1))))
    content = model(chunk(11, chunk(1, "x") + chunk(2, both)) + node("Relu", "x", "y") + Y)
    (finding,) = check_bytes("malformed-node", content)
    assert finding.message.endswith("input 0 does not accept sequence")
