"""The stored session of `make accuracy`, and its figures for the generated pages."""

import statistics
from pathlib import Path

import msgspec
from msgspec import Struct

from onnx_autodoc.card import Agreement, Measured
from onnx_autodoc.text import format_bytes, format_number, format_percent, format_time

OUT = Path(__file__).parent / "accuracy.json"
Line = tuple[object, ...]


class Model(Struct, frozen=True):
    """Predicted seconds. `left_out`: fitted on benchmarks and all other models; `alone`: on benchmarks only."""

    name: str
    measured: float
    p95: float
    left_out: float
    alone: float
    agreement: Agreement
    peak_measured: int | None
    peak_card: int | None

    @property
    def peak_ratio(self) -> float | None:
        """Return None for a peak that is too small to be distinguished from the process's own memory."""
        if self.peak_card is None or self.peak_measured is None or self.peak_measured < Measured.LEAST:
            return None
        return self.peak_measured / self.peak_card


class Session(Struct, frozen=True):
    machine: str
    cores: int
    runtime: str
    date: str
    load: float | None  # largest share of the machine used by other processes while a model was timed
    models: tuple[Model, ...]
    not_run: dict[str, str]
    single: tuple[tuple[float, float], ...] = ()  # per round, with one calibration: median and 90th percentile

    def errors(self, which: str) -> list[float]:
        return sorted(abs(getattr(model, which) / model.measured - 1) for model in self.models)


def load_session() -> Session:
    return msgspec.json.decode(OUT.read_bytes(), type=Session)


def percentile_90(errors: list[float]) -> float:
    """Return the 90th percentile of sorted errors."""
    return errors[min(len(errors) - 1, int(0.9 * len(errors)))]


def predictions(session: Session) -> list[Line]:
    ordered = sorted(session.models, key=lambda model: -abs(model.left_out / model.measured - 1))
    return [
        (
            model.name,
            format_time(model.measured),
            format_number(model.left_out / model.measured),
            format_number(model.alone / model.measured),
        )
        for model in ordered
    ]


def peaks(session: Session) -> list[Line]:
    """Return the rows of peak activations by card and by run, largest first."""
    known = [model for model in session.models if model.peak_ratio is not None]
    known.sort(key=lambda model: -(model.peak_card or 0))
    return [
        (
            model.name,
            format_bytes(model.peak_card or 0),
            format_bytes(model.peak_measured or 0),
            format_number(model.peak_ratio or 0.0),
        )
        for model in known
    ]


def summarize_session(session: Session) -> dict[str, object]:
    """Return the figures of docs/accuracy.md."""
    ratios = sorted(model.peak_ratio for model in session.models if model.peak_ratio is not None)
    sums = {
        name: sum(getattr(model.agreement, name) for model in session.models)
        for name in ("executed", "agreed", "unknown_to_us", "differed")
    }
    left_out_errors, benchmark_errors, cut = session.errors("left_out"), session.errors("alone"), len(ratios) // 10
    return {
        "count": len(session.models),
        "cores": session.cores,
        "machine": session.machine,
        "runtime": session.runtime,
        "date": session.date,
        "load": format_percent(session.load) if session.load is not None else "an unknown share",
        "left_median": format_percent(statistics.median(left_out_errors)),
        "left_most": format_percent(percentile_90(left_out_errors)),
        "single": "; ".join(f"{format_percent(middle)} and {format_percent(far)}" for middle, far in session.single),
        "alone_median": format_percent(statistics.median(benchmark_errors)),
        "alone_most": format_percent(percentile_90(benchmark_errors)),
        "not_run": "; ".join(f"{name} ({why})" for name, why in session.not_run.items()) or "none",
        "executed": f"{sums['executed']:,}",
        "agreed": f"{sums['agreed']:,}",
        "unknown": f"{sums['unknown_to_us']:,}",
        "differed": f"{sums['differed']:,}",
        "peaks": len(ratios),
        "peak_median": format_number(statistics.median(ratios)),
        "peak_low": format_number(ratios[cut]),
        "peak_high": format_number(ratios[-1 - cut]),
    }
