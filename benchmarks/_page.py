"""The text of docs/scoreboard.md: a summary on top, how it was made, then every tool on every model."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from benchmarks._entries import Entry
from benchmarks._results import LIMIT, Result
from benchmarks._session import kept, peaks
from benchmarks._verdicts import Verdict, percent, verdict

VERDICTS = [each.value for each in Verdict]
MIB = 1 << 20
INTRODUCTION = """\
What tools that read ONNX files say of the models of the corpus, against the recorded truth. Written by
`make scoreboard`, not by hand."""
CONDITIONS = f"""\
Every tool reads the same file: the recorded input sizes are written into it, and the weights that the corpus leaves out
are random numbers of the same shape. Each run is a process of its own, once, one after the other, with {LIMIT:.0f} s to
answer. Wall time includes the start of the tool; peak memory is the largest resident set. The truth is what the corpus
records: half of `flops_2mac`, and `weights_in_file` within `weights_tolerance`, which leaves scales, zero points and
running statistics out. A figure that its tool calls a lower bound is marked ≥."""


class Column(NamedTuple):
    """One tool: how it was asked, and its result on each model."""

    tool: str
    version: str
    asked: str
    results: Mapping[str, Result]


def page(models: Sequence[Entry], columns: Sequence[Column]) -> str:
    counted = [model for model in models if model.params is not None]
    tools = [column.tool for column in columns]
    parts = [
        *summary(models, counted, columns),
        *making(columns),
        "## MACs",
        table(["model", "truth", *tools], [macs_row(model, columns) for model in models]),
        "## Parameters",
        table(["model", "truth", *tools], [params_row(model, columns) for model in counted]),
        "## Wall time and peak memory",
        table(["model", *tools], [cost_row(model, columns) for model in models]),
        *measured(),
    ]
    return "\n\n".join(parts) + "\n"


def measured() -> list[str]:
    """Our peak of activations against the one of a run, from the last `make accuracy`."""
    session = kept()
    rows = [[str(cell) for cell in line] for line in peaks(session)]
    words = f"Of ours, by `onnx-autodoc verify` on {session.date} (docs/accuracy.md): no other tool here says a peak."
    return ["## Peak activations, measured", words, table(["model", "card", "measured", "ratio"], rows)]


def summary(models: Sequence[Entry], counted: Sequence[Entry], columns: Sequence[Column]) -> list[str]:
    return [
        "# Scoreboard",
        INTRODUCTION,
        f"Multiply-adds (MACs) of {len(models)} models. Time and memory are medians over the models a tool answered.",
        table(["tool", "version", *VERDICTS, "time", "memory"], [macs_summary(models, each) for each in columns]),
        f"Parameters of the {len(counted)} models whose count is recorded.",
        table(["tool", *VERDICTS], [params_summary(counted, each) for each in columns]),
    ]


def macs_summary(models: Sequence[Entry], column: Column) -> list[str]:
    verdicts = Counter(macs_verdict(model, column.results[model.name]) for model in models)
    answered = [result for result in column.results.values() if result.answered]
    cost = [seconds([each.wall for each in answered]), memory([each.peak for each in answered])]
    return [column.tool, column.version, *(str(verdicts[each]) for each in Verdict), *cost]


def params_summary(models: Sequence[Entry], column: Column) -> list[str]:
    verdicts = Counter(params_verdict(model, column.results[model.name]) for model in models)
    return [column.tool, *(str(verdicts[each]) for each in Verdict)]


def making(columns: Sequence[Column]) -> list[str]:
    return [
        "## How it was made",
        CONDITIONS,
        "\n".join(f"- **{column.tool}**: {' '.join(column.asked.split())}" for column in columns),
    ]


def macs_row(model: Entry, columns: Sequence[Column]) -> list[str]:
    results = [column.results[model.name] for column in columns]
    cells = [cell(each.macs, model.macs, macs_verdict(model, each), each) for each in results]
    return [model.name, f"{model.macs:,}", *cells]


def params_row(model: Entry, columns: Sequence[Column]) -> list[str]:
    results = [column.results[model.name]._replace(at_least=False) for column in columns]
    truth = model.params or 0
    cells = [cell(each.params, truth, params_verdict(model, each), each) for each in results]
    return [model.name, f"{truth:,}", *cells]


def cost_row(model: Entry, columns: Sequence[Column]) -> list[str]:
    results = [column.results[model.name] for column in columns]
    return [model.name, *(f"{seconds([each.wall])}, {memory([each.peak])}" for each in results)]


def macs_verdict(model: Entry, result: Result) -> Verdict:
    return verdict(result.macs, model.macs, at_least=result.at_least)


def params_verdict(model: Entry, result: Result) -> Verdict:
    return verdict(result.params, model.params or 0, model.tolerance)


def cell(figure: int | None, truth: int, judged: Verdict, result: Result) -> str:
    if figure is None:
        return result.failure or "no answer"
    mark = "≥ " if result.at_least else ""
    return f"{mark}exact" if judged is Verdict.EXACT else f"{mark}{figure:,} ({percent(figure, truth)})"


def seconds(walls: Sequence[float]) -> str:
    return f"{median(walls):.2f} s" if walls else "-"


def memory(peaks: Sequence[int]) -> str:
    return f"{median(peaks) / MIB:.0f} MiB" if peaks else "-"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A bar inside a cell would begin another cell."""
    lines = [[each.replace("|", "\\|") for each in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])
