"""Deferred signals: delivered after the block, also if another thread of the process takes them."""

import os
import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from onnx_autodoc.sandbox import defer_signals


class Alarm(Exception):
    pass


def raise_alarm(_: int, __: FrameType | None) -> None:
    raise Alarm


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    numbers = {signal.SIGALRM: raise_alarm, signal.SIGHUP: signal.SIG_IGN, signal.SIGTERM: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in numbers.items()}
    yield
    unchanged = {number: signal.signal(number, handler) for number, handler in before.items()}
    assert unchanged == numbers
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


@pytest.mark.parametrize("unblocked", [(), (signal.SIGALRM,)])
def test_exception_of_a_handler_is_raised_after_the_block(unblocked: tuple[signal.Signals, ...]) -> None:
    """A signal that is not blocked is like one that a library's thread takes: Python runs the handler at once."""
    steps = []
    with pytest.raises(Alarm), defer_signals():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, unblocked)
        os.kill(os.getpid(), signal.SIGALRM)
        steps.append("end of the block")
    assert steps == ["end of the block"]


def test_all_handlers_are_restored_if_one_raises_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    set_handler = signal.signal

    def set_handler_and_raise(number: int, handler: object) -> object:
        previous = set_handler(number, handler)  # type: ignore[arg-type]
        if handler is raise_alarm:
            monkeypatch.undo()
            raise Alarm
        return previous

    with pytest.raises(Alarm), defer_signals():
        monkeypatch.setattr(signal, "signal", set_handler_and_raise)


def test_ignored_signals_stay_ignored_in_the_block() -> None:
    """A worker that is forked in the block inherits them: a command under nohup survives the end of its terminal."""
    with defer_signals():
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
