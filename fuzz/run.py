"""Run hostile files and mutants, print a table, fail on a finding.

`python -m fuzz.run --hostile --mutants 20000 --seed 1`
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Final

from fuzz import hostile
from fuzz._oracle import summary
from fuzz._plans import PLANS, Plan, plan_for
from fuzz.mutants import make_mutant
from fuzz.runner import Result, run_all
from fuzz.wire import Case

_FINDINGS_FOLDER: Final = Path("fuzz-findings")
Job = tuple[str, Case, Plan]


def jobs(options: argparse.Namespace, part: int = 0, parts: int = 1) -> Iterator[Job]:
    """Yield every `parts`-th job: hostile files in `--rounds` formats each, then mutants."""
    if options.hostile:
        for at, (name, build) in list(enumerate(hostile.hostile_files().items()))[part::parts]:
            if options.only in name:
                case = build()
                yield from ((name, case, _plan(at, turn, options.rounds)) for turn in range(options.rounds))
    for at in range(options.start, options.start + options.mutants)[part::parts]:
        yield f"mutant {options.seed}/{at}", Case(make_mutant(options.seed, at)), plan_for(at)


def _plan(at: int, turn: int, rounds: int) -> Plan:
    """Vary the formats between files; with as many rounds as plans, use all of them."""
    return plan_for(at + turn * 7) if rounds < len(PLANS) else PLANS[turn % len(PLANS)]


def _run_part(options: argparse.Namespace, part: int, results: "Queue[Result | None]") -> None:
    try:
        for result in run_all(jobs(options, part, options.jobs), options.keep):
            results.put(result)
    finally:
        results.put(None)


def _run_parts(options: argparse.Namespace) -> Iterator[Result]:
    context = get_context("spawn")
    queue: Queue[Result | None] = context.Queue()
    workers = [context.Process(target=_run_part, args=(options, part, queue)) for part in range(options.jobs)]
    for worker in workers:
        worker.start()
    running = len(workers)
    while running:
        result = queue.get()
        if result is None:
            running -= 1
        else:
            yield result
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise SystemExit("fuzz.run: a worker failed; see its error above")


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(argv: list[str] | None = None) -> int:
    options = _options(argv)
    started, count, failed, codes = time.monotonic(), 0, [], Counter[int]()
    slowest, largest = Result("", (), 0, 0.0, 0, []), Result("", (), 0, 0.0, 0, [])
    for result in _run_parts(options):
        count += 1
        codes[result.code] += 1
        slowest, largest = max(slowest, result, key=_seconds), max(largest, result, key=_peak)
        if result.findings:
            failed.append(result)
            _print(f"{result.name} [{' '.join(result.argv)}]: {'; '.join(result.findings)}")
    _print_groups(failed)
    seconds = time.monotonic() - started
    _print(
        f"{count:,} runs in {seconds:,.0f} s ({count / seconds:.1f} a second); exit codes {dict(sorted(codes.items()))}"
    )
    _print(
        f"slowest {slowest.seconds:.1f} s ({slowest.name}); most memory {largest.peak / 1e6:.0f} MB ({largest.name})"
    )
    _print(f"{len(failed)} findings" + (f", stored in {options.keep}" if failed else ""))
    return 1 if failed or not count else 0


def _seconds(result: Result) -> float:
    return result.seconds


def _peak(result: Result) -> int:
    return result.peak


def _print_groups(failed: list[Result]) -> None:
    """Print similar findings once, with their number."""
    groups = Counter(summary(finding) for result in failed for finding in result.findings)
    for text, number in groups.most_common():
        _print(f"{number:6}  {text}")


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz.run", description=__doc__)
    parser.add_argument("--hostile", action="store_true", help="the hostile files")
    parser.add_argument("--only", default="", metavar="TEXT", help="only those with this in their name")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="formats of each hostile file")
    parser.add_argument("--mutants", type=int, default=0, metavar="N", help="mutants of real models")
    parser.add_argument("--start", type=int, default=0, metavar="N", help="the number of the first mutant")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, default=_FINDINGS_FOLDER, metavar="FOLDER", help="for findings")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
