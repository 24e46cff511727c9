"""The progress line of a verification or calibration, on standard error."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING

from onnx_autodoc.runtime.protocol import Stage

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class ProgressBar:
    """One line that disappears at the end. `steps` is the number of workers; `begin_step` starts the next one."""

    def __init__(self, steps: int) -> None:
        self._steps, self._step, self._text = steps, 0, ""
        self._progress: Progress | None = None
        self._line: TaskID | None = None

    def begin_step(self) -> None:
        self._step += 1

    def show(self, stage: Stage) -> None:
        if self._progress is None or self._line is None:
            return
        text = f"{self._step} of {self._steps}: {stage.doing}"
        if text != self._text:  # a new line, since the remaining time of one stage does not hold for the next
            self._progress.remove_task(self._line)
            self._line, self._text = self._progress.add_task(text, total=stage.of or None), text
        self._progress.update(self._line, completed=stage.done)

    def __enter__(self) -> "ProgressBar":
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(20), TimeElapsedColumn(), TimeRemainingColumn())
            # Twice a second: drawing is load on the machine that is being timed.
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=2)
            self._progress.start()
            self._line = self._progress.add_task("starting onnxruntime", total=None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()
