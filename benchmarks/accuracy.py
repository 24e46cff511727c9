"""`make accuracy`: calibrates this machine, runs every model of the corpus, and writes how far predictions are off.

All in one session, on a quiet machine: what is compared was measured side by side. Models whose weights are not there
(`make corpus` brings those of the registry) are filled with random numbers. Machines slow down by themselves, for
seconds and for minutes: benchmarks run before and after the models, models in three rounds, and the quietest median of
each counts. Takes about 20 minutes.
"""

import statistics
import sys
import tempfile
from collections.abc import Iterator

import msgspec
from msgspec import structs

from benchmarks._session import OUT, Model, Session, percentile_90
from onnx_autodoc.analysis import Facts
from onnx_autodoc.api import generation_stamp, measure_model
from onnx_autodoc.architecture import describe
from onnx_autodoc.card import Verified
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.readers import read_model
from onnx_autodoc.runtime import Options, describe_machine, make_feeds, time_model, verify_facts
from onnx_autodoc.runtime.calibration import (
    TimedGraph,
    cross_validate,
    fit_times,
    lower_facts,
    predict_seconds,
    run_benchmarks,
    sum_work,
)
from scripts.fill_weights import fill_weights
from tests import _corpus as corpus

_SECONDS = 0.3  # for each benchmark, as `calibrate` has it
_MAX_SECONDS = 3600.0  # for all benchmarks
_ROUNDS = 3


def main() -> None:
    found, not_run = run_benchmarks(_SECONDS, 0, _MAX_SECONDS, lambda _: None), dict[str, str]()
    verified, runs = _verified(found.cache_bytes, not_run)
    rounds = [dict(runs), *(_run_again(runs) for _ in range(_ROUNDS - 1))]
    single = tuple(_errors(found.graphs, list(each.values())) for each in rounds)
    later = {run.name: run.seconds for run in run_benchmarks(_SECONDS, 0, _MAX_SECONDS, lambda _: None).graphs}
    benches = tuple(_quieter(run, later[run.name]) for run in found.graphs)
    session = structs.replace(_session(benches, list(runs.values()), verified, not_run), single=single)
    OUT.write_bytes(msgspec.json.format(msgspec.json.encode(session), indent=1) + b"\n")


def _verified(cache: float, not_run: dict[str, str]) -> tuple[dict[str, Verified], dict[str, TimedGraph]]:
    verified, runs = dict[str, Verified](), dict[str, TimedGraph]()
    for name, facts in _models(not_run):
        try:
            taken = verify_facts(facts, describe(facts).samples, Options(force=True))
        except AutodocError as error:
            not_run[name] = str(error)
            continue
        assert taken.timing is not None, taken.refused
        verified[name] = taken
        runs[name] = TimedGraph(name, taken.timing.median_seconds, sum_work(lower_facts(facts), cache))
    return verified, runs


def _errors(benches: tuple[TimedGraph, ...], runs: list[TimedGraph]) -> tuple[float, float]:
    """As a user meets them: one calibration, and each model timed once."""
    found = sorted(abs(ratio - 1) for ratio in cross_validate([*benches, *runs], runs).values())
    return statistics.median(found), percentile_90(found)


def _run_again(runs: dict[str, TimedGraph]) -> dict[str, TimedGraph]:
    """This round by itself; of all rounds `runs` keeps the quietest."""
    found = dict[str, TimedGraph]()
    for name, facts in _models({}):
        if name in runs:
            again = time_model(facts.model.path, make_feeds(facts, describe(facts).samples)).timing.median_seconds
            sys.stderr.write(f"{name} {runs[name].seconds:.6f} {again:.6f}\n")
            found[name] = TimedGraph(name, again, runs[name].work)
            runs[name] = _quieter(runs[name], again)
    return found


def _quieter(run: TimedGraph, again: float) -> TimedGraph:
    return TimedGraph(run.name, min(run.seconds, again), run.work)


def _models(not_run: dict[str, str]) -> Iterator[tuple[str, Facts]]:
    for name in sorted(corpus.MODELS):
        with tempfile.TemporaryDirectory() as folder:
            real = sorted((corpus.REGISTRY / name).glob("*.onnx"))
            if not real and name not in corpus.GRAPH_NAMES:
                not_run[name] = "its weights are not here"
                continue
            yield (
                name,
                measure_model(
                    read_model(real[0] if real else fill_weights(corpus.graph(name), folder)), corpus.request(name)
                ),
            )


def _session(
    benches: tuple[TimedGraph, ...], runs: list[TimedGraph], verified: dict[str, Verified], not_run: dict[str, str]
) -> Session:
    ratios, alone, here = cross_validate([*benches, *runs], runs), fit_times(benches), describe_machine()
    loads = [each.load.worst for each in verified.values() if each.load is not None]
    models = [
        _model(run, verified[run.name], ratios[run.name] * run.seconds, predict_seconds(run.work, alone))
        for run in runs
    ]
    runtime = next(iter(verified.values())).runtime
    worst = max((load for load in loads if load is not None), default=None)
    return Session(here.cpu, here.cores, runtime, generation_stamp().at[:10], worst, tuple(models), not_run)


def _model(run: TimedGraph, taken: Verified, left: float, alone: float) -> Model:
    assert taken.timing is not None
    peak = taken.memory
    return Model(
        run.name,
        run.seconds,
        taken.timing.p95_seconds,
        left,
        alone,
        taken.agreement,
        peak.peak_bytes if peak else None,
        peak.card_bytes if peak else None,
    )


if __name__ == "__main__":
    main()
