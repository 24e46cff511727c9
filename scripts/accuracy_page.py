"""Generate docs/accuracy.md, the error of the estimates by grade, from measurements in the repository: `make docs`."""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from benchmarks._session import load_session, peaks, predictions, summarize_session
from onnx_autodoc.text import format_number, format_percent
from scripts.cross_validation import Prediction, cross_validate
from scripts.published import Published, load_published

HEAD = """# Accuracy of the estimates

A time has one of four grades. **Measured** times come from `verify` on your machine. The other three are estimates;
this page compares each of them with measurements. `make docs` generates it from data in the repository.

## Lower bound

{rows} published measurements of {models} models on {devices} devices, from {sources} sources
(`tests/data/published/`). For each of them the tool counted an ONNX graph of the model at the sizes of the measurement.
**None is faster than the lower bound**, except {below} of MLPerf's BERT rows, whose rules allow dropping the padding of
short texts: these ran less work than the model.

Measured time / lower bound, by device:

{bounds}
## Typical: from published measurements

The factors come from the most similar measurements. For this table every measurement was predicted from those of all
*other* sources, {fair} in all (without those that dropped padding and without whole conversations of language
models). Two sources may be nearly the same, such as one model with two versions of a runtime. Each measurement was
therefore also predicted from those of all other *publishers*.

| given by the user | left out | with a range | median error | inside the range | high / low |
|---|---|---|---|---|---|
{totals}
By platform and kind of work, without a given runtime:

{groups}
Sources with the largest errors (median error over 60%):

{worst}
If no similar measurement is published (accelerators of AMD, Intel and Google, phones without Qualcomm chips, large
decoders at large batches), there is no range, only the lower bound. For groups with a single source, the table above
has *nothing near*: the tool reports ranges from that source, but their error cannot be measured here.

"""

CALIBRATED = """## Calibrated: after `onnx-autodoc calibrate`

{count} models of the corpus on {cores} cores of {machine}, onnxruntime {runtime}, {date}, at most {load} of the machine
used by other processes. One session calibrated the machine and then ran each model (`make accuracy`; models without
public weights have random ones). *Left out*: predicted from the benchmarks and all other models. *Benchmarks alone*:
predicted from `calibrate` without models.

| | median error | 90th percentile |
|---|---|---|
| left out | {left_median} | {left_most} |
| benchmarks alone | {alone_median} | {alone_most} |

These errors use the quietest of three measurements of each model, minutes apart, and of two calibrations, because the
speed of this machine varies by up to 1.7 times between two rounds. **One calibration and one measurement, the usual
case, have larger errors**: left out, the three rounds had errors of {single} (median and 90th percentile). The
predictions are the same; the difference comes from the load of the machine.

All models, largest error first (predicted / measured):

{models}
Not run: {not_run}.

## Measured: results of `verify`

In the same session onnxruntime ran {executed} nodes: the outputs of {agreed} match the card, {unknown} depend on data
according to the card, {differed} differed. Peak activations, measured / card, over the {peaks} models that used 1 MiB
or more (less is within system noise): median {peak_median}, eight out of ten between {peak_low} and {peak_high}. The
card counts live values; kernel buffers, and weights that an unoptimized run transposes or widens, are additional.

{peak_table}"""


def page() -> str:
    return _head() + _calibrated()


def _calibrated() -> str:
    session = load_session()
    models = table(("model", "measured", "left out", "benchmarks alone"), predictions(session))
    peak_table = table(("model", "card", "measured", "ratio"), peaks(session))
    return CALIBRATED.format(**summarize_session(session), models=models, peak_table=peak_table)


def _head() -> str:
    rows, said = load_published(), cross_validate(False)
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
        lines.append((device, len(some), *(format_number(each(factors)) for each in (min, statistics.median, max))))
    return table(("device", "rows", "least", "median", "most"), lines)


def _errors(some: Sequence[Prediction]) -> list[float]:
    return [each.error for each in some if each.error is not None]


def _totals() -> Iterator[str]:
    for what, far in (("the source", False), ("the publisher", True)):
        yield _total("nothing", what, cross_validate(False, far))
        yield _total("the runtime", what, cross_validate(True, far))


def _total(name: str, what: str, some: Sequence[Prediction]) -> str:
    said = [each for each in some if each.error is not None]
    width = statistics.median(each.width for each in said)
    inside = sum(each.is_inside for each in said) / len(said)
    line = (
        name,
        what,
        f"{len(said)} of {len(some)}",
        format_percent(statistics.median(_errors(some))),
        format_percent(inside),
        format_number(width),
    )
    return f"| {' | '.join(line)} |\n"


def _groups(some: Sequence[Prediction]) -> str:
    lines = []
    for (platform, work), each in grouped(some, lambda left: (left.point.platform, left.point.work)).items():
        errors = _errors(each)
        inside = format_percent(sum(left.is_inside for left in each) / len(errors)) if errors else "nothing near"
        lines.append(
            (
                platform,
                work,
                len(each),
                len(errors),
                format_percent(statistics.median(errors)) if errors else "",
                inside,
            )
        )
    return table(("platform", "work", "rows", "with a range", "median error", "inside"), lines)


def _worst(some: Sequence[Prediction]) -> str:
    lines = []
    for source, each in grouped(some, lambda left: left.point.source).items():
        errors, ratios = _errors(each), [left.ratio for left in each if left.ratio is not None]
        if errors and statistics.median(errors) > 0.6:
            ratio = statistics.median(ratios)
            word = f"{format_number(ratio)} × too long" if ratio > 1 else f"{format_number(1 / ratio)} × too short"
            lines.append((source, len(each), format_percent(statistics.median(errors)), word))
    return table(("source", "rows", "median error", "expected times are"), lines)


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
