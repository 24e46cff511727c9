"""Speed and memory as ratios, each measured against a peer or a floor in the same run.

`python -m benchmarks.run` builds its models (the largest is sparse on disk), prints a table and fails if a bar is
missed.
"""

import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks._measure import autodoc_command, best_runs, python_command
from benchmarks._models import copy_graph, write_repeated, write_with_external_weights, write_with_inline_weights
from onnx_autodoc.analysis import Figures, measure
from onnx_autodoc.analysis.parameters import parameters
from onnx_autodoc.architecture import describe
from onnx_autodoc.lint import LintContext, check
from onnx_autodoc.readers import read_model
from onnx_autodoc.shapes import Request, bind, infer_shapes

BERT = "bert-base-qa-ts-op12"
DECODER = "smollm2-135m-kv-op17"


def build_model(make: Callable[..., Path], *arguments: object) -> str:
    """Build a model in a separate process, because a child's peak memory starts at its parent's."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return str(pool.apply(make, arguments))


class Row(NamedTuple):
    name: str
    figure: float
    bar: float
    detail: str

    @property
    def met(self) -> bool:
        return self.figure < self.bar

    def __str__(self) -> str:
        return f"{'met ' if self.met else 'MISS'}  {self.name:<45} {self.figure:6.3f} < {self.bar:<5} {self.detail}"


def card_against_load(folder: Path) -> Iterator[Row]:
    """Yield the time and memory of the card of a 435 MB model relative to onnx.load."""
    path = build_model(write_with_inline_weights, BERT, folder / "bert.onnx")
    load, card = best_runs(
        python_command(f"import onnx; onnx.load({path!r})"), autodoc_command("card", path, "--format", "json")
    )
    size = f"{Path(path).stat().st_size / 1e6:.0f} MB"
    yield Row(
        f"card / onnx.load, wall time ({size})", card.wall / load.wall, 1, f"{card.wall:.2f} s / {load.wall:.2f} s"
    )
    mib = 1 << 20
    detail = f"{card.peak / mib:.0f} MiB / {load.peak / mib:.0f} MiB"
    yield Row("card / onnx.load, peak memory", card.peak / load.peak, 0.2, detail)


def weight_scaling(folder: Path) -> Iterator[Row]:
    """Yield the cost of a card with 2.1 GB of external data relative to the same graph without weights."""
    (folder / "with").mkdir()
    bare = build_model(copy_graph, DECODER, folder / "bare.onnx")
    full = build_model(write_with_external_weights, DECODER, folder / "with" / "model.onnx", 2_100_000_000)
    without, with_weights = best_runs(
        autodoc_command("card", bare, "--format", "json"), autodoc_command("card", full, "--format", "json")
    )
    yield Row(
        "2.1 GB external / no weights, wall time",
        with_weights.wall / without.wall,
        1.1,
        f"{with_weights.wall:.2f} s / {without.wall:.2f} s",
    )
    yield Row("2.1 GB external / no weights, memory", with_weights.peak / without.peak, 1.05, "")


def node_scaling(folder: Path) -> Iterator[Row]:
    """Yield the time per node at 64,000 nodes relative to 1,000, without the start of Python and its libraries."""
    paths = {
        count: build_model(write_repeated, BERT, count, folder / f"{count}.onnx") for count in (1_000, 8_000, 64_000)
    }
    commands = [autodoc_command("card", path, "--format", "json") for path in paths.values()]
    floor, *runs = best_runs(autodoc_command("card", _small_model(folder), "--format", "json"), *commands, rounds=5)
    each = [(run.cpu - floor.cpu) / count for run, count in zip(runs, paths, strict=True)]
    detail = ", ".join(f"{1e6 * seconds:.0f} µs" for seconds in each)
    yield Row("time per node, 64,000 / 1,000 nodes", each[-1] / each[0], 1.3, detail)


def _small_model(folder: Path) -> str:
    return build_model(copy_graph, "local-functions-mlp", folder / "tiny.onnx")


def start_up_time(folder: Path) -> Iterator[Row]:
    """Yield the times of --help and of a small card; the floor is Python itself."""
    bare, helped, small = best_runs(
        python_command("pass"), autodoc_command("--help"), autodoc_command("card", _small_model(folder)), rounds=9
    )
    yield Row("--help, CPU seconds", helped.cpu, 0.25, f"Python alone {bare.cpu:.2f} s")
    yield Row("a small model's card, wall seconds", small.wall, 1, "")


def cost_time(folder: Path) -> Iterator[Row]:
    """Yield the time of all costs of 6,849 nodes relative to shape inference."""
    model = read_model(copy_graph(DECODER, folder / "decoder.onnx"))
    binding = bind(model, Request())
    shapes = infer_shapes(model, binding)
    floor = min(_seconds(lambda: infer_shapes(model, binding)) for _ in range(5))
    spent = min(_seconds(lambda: (Figures.of(model, shapes), parameters(model))) for _ in range(5))
    yield Row("costs / shapes, 6,849 nodes", spent / floor, 2.5, f"{spent:.2f} s / {floor:.2f} s")


def structure_time(folder: Path) -> Iterator[Row]:
    """Yield the time of blocks, layers, family, task and diagram of 6,849 nodes relative to shape inference."""
    model = read_model(copy_graph(DECODER, folder / "decoder.onnx"))
    binding = bind(model, Request())
    shapes = infer_shapes(model, binding)
    facts = measure(model, binding, shapes)
    floor = min(_seconds(lambda: infer_shapes(model, binding)) for _ in range(5))
    spent = min(_seconds(lambda: describe(facts)) for _ in range(5))
    yield Row("structure / shapes, 6,849 nodes", spent / floor, 2.5, f"{spent:.2f} s / {floor:.2f} s")


def lint_time(folder: Path) -> Iterator[Row]:
    """Yield the time of all lint rules over 6,849 nodes relative to shape inference."""
    model = read_model(copy_graph(DECODER, folder / "decoder.onnx"))
    binding = bind(model, Request())
    shapes = infer_shapes(model, binding)
    facts = measure(model, binding, shapes)
    architecture = describe(facts)
    floor = min(_seconds(lambda: infer_shapes(model, binding)) for _ in range(5))
    spent = min(_seconds(lambda: check(LintContext(facts, architecture))) for _ in range(5))
    yield Row("rules / shapes, 6,849 nodes", spent / floor, 1, f"{spent:.2f} s / {floor:.2f} s")


def policy_time(folder: Path) -> Iterator[Row]:
    """Yield the cost of a policy check of a 435 MB model relative to its card."""
    path = build_model(write_with_inline_weights, BERT, folder / "bert.onnx")
    policy = folder / "policy.toml"
    policy.write_text('[limits]\n"compute.macs" = { max = 1e12 }\n[rules]\nfail_on = "error"\n')
    card, check = best_runs(
        autodoc_command("card", path, "--format", "json"),
        autodoc_command("check", path, "--policy", str(policy)),
        rounds=7,
    )
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
    for benchmark in (
        start_up_time,
        card_against_load,
        weight_scaling,
        node_scaling,
        cost_time,
        structure_time,
        lint_time,
        policy_time,
    ):
        with tempfile.TemporaryDirectory() as folder:
            for row in benchmark(Path(folder)):
                rows.append(row)
                print(row, flush=True)
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
