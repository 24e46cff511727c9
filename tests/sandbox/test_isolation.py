"""Worker processes: each one ends with a result or with a one-line error that names the option to change."""

import mmap
import os
import resource
import select
import signal
import time
from collections.abc import Callable

import pytest
from msgspec import Struct

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.limits import Limits, within
from onnx_autodoc.sandbox import extend_deadline, extend_deadline_for_model, run_isolated, run_optional

MIB = 1 << 20


class Result(Struct, frozen=True):
    text: str
    data: bytes = b""
    skipped: tuple[str, ...] = ()


def test_result_is_returned() -> None:
    assert run_isolated(Result, lambda: Result("a", bytes(5 * MIB)), "it") == Result("a", bytes(5 * MIB))


def test_work_runs_in_another_process() -> None:
    assert run_isolated(Result, lambda: Result(str(os.getpid())), "it").text != str(os.getpid())


def refuse() -> Result:
    raise BadInput("x.onnx: not a model")


def test_bad_input_is_raised_in_the_parent() -> None:
    with pytest.raises(BadInput, match=r"^x\.onnx: not a model$"):
        run_isolated(Result, refuse, "it")


def refuse_with_lone_surrogates() -> Result:
    raise BadInput("\ud800 \udfff \udcff.onnx \U0001f600")


def test_lone_surrogates_are_escaped_and_undecodable_names_unchanged() -> None:
    with pytest.raises(BadInput) as error:
        run_isolated(Result, refuse_with_lone_surrogates, "it")
    assert str(error.value) == "\\ud800 \\udfff \udcff.onnx \U0001f600"


def allocate() -> Result:
    return Result("", bytes(400 * MIB))


def test_memory_limit_names_its_option() -> None:
    with within(Limits(memory=300 * MIB)), pytest.raises(LimitReached, match=r"^it: .*314,572,800.*--max-memory"):
        run_isolated(Result, allocate, "it")


def test_memory_limit_can_be_raised() -> None:
    with within(Limits(memory=2000 * MIB)):
        assert len(run_isolated(Result, allocate, "it").data) == 400 * MIB


def hang() -> Result:
    while True:
        pass


def sleep() -> Result:
    time.sleep(60)
    return Result("late")


@pytest.mark.parametrize("work", [hang, sleep])
def test_time_limit_names_its_option(work: Callable[[], Result]) -> None:
    start = time.monotonic()
    with within(Limits(seconds=0.3)), pytest.raises(LimitReached, match=r"^it: timed out after .* s; --timeout"):
        run_isolated(Result, work, "it")
    assert time.monotonic() - start < 10


def test_deadline_is_extended_unless_the_user_set_it() -> None:
    def extend() -> Result:
        before = signal.getitimer(signal.ITIMER_REAL)[0]
        extend_deadline(100)
        return Result(str(signal.getitimer(signal.ITIMER_REAL)[0] - before))

    assert 399 < float(run_isolated(Result, extend, "it").text) <= 400  # wall-clock time of a busy machine
    with within(Limits(seconds=5.0)):
        assert -1 < float(run_isolated(Result, extend, "it").text) <= 0  # the user's limit is final


def test_model_within_default_limits_has_less_than_20_seconds() -> None:
    """A second model gets as much processor time, a larger one more."""
    usual = Limits().nodes
    assert _measure_allowed_seconds(1) == _measure_allowed_seconds(usual) < 20
    assert (
        _measure_allowed_seconds(usual, usual) == 2 * _measure_allowed_seconds(usual) - 1
    )  # each is rounded up by one
    assert _measure_allowed_seconds(10 * usual) > 100


def _measure_allowed_seconds(*models: int) -> int:
    """Return the processor seconds of a worker for models of these node counts."""

    def work() -> int:
        for nodes in models:
            extend_deadline_for_model(nodes)
        return resource.getrlimit(resource.RLIMIT_CPU)[0]

    return run_isolated(int, work, "it")


def test_processor_time_is_limited() -> None:
    def cpu_limit() -> Result:
        return Result(str(resource.getrlimit(resource.RLIMIT_CPU)[0]))

    with within(Limits(seconds=5.0)):
        assert (
            5
            <= int(run_isolated(Result, cpu_limit, "it").text)
            <= 5 + resource.getrusage(resource.RUSAGE_SELF).ru_utime + 2
        )


def test_no_core_is_dumped() -> None:
    assert run_isolated(Result, lambda: Result(str(resource.getrlimit(resource.RLIMIT_CORE)[0])), "it").text == "0"


def crash(number: int) -> Result:
    os.kill(os.getpid(), number)
    return Result("alive")


CRASH_SIGNALS = [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE]


@pytest.mark.parametrize("number", CRASH_SIGNALS)
def test_crash_in_an_optional_step_skips_that_step(number: signal.Signals) -> None:
    def work() -> Result:
        first = run_optional("first", "it", lambda: "first", lambda _: "")
        second = run_optional("second", "it", lambda: crash(number).text, lambda reason: reason)
        third = run_optional("third", "it", lambda: "third", lambda _: "")
        return Result(f"{first} {third}", skipped=(second,))

    result = run_isolated(Result, work, "it")
    assert result.text == "first third"
    assert number.name in result.skipped[0]


def test_several_optional_steps_may_crash() -> None:
    def work() -> Result:
        results = [
            run_optional(name, "it", lambda: crash(signal.SIGSEGV).text, lambda _: "skipped")
            for name in ("a", "b", "c")
        ]
        return Result(" ".join(results))

    assert run_isolated(Result, work, "it").text == "skipped skipped skipped"


@pytest.mark.parametrize("number", CRASH_SIGNALS)
def test_crash_outside_of_optional_steps_is_one_line(number: signal.Signals) -> None:
    with pytest.raises(BadInput, match=rf"^it: internal error: .*{number.name}$"):
        run_isolated(Result, lambda: crash(number), "it")


def test_crash_in_a_fallback_is_one_line() -> None:
    with pytest.raises(BadInput, match="internal"):
        run_isolated(
            Result,
            lambda: run_optional("a", "it", lambda: crash(signal.SIGSEGV), lambda _: crash(signal.SIGSEGV)),
            "it",
        )


def test_sigkill_is_attributed_to_the_system() -> None:
    with pytest.raises(LimitReached, match="the system killed"):
        run_isolated(Result, lambda: crash(signal.SIGKILL), "it")


def test_exception_in_an_optional_step_skips_that_step() -> None:
    def work() -> Result:
        return Result(run_optional("a", "it", lambda: str(1 // 0), lambda reason: reason))

    assert "internal error: ZeroDivisionError" in run_isolated(Result, work, "it").text
    assert "internal error: ZeroDivisionError" in work().text  # also in this process


def test_exception_elsewhere_is_one_line() -> None:
    with pytest.raises(BadInput, match=r"^it: internal error: ZeroDivisionError: "):
        run_isolated(Result, lambda: Result(str(1 // 0)), "it")


def test_optional_step_raises_limits_and_bad_input() -> None:
    with pytest.raises(BadInput):
        run_optional("a", "it", refuse, lambda reason: Result(reason))
    with pytest.raises(MemoryError):
        run_optional("a", "it", lambda: (_ for _ in ()).throw(MemoryError()), lambda _: None)


def test_endless_recursion_is_an_exception_not_a_crash() -> None:
    def recurse() -> str:
        return recurse()

    assert (
        "RecursionError"
        in run_isolated(Result, lambda: Result(run_optional("a", "it", recurse, lambda reason: reason)), "it").text
    )


def test_oversized_result_is_rejected_and_the_worker_ended() -> None:
    """The parent checks the limit too: a worker may have lifted its own."""
    pids = os.pipe()

    def exceed_limit() -> Result:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        os.write(pids[1], str(os.getpid()).encode())
        return Result("", bytes(310 * MIB))

    with within(Limits(memory=300 * MIB)), pytest.raises(LimitReached, match="--max-memory"):
        run_isolated(Result, exceed_limit, "it")
    with pytest.raises(ProcessLookupError):
        os.kill(int(os.read(pids[0], 100)), 0)


def test_memory_mapped_by_the_caller_does_not_count() -> None:
    with mmap.mmap(-1, 2000 * MIB), within(Limits(memory=300 * MIB)):
        assert run_isolated(Result, lambda: Result("", bytes(50 * MIB)), "it").data == bytes(50 * MIB)
        with pytest.raises(LimitReached, match="--max-memory"):
            run_isolated(Result, allocate, "it")


def test_process_that_keeps_the_pipe_open_does_not_delay_the_error() -> None:
    """Another thread of the program may fork while a worker runs; that process has the pipe too."""
    reader, writer = os.pipe()

    def leave_process() -> Result:
        if os.fork():
            os.kill(os.getpid(), signal.SIGKILL)
        os.close(writer)
        select.select([reader], [], [], 20)  # until the test ends
        os._exit(0)

    start = time.monotonic()
    try:
        with pytest.raises(LimitReached, match="the system killed"):
            run_isolated(Result, leave_process, "it")
    finally:
        os.close(writer)
        os.close(reader)
    assert time.monotonic() - start < 10


def test_text_with_bytes_of_a_path_is_returned() -> None:
    result = Result("\udcff.onnx", b"\xff", ("\U0001f600 \ud800",))
    assert run_isolated(Result, lambda: result, "it") == result
