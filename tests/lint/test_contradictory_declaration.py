"""contradictory-declaration: declarations of a value that contradict each other or the graph."""

import pytest

from onnx_autodoc.errors import BadInput
from tests._wire import chunk, integer, model, node
from tests.lint._malformed import X, Y, check_bytes, initializer, value


def sequence(field: int, name: str, kind: int = 4) -> bytes:
    """A value that is declared as a sequence (or, kind 9, as an optional) of float tensors."""
    return chunk(field, chunk(1, name) + chunk(2, chunk(kind, chunk(1, chunk(1, integer(1, 1))))))


CHAIN = X + node("Relu", "x", "q") + node("Neg", "q", "y")
WEIGHT = initializer("w", (2, 3), bytes(24))
_MISTYPED = "a value contradicts its declared type"
SUM = X + WEIGHT + node("Add", "x w", "y") + Y
INVALID = {
    "an output of another type": (
        model(CHAIN + value(12, "y", (2, 3), 7)),
        "error",
        f"{_MISTYPED}: y is declared as int64 but its node produces float32",
    ),
    "a value of another type": (
        model(CHAIN + Y + value(13, "q", (2, 3), 7)),
        "error",
        f"{_MISTYPED}: q is declared as int64 but its node produces float32",
    ),
    "a sequence that is a tensor": (
        model(CHAIN + sequence(12, "y")),
        "error",
        f"{_MISTYPED}: y is declared as sequence of float32 but its node produces tensor of float32",
    ),
    "an inner value that is no sequence": (
        model(CHAIN + Y + sequence(13, "q")),
        "error",
        f"{_MISTYPED}: q is declared as sequence of float32 but its node produces tensor of float32",
    ),
    "a tensor that is a sequence": (
        model(X + node("SequenceConstruct", "x x", "y") + Y),
        "error",
        f"{_MISTYPED}: y is declared as tensor of float32 but its node produces sequence of float32",
    ),
    "a tensor that is optional": (
        model(X + node("Optional", "x", "y") + Y),
        "error",
        f"{_MISTYPED}: y is declared as tensor of float32 but its node produces optional of float32",
    ),
    "a value of no type": (
        model(CHAIN + Y + value(13, "q", (2, 3), 99)),
        "error",
        f"{_MISTYPED}: q is declared as an unknown type but its node produces float32",
    ),
    "an input of no type": (
        model(value(11, "x", (2, 3), 99) + node("Relu", "x", "y") + Y),
        "error",
        "an input has no type: x has an element type that ONNX does not define",
    ),
    "an input without a declaration": (
        model(chunk(11, chunk(1, "x")) + node("Relu", "x", "y") + Y),
        "error",
        "an input has no type: x has no declaration",
    ),
    "a sequence without an element type": (
        model(chunk(11, chunk(1, "x") + chunk(2, chunk(4, b""))) + node("Identity", "x", "y") + Y),
        "error",
        "an input has no type: x is declared as sequence without an element type",
    ),
    "a weight of another shape": (
        model(value(11, "w", (5, 5)) + SUM),
        "error",
        "an initializer differs from the input of its name: w is float32[2, 3] but declared as float32[5, 5]",
    ),
    "a weight of another type": (
        model(value(11, "w", (2, 3), 7) + SUM),
        "error",
        "an initializer differs from the input of its name: w is float32[2, 3] but declared as int64[2, 3]",
    ),
    "a weight with another inner declaration": (
        model(SUM + value(13, "w", (5, 5))),
        "warning",
        "an initializer differs from its declaration: w is float32[2, 3] but declared as float32[5, 5]",
    ),
    "a weight with another declaration as output": (
        model(SUM + value(12, "w", (2, 3), 7)),
        "warning",
        "an initializer differs from its declaration: w is float32[2, 3] but declared as int64[2, 3]",
    ),
    "a weight that is no input of an old file": (
        model(SUM, ir=3),
        "note",
        "1 initializer is not an input; IR version 3 requires all to be",
    ),
    "an output without a declaration": (
        model(CHAIN + chunk(12, chunk(1, "y"))),
        "note",
        "an output has no type: y has no declaration",
    ),
    "a value that is declared twice": (
        model(CHAIN + Y + value(13, "q", (2, 3)) + value(13, "q", (7, 7))),
        "warning",
        "a value has contradictory declarations: q is declared as float32[2, 3] and as float32[7, 7]",
    ),
}


@pytest.mark.parametrize("name", INVALID)
def test_contradictory_declarations_are_reported(name: str) -> None:
    content, severity, message = INVALID[name]
    (finding,) = check_bytes("contradictory-declaration", content)
    assert (finding.severity, finding.message) == (severity, message)


VALID = {
    "a correct declaration": model(CHAIN + Y + value(13, "q", (2, 3))),
    "the same twice": model(CHAIN + Y + value(13, "q", (2, 3)) + value(13, "q", ("n", 3))),
    "no shape as a single number": model(CHAIN + Y + value(13, "q", (2, 3)) + value(13, "q", ())),
    "a value that no node produces": model(CHAIN + Y + value(13, "unused", (7, 7))),
    "a weight with its declaration": model(SUM + value(13, "w", ("n", 3))),
    "a weight of no known shape": model(SUM + value(13, "w", ())),
    "a weight among the inputs of an old file": model(value(11, "w", (2, 3)) + SUM, ir=3),
    "a weight as its input": model(value(11, "w", ("n", 3)) + SUM),
    "a dynamic dimension": model(value(11, "x", (-1, 3)) + node("Relu", "x", "y") + value(12, "y", (-1, 3))),
    "a sequence": model(X + node("SequenceConstruct", "x x", "y") + sequence(12, "y")),
    "an optional as input": model(sequence(11, "x", 9) + node("Identity", "x", "y") + sequence(12, "y", 9)),
    "an unknown operator": model(X + node("Wobble", "x", "y") + value(12, "y", (2, 3), 7)),
}


@pytest.mark.parametrize("name", VALID)
def test_consistent_declarations_are_not_reported(name: str) -> None:
    assert check_bytes("contradictory-declaration", VALID[name]) == []


def test_type_of_two_kinds_is_rejected() -> None:
    """Protobuf uses the last of several fields of a oneof; other parsers may use the first."""
    both = chunk(1, integer(1, 1)) + chunk(4, chunk(1, chunk(1, integer(1, 1))))
    content = model(chunk(11, chunk(1, "x") + chunk(2, both)) + node("Relu", "x", "y") + Y)
    with pytest.raises(BadInput, match="a type is declared as both tensor_type and sequence_type"):
        check_bytes("malformed-node", content)
