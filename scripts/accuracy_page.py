"""docs/accuracy.md: how far estimates are off, by grade. `make docs` writes it from measurements in the repository."""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from benchmarks._session import kept, peaks, predictions, told
from onnx_autodoc.text import percent, three
from scripts.left_out import Left, left_out
from scripts.published import Published, all_published

HEAD = """# How good the numbers are

Four grades, never mixed up. What is **measured** was taken on your machine by `verify`. The others are estimates; this
page holds each of them against measurements. It is written by `make docs` from data in the repository.

## Bound: cannot be faster than

{rows} published measurements of {models} models on {devices} devices, from {sources} sources
(`tests/data/published/`). For each of them our own tool counted an ONNX graph of the model at the sizes of the
measurement. **None beats the bound**, but {below} of MLPerf's BERT rows, whose rules let them drop the padding of short
texts: they did less than the model.

How far reality is from the bound, by device (measured time / bound):

{bounds}
## Typical: from published measurements

The factors are taken from the measurements nearest to a case. Here every measurement was predicted from those of all
*other* sources, {fair} in all (those that dropped padding, and whole conversations of language models, are left out).
Sources may be twins, one model with two versions of a runtime; so also from those of all other *publishers*.

| what the user says | left out | with a range | median error | inside the range | high / low |
|---|---|---|---|---|---|
{totals}
By platform and kind of work, the runtime not said:

{groups}
By source, where it fails worst (median error over 60 %):

{worst}
Where nothing published is near (accelerators of AMD, Intel and Google, phones other than Qualcomm's, large decoders at
large batches), there is no range at all, only the bound. Where only one source speaks, the table above has *nothing
near*: its ranges ship, and nothing here says how good they are.

"""

CALIBRATED = """## Calibrated: after `onnx-autodoc calibrate`

{count} models of the corpus on {cores} cores of {machine}, onnxruntime {runtime}, {date}, at most {load} of the machine
used by others: calibrated, then each model run, all in one session (`make accuracy`; models whose weights are not
public hold random ones). *Left out*: predicted from the benchmarks and all other models. *Benchmarks alone*: what
`calibrate` without a model knows.

| | median error | 90 of 100 within |
|---|---|---|
| left out | {left_median} | {left_most} |
| benchmarks alone | {alone_median} | {alone_most} |

These are of the quietest of three measurements of each model, minutes apart, and of two calibrations: this machine
slows down by itself, up to 1.7 times between two rounds. **One calibration and one measurement, as you would take them,
do worse**: left out, the three rounds had errors of {single} (median, and 90 of 100 within).
The predictions are the same ones: how quiet the machine is moves the figures by as much.

Every model, the worst first (predicted / measured):

{models}
Not run: {not_run}.

## Measured: what `verify` finds

In the same session: of {executed} nodes that onnxruntime ran, {agreed} had the outputs that the card says, of {unknown}
the card says that the data decide, {differed} differed. Peak activations, measured / card, over the {peaks} models that
took a MiB or more (less cannot be told from what a system does by itself): median {peak_median}, eight of ten between
{peak_low} and {peak_high}. The card counts what is alive; a kernel's own buffers come on top, and weights that it turns
or widens, in a run without optimisations.

{peak_table}"""


def page() -> str:
    return _head() + _calibrated()


def _calibrated() -> str:
    session = kept()
    models = table(("model", "measured", "left out", "benchmarks alone"), predictions(session))
    peak_table = table(("model", "card", "measured", "ratio"), peaks(session))
    return CALIBRATED.format(**told(session), models=models, peak_table=peak_table)


def _head() -> str:
    rows, said = all_published(), left_out(False)
    return HEAD.format(
        rows=len(rows),
        models=len({row.model for row in rows}),
        devices=len({row.device.id for row in rows}),
        sources=len({row.source for row in rows}),
        below=sum(row.seconds <= (row.bound or 0.0) for row in rows),
        bounds=_bounds(rows),
        fair=len(said),
        totals="".join(_totals()),
        groups=_groups(said),
        worst=_worst(said),
    )


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def grouped(items: Iterable[Any], key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    found = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return dict(sorted(found.items()))


def _bounds(rows: Sequence[Published]) -> str:
    lines = []
    for device, some in grouped(rows, lambda row: row.device.id).items():
        factors = [row.seconds / row.bound for row in some]
        lines.append((device, len(some), *(three(each(factors)) for each in (min, statistics.median, max))))
    return table(("device", "rows", "least", "median", "most"), lines)


def _errors(some: Sequence[Left]) -> list[float]:
    return [each.error for each in some if each.error is not None]


def _totals() -> Iterator[str]:
    for what, far in (("the source", False), ("the publisher", True)):
        yield _total("nothing", what, left_out(False, far))
        yield _total("the runtime", what, left_out(True, far))


def _total(name: str, what: str, some: Sequence[Left]) -> str:
    said = [each for each in some if each.error is not None]
    width = statistics.median(each.width for each in said)
    inside = sum(each.inside for each in said) / len(said)
    line = (
        name,
        what,
        f"{len(said)} of {len(some)}",
        percent(statistics.median(_errors(some))),
        percent(inside),
        three(width),
    )
    return f"| {' | '.join(line)} |\n"


def _groups(some: Sequence[Left]) -> str:
    lines = []
    for (platform, work), each in grouped(some, lambda left: (left.point.platform, left.point.work)).items():
        errors = _errors(each)
        inside = percent(sum(left.inside for left in each) / len(errors)) if errors else "nothing near"
        lines.append(
            (platform, work, len(each), len(errors), percent(statistics.median(errors)) if errors else "", inside)
        )
    return table(("platform", "work", "rows", "with a range", "median error", "inside"), lines)


def _worst(some: Sequence[Left]) -> str:
    lines = []
    for source, each in grouped(some, lambda left: left.point.source).items():
        errors, ratios = _errors(each), [left.ratio for left in each if left.ratio is not None]
        if errors and statistics.median(errors) > 0.6:
            ratio = statistics.median(ratios)
            word = f"{three(ratio)} × too long" if ratio > 1 else f"{three(1 / ratio)} × too short"
            lines.append((source, len(each), percent(statistics.median(errors)), word))
    return table(("source", "rows", "median error", "expected times are"), lines)


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
