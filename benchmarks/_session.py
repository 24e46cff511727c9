"""What `make accuracy` found, as the pages tell it."""

import statistics
from pathlib import Path

import msgspec
from msgspec import Struct

from onnx_autodoc.card import Agreement, Measured
from onnx_autodoc.text import format_memory, format_number, format_percent, format_time

OUT = Path(__file__).parent / "accuracy.json"
Line = tuple[object, ...]


class Model(Struct, frozen=True):
    """`left_out`: predicted where all other models and the benchmarks were known; `alone`: by the benchmarks alone."""

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
        """None where the peak is too small to be told from what the system itself does."""
        if self.peak_card is None or self.peak_measured is None or self.peak_measured < Measured.LEAST:
            return None
        return self.peak_measured / self.peak_card


class Session(Struct, frozen=True):
    machine: str
    cores: int
    runtime: str
    date: str
    load: float | None  # the most that others used of the machine while a model was timed
    models: tuple[Model, ...]
    not_run: dict[str, str]
    single: tuple[tuple[float, float], ...] = ()  # each round alone with one calibration: median and most of the errors

    def errors(self, which: str) -> list[float]:
        return sorted(abs(getattr(model, which) / model.measured - 1) for model in self.models)


def kept() -> Session:
    return msgspec.json.decode(OUT.read_bytes(), type=Session)


def most(errors: list[float]) -> float:
    """The error that nine of ten stay within."""
    return errors[min(len(errors) - 1, int(0.9 * len(errors)))]


def predictions(session: Session) -> list[Line]:
    ordered = sorted(session.models, key=lambda model: -abs(model.left_out / model.measured - 1))
    return [
        (
            each.name,
            format_time(each.measured),
            format_number(each.left_out / each.measured),
            format_number(each.alone / each.measured),
        )
        for each in ordered
    ]


def peaks(session: Session) -> list[Line]:
    """Peak activations by the card and by a run, the largest first."""
    known = [each for each in session.models if each.peak_ratio is not None]
    known.sort(key=lambda each: -(each.peak_card or 0))
    return [
        (
            each.name,
            format_memory(each.peak_card or 0),
            format_memory(each.peak_measured or 0),
            format_number(each.peak_ratio or 0.0),
        )
        for each in known
    ]


def told(session: Session) -> dict[str, object]:
    """The figures of the page on accuracy."""
    ratios = sorted(each.peak_ratio for each in session.models if each.peak_ratio is not None)
    sums = {
        name: sum(getattr(each.agreement, name) for each in session.models)
        for name in ("executed", "agreed", "unknown_to_us", "differed")
    }
    left, alone, cut = session.errors("left_out"), session.errors("alone"), len(ratios) // 10
    return {
        "count": len(session.models),
        "cores": session.cores,
        "machine": session.machine,
        "runtime": session.runtime,
        "date": session.date,
        "load": format_percent(session.load) if session.load is not None else "an unknown share",
        "left_median": format_percent(statistics.median(left)),
        "left_most": format_percent(most(left)),
        "single": "; ".join(f"{format_percent(middle)} and {format_percent(far)}" for middle, far in session.single),
        "alone_median": format_percent(statistics.median(alone)),
        "alone_most": format_percent(most(alone)),
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
