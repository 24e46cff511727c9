"""How far reading has come, for a person who waits: one line, on a terminal only, and only where it takes long."""

import sys
import time
from typing import Final

_PATIENCE: Final = 1.0  # seconds before the first line
_BETWEEN: Final = 0.2


class Progress:
    def __init__(self, total: int) -> None:
        self._total, self._done = max(total, 1), 0
        self._shown = False
        self._next = time.monotonic() + _PATIENCE if sys.stderr is not None and sys.stderr.isatty() else None

    def add(self, nbytes: int) -> None:
        self._done += nbytes
        if self._next is not None and time.monotonic() >= self._next:
            share = min(self._done / self._total, 1)
            sys.stderr.write(f"\rreading weights: {share:4.0%} of {self._total / 1e9:.1f} GB ")
            sys.stderr.flush()
            self._shown, self._next = True, time.monotonic() + _BETWEEN

    def close(self) -> None:
        """Leave the line empty."""
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
