"""Parts of the work that can be done without: one that fails costs its section, not the card."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Final, TypeVar

from onnx_autodoc.errors import AutodocError

T = TypeVar("T")

_LEFT_OUT: Final[ContextVar[Mapping[str, str] | None]] = ContextVar("left_out", default=None)  # with why
_TELL: Final[ContextVar[Callable[[str], None] | None]] = ContextVar("tell", default=None)
_LONGEST: Final = 200  # letters of an exception


def part(name: str, of: str, work: Callable[[], T], instead: Callable[[str], T]) -> T:
    """What `work` gives; where it fails, or a process has died of it, what there is instead, which is told why.

    `of` is the file that it is part of the work on: what one model costs, another one keeps.
    """
    key = f"{name} of {of}"
    why = (_LEFT_OUT.get() or {}).get(key)
    if why is not None:
        return instead(why)
    _tell(key)
    try:
        return work()
    except (AutodocError, MemoryError):
        raise
    except Exception as mistake:  # whatever a file makes of our mistakes
        return instead(f"{internal(mistake)}; the rest of the card stands")
    finally:
        _tell("")


def internal(mistake: BaseException) -> str:
    """A mistake of the tool, in one line."""
    return f"internal: {type(mistake).__name__}: {str(mistake)[:_LONGEST]}"


def _tell(name: str) -> None:
    tell = _TELL.get()
    if tell is not None:
        tell(name)


def in_child(left_out: Mapping[str, str], tell: Callable[[str], None]) -> None:
    """What holds from here on, in a process that has nothing else to do."""
    _LEFT_OUT.set(left_out)
    _TELL.set(tell)
