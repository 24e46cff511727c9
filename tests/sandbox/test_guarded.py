"""A child does the work: whatever happens to it is a result, or one line with the option that helps."""

import mmap
import os
import resource
import signal
import time
from collections.abc import Callable

import pytest
from msgspec import Struct

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.limits import Limits, within
from onnx_autodoc.sandbox import allow, allow_model, guarded, part

MIB = 1 << 20


class Made(Struct, frozen=True):
    text: str
    data: bytes = b""
    lost: tuple[str, ...] = ()


def test_what_the_work_gives_comes_back() -> None:
    assert guarded(Made, lambda: Made("a", bytes(5 * MIB)), "it") == Made("a", bytes(5 * MIB))


def test_the_work_is_done_in_another_process() -> None:
    assert guarded(Made, lambda: Made(str(os.getpid())), "it").text != str(os.getpid())


def refuse() -> Made:
    raise BadInput("x.onnx: not a model")


def test_a_refusal_is_ours() -> None:
    with pytest.raises(BadInput, match=r"^x\.onnx: not a model$"):
        guarded(Made, refuse, "it")


def refuse_half_a_letter() -> Made:
    raise BadInput("\ud800 \udfff \udcff.onnx \U0001f600")


def test_half_a_letter_is_told_and_a_name_that_is_no_text_stays() -> None:
    with pytest.raises(BadInput) as caught:
        guarded(Made, refuse_half_a_letter, "it")
    assert str(caught.value) == "\\ud800 \\udfff \udcff.onnx \U0001f600"


def eat() -> Made:
    return Made("", bytes(400 * MIB))


def test_memory_is_bounded_and_the_option_named() -> None:
    with within(Limits(memory=300 * MIB)), pytest.raises(LimitReached, match=r"^it: .*314,572,800.*--max-memory"):
        guarded(Made, eat, "it")


def test_more_memory_can_be_given() -> None:
    with within(Limits(memory=2000 * MIB)):
        assert len(guarded(Made, eat, "it").data) == 400 * MIB


def hang() -> Made:
    while True:
        pass


def sleep() -> Made:
    time.sleep(60)
    return Made("late")


@pytest.mark.parametrize("work", [hang, sleep])
def test_time_is_bounded_and_the_option_named(work: Callable[[], Made]) -> None:
    start = time.monotonic()
    with within(Limits(seconds=0.3)), pytest.raises(LimitReached, match=r"^it: not done after .* s; --timeout"):
        guarded(Made, work, "it")
    assert time.monotonic() - start < 10


def test_what_is_known_to_take_longer_is_given_longer() -> None:
    def patient() -> Made:
        before = signal.getitimer(signal.ITIMER_REAL)[0]
        allow(100)
        return Made(str(signal.getitimer(signal.ITIMER_REAL)[0] - before))

    assert 399 < float(guarded(Made, patient, "it").text) <= 400  # on the wall, where a machine may be busy
    with within(Limits(seconds=5.0)):
        assert -1 < float(guarded(Made, patient, "it").text) <= 0  # a given time is all there is


def test_a_model_within_the_usual_limits_is_over_within_20_seconds() -> None:
    """Of processor time, with what the parent takes; a second one has as much, and one beyond the limits has more."""
    usual = Limits().nodes
    assert _allowed(1) == _allowed(usual) < 20
    assert _allowed(usual, usual) == 2 * _allowed(usual) - 1  # each is rounded up by one
    assert _allowed(10 * usual) > 100


def _allowed(*models: int) -> int:
    """Seconds that a child may take for models of so many nodes, as the system has them."""

    def work() -> int:
        for nodes in models:
            allow_model(nodes)
        return resource.getrlimit(resource.RLIMIT_CPU)[0]

    return guarded(int, work, "it")


def test_threads_of_native_code_are_bounded_too() -> None:
    def told() -> Made:
        return Made(str(resource.getrlimit(resource.RLIMIT_CPU)[0]))

    with within(Limits(seconds=5.0)):
        assert 5 <= int(guarded(Made, told, "it").text) <= 5 + resource.getrusage(resource.RUSAGE_SELF).ru_utime + 2


def test_no_core_is_dumped_beside_a_model() -> None:
    assert guarded(Made, lambda: Made(str(resource.getrlimit(resource.RLIMIT_CORE)[0])), "it").text == "0"


def die(number: int) -> Made:
    os.kill(os.getpid(), number)
    return Made("alive")


DEATHS = [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE]


@pytest.mark.parametrize("number", DEATHS)
def test_a_death_in_a_part_costs_that_part(number: signal.Signals) -> None:
    def work() -> Made:
        first = part("first", "it", lambda: "first", lambda _: "")
        second = part("second", "it", lambda: die(number).text, lambda why: why)
        third = part("third", "it", lambda: "third", lambda _: "")
        return Made(f"{first} {third}", lost=(second,))

    found = guarded(Made, work, "it")
    assert found.text == "first third"
    assert number.name in found.lost[0]


def test_each_of_several_parts_may_die() -> None:
    def work() -> Made:
        made = [part(name, "it", lambda: die(signal.SIGSEGV).text, lambda _: "lost") for name in ("a", "b", "c")]
        return Made(" ".join(made))

    assert guarded(Made, work, "it").text == "lost lost lost"


@pytest.mark.parametrize("number", DEATHS)
def test_a_death_outside_of_parts_is_one_line(number: signal.Signals) -> None:
    with pytest.raises(BadInput, match=rf"^it: internal: .*{number.name}$"):
        guarded(Made, lambda: die(number), "it")


def test_what_stands_instead_may_die_too() -> None:
    with pytest.raises(BadInput, match="internal"):
        guarded(
            Made,
            lambda: part("a", "it", lambda: die(signal.SIGSEGV), lambda _: die(signal.SIGSEGV)),
            "it",
        )


def test_a_kill_is_the_systems() -> None:
    with pytest.raises(LimitReached, match="the system killed"):
        guarded(Made, lambda: die(signal.SIGKILL), "it")


def test_a_mistake_in_a_part_costs_that_part() -> None:
    def work() -> Made:
        return Made(part("a", "it", lambda: str(1 // 0), lambda why: why))

    assert "internal: ZeroDivisionError" in guarded(Made, work, "it").text
    assert "internal: ZeroDivisionError" in work().text  # from Python, without a child, as well


def test_a_mistake_elsewhere_is_one_line() -> None:
    with pytest.raises(BadInput, match=r"^it: internal: ZeroDivisionError: "):
        guarded(Made, lambda: Made(str(1 // 0)), "it")


def test_a_part_lets_limits_and_refusals_through() -> None:
    with pytest.raises(BadInput):
        part("a", "it", refuse, lambda why: Made(why))
    with pytest.raises(MemoryError):
        part("a", "it", lambda: (_ for _ in ()).throw(MemoryError()), lambda _: None)


def test_an_endless_recursion_is_a_mistake_not_a_death() -> None:
    def deeper() -> str:
        return deeper()

    assert "RecursionError" in guarded(Made, lambda: Made(part("a", "it", deeper, lambda why: why)), "it").text


def test_the_pipe_is_bounded_and_the_child_ended() -> None:
    """A child that has got out of its own limit is not listened to for ever."""
    told = os.pipe()

    def endless() -> Made:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        os.write(told[1], str(os.getpid()).encode())
        return Made("", bytes(310 * MIB))

    with within(Limits(memory=300 * MIB)), pytest.raises(LimitReached, match="--max-memory"):
        guarded(Made, endless, "it")
    with pytest.raises(ProcessLookupError):
        os.kill(int(os.read(told[0], 100)), 0)


def test_what_the_caller_has_mapped_already_is_not_the_files_memory() -> None:
    with mmap.mmap(-1, 2000 * MIB), within(Limits(memory=300 * MIB)):
        assert guarded(Made, lambda: Made("", bytes(50 * MIB)), "it").data == bytes(50 * MIB)
        with pytest.raises(LimitReached, match="--max-memory"):
            guarded(Made, eat, "it")
