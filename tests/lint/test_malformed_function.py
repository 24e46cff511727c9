"""malformed-function: invalid calls and definitions of local functions."""

from tests._wire import chunk, integer, node
from tests.lint._malformed import call, check_bytes, function, function_model, step

RELU = function("F", step("Relu", "x", "y"))


def test_recursive_function_is_reported() -> None:
    (finding,) = check_bytes(
        "malformed-function", function_model(call("F", "x", "y"), function("F", step("F", "x", "y", "f")))
    )
    assert finding.message == "a function call is invalid: the function F is recursive"
    assert (finding.severity, finding.evidence) == ("error", ("F",))


def test_uncalled_mutually_recursive_functions_are_reported() -> None:
    ring = function("F", step("G", "x", "y", "f")), function("G", step("F", "x", "y", "f"))
    (finding,) = check_bytes("malformed-function", function_model(node("Relu", "x", "y"), *ring))
    assert set(finding.evidence) == {"F", "G"}


def test_function_that_calls_others_is_not_reported() -> None:
    outer = function("G", step("F", "x", "a", "f") + step("F", "a", "y", "f"))
    assert check_bytes("malformed-function", function_model(call("G", "x", "y"), RELU, outer)) == []


def test_call_with_too_many_values_is_reported() -> None:
    (inputs,) = check_bytes("malformed-function", function_model(call("F", "x x", "y"), RELU))
    assert inputs.message == "a function call is invalid: F_0 passes 2 inputs to F, which declares 1"
    (outputs,) = check_bytes("malformed-function", function_model(call("F", "x", "y z"), RELU))
    assert outputs.message == "a function call is invalid: F_0 requests 2 outputs of F, which declares 1"


def test_function_with_a_repeated_output_is_reported() -> None:
    both = function("F", step("Relu", "x", "y"), chunk(5, "y") + chunk(9, integer(2, 17)))
    (finding,) = check_bytes("malformed-function", function_model(call("F", "x", "y z"), both))
    assert finding.message == "a function call is invalid: the function F has 2 outputs named y"
    assert (finding.severity, finding.evidence) == ("error", ("F",))


def test_defect_that_runtimes_accept_is_a_warning() -> None:
    start = "a function violates the specification"
    both = function("F", step("Relu", "x", "y"), chunk(6, "q") + chunk(6, "q") + chunk(9, integer(2, 17)))
    (twice,) = check_bytes("malformed-function", function_model(call("F", "x", "y"), both))
    assert (twice.severity, twice.message) == ("warning", f"{start}: F: it has 2 attributes named q")
    (bare,) = check_bytes(
        "malformed-function", function_model(node("Relu", "x", "y"), function("", step("Relu", "x", "y")))
    )
    assert (bare.severity, bare.message) == ("warning", f"{start}: a function of the domain f has no name")
    assert check_bytes("impossible-version", function_model(call("F", "x", "y"), both)) == []


def test_long_call_chain_needs_no_recursion() -> None:
    chain = [function(f"f{at}", step(f"f{at + 1}", "x", "y", "f")) for at in range(3_000)]
    end = function("f3000", step("Relu", "x", "y"))
    assert check_bytes("malformed-function", function_model(call("f0", "x", "y"), *chain, end)) == []
