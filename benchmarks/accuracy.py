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

from benchmarks._session import OUT, Model, Session, most
from onnx_autodoc.analysis import Facts
from onnx_autodoc.api import facts_of, generated
from onnx_autodoc.architecture import describe
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.readers import read
from onnx_autodoc.runtime import Options, Verified, feeds_of, machine, timed, verify_facts
from onnx_autodoc.runtime.calibration import Run, answers, fitted, left_out, lowered_facts, seconds, totals
from scripts.filled import filled
from tests import _corpus as corpus

_SECONDS = 0.3  # for each benchmark, as `calibrate` has it
_ROUNDS = 3


def main() -> None:
    found, not_run = answers(_SECONDS, 0, lambda *_: None), dict[str, str]()
    verified, runs = _verified(found.cache, not_run)
    rounds = [dict(runs), *(_run_again(runs) for _ in range(_ROUNDS - 1))]
    single = tuple(_errors(found.runs, list(each.values())) for each in rounds)
    later = {run.name: run.seconds for run in answers(_SECONDS, 0, lambda *_: None).runs}
    benches = tuple(_quieter(run, later[run.name]) for run in found.runs)
    session = structs.replace(_session(benches, list(runs.values()), verified, not_run), single=single)
    OUT.write_bytes(msgspec.json.format(msgspec.json.encode(session), indent=1) + b"\n")


def _verified(cache: float, not_run: dict[str, str]) -> tuple[dict[str, Verified], dict[str, Run]]:
    verified, runs = dict[str, Verified](), dict[str, Run]()
    for name, facts in _models(not_run):
        try:
            taken = verify_facts(facts, describe(facts).samples, Options(force=True))
        except AutodocError as error:
            not_run[name] = str(error)
            continue
        assert taken.timing is not None, taken.refused
        verified[name] = taken
        runs[name] = Run(name, taken.timing.median_seconds, totals(lowered_facts(facts), cache))
    return verified, runs


def _errors(benches: tuple[Run, ...], runs: list[Run]) -> tuple[float, float]:
    """As a user meets them: one calibration, and each model timed once."""
    found = sorted(abs(ratio - 1) for ratio in left_out([*benches, *runs], runs).values())
    return statistics.median(found), most(found)


def _run_again(runs: dict[str, Run]) -> dict[str, Run]:
    """This round by itself; of all rounds `runs` keeps the quietest."""
    found = dict[str, Run]()
    for name, facts in _models({}):
        if name in runs:
            again = timed(facts.model.path, feeds_of(facts, describe(facts).samples)).median_seconds
            sys.stderr.write(f"{name} {runs[name].seconds:.6f} {again:.6f}\n")
            found[name] = Run(name, again, runs[name].totals)
            runs[name] = _quieter(runs[name], again)
    return found


def _quieter(run: Run, again: float) -> Run:
    return Run(run.name, min(run.seconds, again), run.totals)


def _models(not_run: dict[str, str]) -> Iterator[tuple[str, Facts]]:
    for name in sorted(corpus.MODELS):
        with tempfile.TemporaryDirectory() as folder:
            real = sorted((corpus.REGISTRY / name).glob("*.onnx"))
            if not real and name not in corpus.KEPT:
                not_run[name] = "its weights are not here"
                continue
            yield name, facts_of(read(real[0] if real else filled(corpus.graph(name), folder)), corpus.request(name))


def _session(
    benches: tuple[Run, ...], runs: list[Run], verified: dict[str, Verified], not_run: dict[str, str]
) -> Session:
    ratios, alone, here = left_out([*benches, *runs], runs), fitted(benches), machine()
    loads = [each.load.worst for each in verified.values() if each.load is not None]
    models = [
        _model(run, verified[run.name], ratios[run.name] * run.seconds, seconds(run.totals, alone)) for run in runs
    ]
    runtime = next(iter(verified.values())).runtime
    worst = max((load for load in loads if load is not None), default=None)
    return Session(here.cpu, here.cores, runtime, generated().at[:10], worst, tuple(models), not_run)


def _model(run: Run, taken: Verified, left: float, alone: float) -> Model:
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
