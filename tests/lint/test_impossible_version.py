"""impossible-version: versions that never were."""

import pytest

from tests._wire import chunk, integer, model, node
from tests.lint._malformed import X, Y, call, check_bytes, function, function_model, step

GRAPH = X + node("Relu", "x", "y") + Y
INVALID = {
    "IR version 0": (model(GRAPH, ir=0), "warning", "the file declares IR version 0, but IR versions start at 1"),
    "IR version -1": (model(GRAPH, ir=-1), "warning", "the file declares IR version -1, but IR versions start at 1"),
    "IR version 10^9": (
        model(GRAPH, ir=10**9),
        "warning",
        "the file declares IR version 1000000000; this tool knows versions up to 14",
    ),
    "no IR version": (
        chunk(7, GRAPH) + chunk(8, integer(2, 17)),
        "error",
        "the file declares no IR version",
    ),
    "opset 0": (model(GRAPH, opset=0), "error", "the file declares opset 0 of ai.onnx, but opsets start at 1"),
    "opset -1": (model(GRAPH, opset=-1), "error", "the file declares opset -1 of ai.onnx, but opsets start at 1"),
    "opset 0 of an unused domain": (
        model(GRAPH, extra=chunk(8, chunk(1, "custom") + integer(2, 0))),
        "warning",
        "the file declares opset 0 of custom, but opsets start at 1",
    ),
    "opset 2 of a domain with one opset": (
        model(GRAPH, extra=chunk(8, chunk(1, "com.microsoft") + integer(2, 2))),
        "error",
        "the file declares opset 2 of com.microsoft, which has only opset 1",
    ),
    "two opsets": (
        model(GRAPH, 11, extra=chunk(8, integer(2, 17))),
        "warning",
        "the version of ai.onnx is declared as both 11 and 17; which one applies is unknown",
    ),
    "two opsets of one domain name": (
        model(GRAPH, 11, extra=chunk(8, chunk(1, "ai.onnx") + integer(2, 17))),
        "warning",
        "the version of ai.onnx is declared as both 11 and 17; which one applies is unknown",
    ),
}


@pytest.mark.parametrize("name", INVALID)
def test_impossible_version_is_reported(name: str) -> None:
    content, severity, message = INVALID[name]
    (finding,) = check_bytes("impossible-version", content)
    assert (finding.severity, finding.message) == (severity, message)


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
