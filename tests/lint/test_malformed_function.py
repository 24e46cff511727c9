"""malformed-function: calls that cannot be made."""

from tests._wire import chunk, integer, node
from tests.lint._wrong import call, calling, found, function, step

RELU = function("F", step("Relu", "x", "y"))


def test_a_function_that_calls_itself_is_found() -> None:
    (finding,) = found("malformed-function", calling(call("F", "x", "y"), function("F", step("F", "x", "y", "f"))))
    assert finding.message == "a call cannot be made: the function F calls itself"
    assert (finding.severity, finding.evidence) == ("error", ("F",))


def test_functions_that_call_each_other_are_found_though_nobody_calls_them() -> None:
    ring = function("F", step("G", "x", "y", "f")), function("G", step("F", "x", "y", "f"))
    (finding,) = found("malformed-function", calling(node("Relu", "x", "y"), *ring))
    assert set(finding.evidence) == {"F", "G"}


def test_a_function_that_calls_others_is_not() -> None:
    outer = function("G", step("F", "x", "a", "f") + step("F", "a", "y", "f"))
    assert found("malformed-function", calling(call("G", "x", "y"), RELU, outer)) == []


def test_a_call_with_too_much_is_found() -> None:
    (given,) = found("malformed-function", calling(call("F", "x x", "y"), RELU))
    assert given.message == "a call cannot be made: F_0 gives F 2 values, which takes 1"
    (asked,) = found("malformed-function", calling(call("F", "x", "y z"), RELU))
    assert asked.message == "a call cannot be made: F_0 asks F for 2 values, which gives 1"


def test_a_function_that_gives_one_value_twice_is_found() -> None:
    both = function("F", step("Relu", "x", "y"), chunk(5, "y") + chunk(9, integer(2, 17)))
    (finding,) = found("malformed-function", calling(call("F", "x", "y z"), both))
    assert finding.message == "a call cannot be made: the function F gives y 2 times"
    assert (finding.severity, finding.evidence) == ("error", ("F",))


def test_what_runtimes_take_and_checkers_do_not_is_a_warning() -> None:
    both = function("F", step("Relu", "x", "y"), chunk(6, "q") + chunk(6, "q") + chunk(9, integer(2, 17)))
    (twice,) = found("malformed-function", calling(call("F", "x", "y"), both))
    assert (twice.severity, twice.message) == ("warning", "a function is odd: of F: it has 2 attributes q")
    (bare,) = found("malformed-function", calling(node("Relu", "x", "y"), function("", step("Relu", "x", "y"))))
    assert (bare.severity, bare.message) == ("warning", "a function is odd: one of the domain f has no name")
    assert found("impossible-version", calling(call("F", "x", "y"), both)) == []


def test_a_long_chain_takes_no_recursion() -> None:
    chain = [function(f"f{at}", step(f"f{at + 1}", "x", "y", "f")) for at in range(3_000)]
    end = function("f3000", step("Relu", "x", "y"))
    assert found("malformed-function", calling(call("f0", "x", "y"), *chain, end)) == []
