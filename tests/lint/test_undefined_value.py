"""undefined-value: what is read and made by nobody, wherever it is read."""

import pytest

from tests._wire import chunk, model, node
from tests.lint._wrong import NEG, RELU, X, Y, call, calling, choice, found, function, initializer, step, value

GHOST = node("Add", "x ghost", "t") + value(12, "t", (2, 3))
READ = {
    "in the graph": (model(X + node("Add", "x ghost", "y") + Y), ("Add_0",)),
    "by a node that nothing needs": (
        model(X + node("Relu", "ghost", "q") + node("Relu", "x", "y") + Y),
        ("Relu_0",),
    ),
    "in a branch": (choice(GHOST, NEG), ("If_0/then_branch/Add_0",)),
    "in a function": (calling(call("F", "x", "y"), function("F", step("Add", "x ghost", "y"))), ("F/Add_0",)),
    "in a function that nobody calls": (
        calling(node("Relu", "x", "y"), function("F", step("Add", "x ghost", "y"))),
        ("F/Add_0",),
    ),
    "by nobody but the caller": (model(X + node("Relu", "x", "y") + Y + value(12, "ghost", (4,))), ("ghost",)),
}


@pytest.mark.parametrize("name", READ)
def test_a_value_that_nothing_makes_is_found_with_its_readers(name: str) -> None:
    content, readers = READ[name]
    (finding,) = found("undefined-value", content)
    assert finding.message == "1 value is needed that nothing makes: 'ghost'"
    assert (finding.severity, finding.evidence) == ("error", readers)


def test_a_function_does_not_see_the_graph_that_calls_it() -> None:
    inner = function("F", step("Add", "x w", "y"))
    (finding,) = found("undefined-value", calling(initializer("w", (2, 3), bytes(24)) + call("F", "x", "y"), inner))
    assert "'w'" in finding.message


def test_a_branch_sees_the_graph_around_it() -> None:
    inner = node("Add", "x w", "t") + value(12, "t", (2, 3))
    content = choice(inner, NEG)
    held = model(X + initializer("w", (2, 3), bytes(24)) + node("Add", "x w", "y") + Y)
    assert found("undefined-value", held) == []
    assert [finding.message[-3:] for finding in found("undefined-value", content)] == ["'w'"]


def test_a_branch_cannot_hand_out_what_is_around_it() -> None:
    (finding,) = found("undefined-value", choice(value(12, "x", (2, 3)), NEG))
    assert finding.message == "1 value is handed out by a graph that does not make it: 'x'"
    assert finding.evidence == ("If_0/then_branch",)


def test_an_output_that_is_an_input_or_a_weight_is_made() -> None:
    held = initializer("w", (2, 3), bytes(24))
    assert found("undefined-value", model(X + held + value(12, "w", (2, 3)) + value(12, "x", (2, 3)))) == []
    assert found("undefined-value", choice(RELU, NEG)) == []


def test_an_end_without_a_name_is_found() -> None:
    bare = chunk(12, chunk(1, "")), chunk(11, chunk(1, ""))
    said = [(each.message, each.severity) for end in bare for each in found("undefined-value", _relu(end))]
    assert said == [("1 output of the model has no name", "error"), ("1 input of the model has no name", "warning")]


def test_an_input_that_is_left_out_is_not_missing() -> None:
    clip = chunk(1, chunk(1, "x") + chunk(1, "") + chunk(1, "x") + chunk(2, "y") + chunk(4, "Clip"))
    assert found("undefined-value", model(X + clip + Y)) == []


def _relu(end: bytes) -> bytes:
    return model(X + node("Relu", "x", "y") + Y + end)
