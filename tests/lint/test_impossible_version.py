"""impossible-version: versions that never were."""

import pytest

from tests._wire import chunk, integer, model, node
from tests.lint._malformed import X, Y, call, check_bytes, function, function_model, step

GRAPH = X + node("Relu", "x", "y") + Y
WRONG = {
    "IR version 0": (model(GRAPH, ir=0), "warning", "the file is of IR version 0; the first one is 1"),
    "IR version -1": (model(GRAPH, ir=-1), "warning", "the file is of IR version -1; the first one is 1"),
    "IR version 10^9": (
        model(GRAPH, ir=10**9),
        "warning",
        "the file is of IR version 1000000000, the newest known here is 14",
    ),
    "no IR version": (
        chunk(7, GRAPH) + chunk(8, integer(2, 17)),
        "error",
        "the file does not say its IR version",
    ),
    "opset 0": (model(GRAPH, opset=0), "error", "the file is written in opset 0 of ai.onnx; the first one is 1"),
    "opset -1": (model(GRAPH, opset=-1), "error", "the file is written in opset -1 of ai.onnx; the first one is 1"),
    "opset 0 of what is not used": (
        model(GRAPH, extra=chunk(8, chunk(1, "custom") + integer(2, 0))),
        "warning",
        "the file is written in opset 0 of custom; the first one is 1",
    ),
    "opset 2 of what has one": (
        model(GRAPH, extra=chunk(8, chunk(1, "com.microsoft") + integer(2, 2))),
        "error",
        "the file is written in opset 2 of com.microsoft; there is only 1",
    ),
    "two opsets": (
        model(GRAPH, 11, extra=chunk(8, integer(2, 17))),
        "warning",
        "the version of ai.onnx is declared as both 11 and 17; which one holds cannot be told",
    ),
    "two opsets of one spelling": (
        model(GRAPH, 11, extra=chunk(8, chunk(1, "ai.onnx") + integer(2, 17))),
        "warning",
        "the version of ai.onnx is declared as both 11 and 17; which one holds cannot be told",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_impossible_version_is_reported(name: str) -> None:
    content, severity, said = WRONG[name]
    (finding,) = check_bytes("impossible-version", content)
    assert (finding.severity, finding.message) == (severity, said)


def test_two_versions_in_a_function_are_reported() -> None:
    both = chunk(9, integer(2, 11)) + chunk(9, integer(2, 17))
    (finding,) = check_bytes(
        "impossible-version", function_model(call("F", "x", "y"), function("F", step("Relu", "x", "y"), both))
    )
    assert finding.message == "in the function F the version of ai.onnx is declared as both 11 and 17"


def test_repeated_equal_version_is_not_reported() -> None:
    assert check_bytes("impossible-version", model(GRAPH, extra=chunk(8, integer(2, 17)))) == []


def test_current_file_is_not_reported() -> None:
    assert check_bytes("impossible-version", model(GRAPH)) == []
