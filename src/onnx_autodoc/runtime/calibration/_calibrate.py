"""From answers of the machine to its profile."""

from collections.abc import Sequence
from statistics import median

from onnx_autodoc.runtime.calibration._bench import Answers
from onnx_autodoc.runtime.calibration._fit import Run, Times, fit, left_out, seconds
from onnx_autodoc.runtime.calibration._profile import Pace, Profile, Spread
from onnx_autodoc.runtime.calibration.graphs import NETWORKS

_INNER = 0.8  # of the graphs that were left out lie in the range


def profile(answers: Answers, models: Sequence[Run], machine: str, date: str, threads: int) -> Profile:
    """Fitted on the benchmarks and the user's own models; the range is that of networks that were left out."""
    runs = [*answers.runs, *models]
    times = fit(runs)
    whole = [run for run in runs if run.name in NETWORKS] + list(models)
    return Profile(
        machine,
        date,
        answers.runtime,
        threads,
        answers.cache,
        answers.bandwidth,
        _paces(times, runs),
        spread(runs, whole),
    )


def spread(runs: Sequence[Run], whole: Sequence[Run]) -> Spread:
    ratios = sorted(1 / ratio for ratio in left_out(runs, whole).values())
    errors = [abs(1 / ratio - 1) for ratio in ratios]
    cut = int(len(ratios) * (1 - _INNER) / 2)
    inner = ratios[cut : len(ratios) - cut]
    return Spread(min(*inner, 1.0), max(*inner, 1.0), median(errors), len(ratios))


def _paces(times: Times, runs: Sequence[Run]) -> dict[str, Pace]:
    errors = {run.name: abs(seconds(run.totals, times) / run.seconds - 1) for run in runs}
    found = {}
    for pace in sorted({pace for pace, _ in times}):
        having = [errors[run.name] for run in runs if any(key[0] == pace for key in run.totals)]
        own = {name: time for (each, name), time in sorted(times.items()) if each == pace}
        found[pace] = Pace(own, len(having), median(having))
    return found
