"""How long a model takes on a calibrated machine, from its graph alone."""

from collections.abc import Sequence

from msgspec import Struct

from onnx_autodoc.runtime.calibration._fit import RUN, USUAL, far_share, seconds, task_totals, variety
from onnx_autodoc.runtime.calibration._profile import Profile
from onnx_autodoc.runtime.calibration._tasks import Task


class Prediction(Struct, frozen=True):
    """Seconds of one run. `rows` has those of each node by row number; what onnxruntime adds itself is in `added`."""

    low: float
    expected: float
    high: float
    rows: dict[int, float]
    added: float
    covered_time: float  # the share of the expected time at paces that were measured


def predict(tasks: Sequence[Task], profile: Profile) -> Prediction:
    times, share = profile.times(), far_share(tasks, profile.cache)
    changing = variety(tasks)
    each = [seconds(task_totals(task, share, changing), times) for task in tasks]
    start = times.get(RUN, USUAL[RUN[1]])
    expected = start + sum(each)
    known = [task.pace in profile.paces for task in tasks]
    covered = start + sum(time for time, measured in zip(each, known) if measured)
    rows: dict[int, float] = {}
    for task, time in zip(tasks, each):
        for row in task.rows[:1]:  # the node that the kernel is named by; what was joined to it takes no more
            rows[row] = rows.get(row, 0.0) + time
    return Prediction(
        low=expected * profile.spread.low,
        expected=expected,
        high=expected * profile.spread.high,
        rows=rows,
        added=expected - sum(rows.values()),
        covered_time=covered / expected if expected else 1.0,
    )
