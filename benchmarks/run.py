"""Speed and memory as ratios, each measured against a peer or a floor in the same run.

`python -m benchmarks.run` makes the models it needs (the largest is sparse on disk), prints a table and fails if a bar
is missed.
"""

import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks._measure import best, ours, python
from benchmarks._models import repeated, with_external_weights, with_inline_weights, without_weights
from onnx_autodoc.analysis import Figures, measure
from onnx_autodoc.analysis.parameters import parameters
from onnx_autodoc.architecture import describe
from onnx_autodoc.lint import LintContext, check
from onnx_autodoc.readers import read_model
from onnx_autodoc.shapes import Request, bind, infer_shapes

BERT = "bert-base-qa-ts-op12"
DECODER = "smollm2-135m-kv-op17"


def made(make: Callable[..., Path], *arguments: object) -> str:
    """A model made in a process of its own: a child's peak memory starts at its parent's."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return str(pool.apply(make, arguments))


class Row(NamedTuple):
    what: str
    figure: float
    bar: float
    detail: str

    @property
    def met(self) -> bool:
        return self.figure < self.bar

    def __str__(self) -> str:
        return f"{'met ' if self.met else 'MISS'}  {self.what:<45} {self.figure:6.3f} < {self.bar:<5} {self.detail}"


def against_load(folder: Path) -> Iterator[Row]:
    """The whole card of a 435 MB model against onnx.load of it."""
    path = made(with_inline_weights, BERT, folder / "bert.onnx")
    load, card = best(python(f"import onnx; onnx.load({path!r})"), ours("card", path, "--format", "json"))
    size = f"{Path(path).stat().st_size / 1e6:.0f} MB"
    yield Row(
        f"card / onnx.load, wall time ({size})", card.wall / load.wall, 1, f"{card.wall:.2f} s / {load.wall:.2f} s"
    )
    mib = 1 << 20
    detail = f"{card.peak / mib:.0f} MiB / {load.peak / mib:.0f} MiB"
    yield Row("card / onnx.load, peak memory", card.peak / load.peak, 0.2, detail)


def flat_in_weights(folder: Path) -> Iterator[Row]:
    """2 GB of external data against the same graph without any."""
    (folder / "with").mkdir()
    bare = made(without_weights, DECODER, folder / "bare.onnx")
    full = made(with_external_weights, DECODER, folder / "with" / "model.onnx", 2_100_000_000)
    one, other = best(ours("card", bare, "--format", "json"), ours("card", full, "--format", "json"))
    yield Row(
        "2.1 GB external / no weights, wall time", other.wall / one.wall, 1.1, f"{other.wall:.2f} s / {one.wall:.2f} s"
    )
    yield Row("2.1 GB external / no weights, memory", other.peak / one.peak, 1.05, "")


def linear_in_nodes(folder: Path) -> Iterator[Row]:
    """Time per node at 64,000 nodes against 1,000, the start of Python and its libraries taken off."""
    paths = {count: made(repeated, BERT, count, folder / f"{count}.onnx") for count in (1_000, 8_000, 64_000)}
    commands = [ours("card", path, "--format", "json") for path in paths.values()]
    floor, *runs = best(ours("card", _tiny(folder), "--format", "json"), *commands, rounds=5)
    each = [(run.cpu - floor.cpu) / count for run, count in zip(runs, paths, strict=True)]
    detail = ", ".join(f"{1e6 * seconds:.0f} µs" for seconds in each)
    yield Row("time per node, 64,000 / 1,000 nodes", each[-1] / each[0], 1.3, detail)


def _tiny(folder: Path) -> str:
    return made(without_weights, "local-functions-mlp", folder / "tiny.onnx")


def start_up(folder: Path) -> Iterator[Row]:
    """--help and a small card, in CPU seconds; the floor is Python itself."""
    bare, helped, small = best(python("pass"), ours("--help"), ours("card", _tiny(folder)), rounds=9)
    yield Row("--help, CPU seconds", helped.cpu, 0.25, f"Python alone {bare.cpu:.2f} s")
    yield Row("a small model's card, wall seconds", small.wall, 1, "")


def costs(folder: Path) -> Iterator[Row]:
    """All costs of 6,849 nodes against resolving their shapes; formulas take a few times both."""
    model = read_model(without_weights(DECODER, folder / "decoder.onnx"))
    binding = bind(model, Request())
    shapes = infer_shapes(model, binding)
    floor = min(_seconds(lambda: infer_shapes(model, binding)) for _ in range(5))
    spent = min(_seconds(lambda: (Figures.of(model, shapes), parameters(model))) for _ in range(5))
    yield Row("costs / shapes, 6,849 nodes", spent / floor, 2.5, f"{spent:.2f} s / {floor:.2f} s")


def structure(folder: Path) -> Iterator[Row]:
    """Blocks, layers, family, task and drawing of 6,849 nodes against resolving their shapes."""
    model = read_model(without_weights(DECODER, folder / "decoder.onnx"))
    binding = bind(model, Request())
    shapes = infer_shapes(model, binding)
    facts = measure(model, binding, shapes)
    floor = min(_seconds(lambda: infer_shapes(model, binding)) for _ in range(5))
    spent = min(_seconds(lambda: describe(facts)) for _ in range(5))
    yield Row("structure / shapes, 6,849 nodes", spent / floor, 2.5, f"{spent:.2f} s / {floor:.2f} s")


def judged(folder: Path) -> Iterator[Row]:
    """All rules over 6,849 nodes against resolving their shapes."""
    model = read_model(without_weights(DECODER, folder / "decoder.onnx"))
    binding = bind(model, Request())
    shapes = infer_shapes(model, binding)
    facts = measure(model, binding, shapes)
    structured = describe(facts)
    floor = min(_seconds(lambda: infer_shapes(model, binding)) for _ in range(5))
    spent = min(_seconds(lambda: check(LintContext(facts, structured))) for _ in range(5))
    yield Row("rules / shapes, 6,849 nodes", spent / floor, 1, f"{spent:.2f} s / {floor:.2f} s")


def gated(folder: Path) -> Iterator[Row]:
    """A policy over a 435 MB model against its card."""
    path = made(with_inline_weights, BERT, folder / "bert.onnx")
    policy = folder / "policy.toml"
    policy.write_text('[limits]\n"compute.macs" = { max = 1e12 }\n[rules]\nfail_on = "error"\n')
    card, check = best(ours("card", path, "--format", "json"), ours("check", path, "--policy", str(policy)), rounds=7)
    yield Row(
        "check / card, wall time (435 MB)", check.wall / card.wall, 1.1, f"{check.wall:.2f} s / {card.wall:.2f} s"
    )
    yield Row("check / card, peak memory", check.peak / card.peak, 1.1, "")


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> int:
    rows: list[Row] = []
    for part in (start_up, against_load, flat_in_weights, linear_in_nodes, costs, structure, judged, gated):
        with tempfile.TemporaryDirectory() as folder:
            for row in part(Path(folder)):
                rows.append(row)
                print(row, flush=True)
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
