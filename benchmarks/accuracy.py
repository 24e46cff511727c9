"""`make accuracy`: calibrates this machine, runs every model of the corpus, and writes how far predictions are off.

All in one session, on a quiet machine: what is compared was measured side by side. Models whose weights are not there
(`make corpus` brings those of the registry) are filled with random numbers. Takes about ten minutes.
"""

import sys
import tempfile
from collections.abc import Iterator

import msgspec

from benchmarks._session import OUT, Model, Session
from onnx_autodoc.api import facts_of, generated
from onnx_autodoc.calibrate import Run, answers, fitted, left_out, lowered_facts, seconds, totals
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.facts import Facts
from onnx_autodoc.read import read
from onnx_autodoc.run import Options, Verified, feeds_of, machine, timed, verify_facts
from onnx_autodoc.structure import describe
from scripts.filled import filled
from tests import _corpus as corpus


def main() -> None:
    found = answers(0.3, 0, lambda *_: None)
    runs, verified, not_run = [], dict[str, Verified](), dict[str, str]()
    for name, facts in _models(not_run):
        try:
            taken = verify_facts(facts, describe(facts).samples, Options(force=True))
        except AutodocError as error:
            not_run[name] = str(error)
            continue
        assert taken.timing is not None, taken.refused
        verified[name] = taken
        runs.append(Run(name, _quietest(facts, taken), totals(lowered_facts(facts), found.cache)))
        sys.stderr.write(f"{name} {taken.timing.median_seconds:.6f} {runs[-1].seconds:.6f} {taken.load}\n")
    session = _session(found.runs, runs, verified, not_run)
    OUT.write_bytes(msgspec.json.format(msgspec.json.encode(session), indent=1) + b"\n")


def _quietest(facts: Facts, taken: Verified) -> float:
    """The median of the quieter of two measurements, as with benchmarks: machines slow down by themselves."""
    assert taken.timing is not None
    again = timed(facts.model.path, feeds_of(facts, describe(facts).samples))
    return min(taken.timing.median_seconds, again.median_seconds)


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
    most = max((load for load in loads if load is not None), default=None)
    return Session(here.cpu, here.cores, runtime, generated().at[:10], most, tuple(models), not_run)


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
