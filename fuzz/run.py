"""Runs them all, prints a table, fails on a finding: `python -m fuzz.run --hostile --mutants 20000 --seed 1`."""

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
from fuzz._judge import summary
from fuzz._plans import PLANS, Plan, plan
from fuzz.mutants import mutant
from fuzz.runner import Result, run_all
from fuzz.wire import Case

_KEPT: Final = Path("fuzz-findings")
Job = tuple[str, Case, Plan]


def jobs(options: argparse.Namespace, part: int = 0, parts: int = 1) -> Iterator[Job]:
    """Every `parts`th of all: hostile files in `--rounds` formats each, then mutants."""
    if options.hostile:
        for at, (name, made) in list(enumerate(hostile.files().items()))[part::parts]:
            if options.only in name:
                case = made()
                yield from ((name, case, _plan(at, turn, options.rounds)) for turn in range(options.rounds))
    for at in range(options.start, options.start + options.mutants)[part::parts]:
        yield f"mutant {options.seed}/{at}", Case(mutant(options.seed, at)), plan(at)


def _plan(at: int, turn: int, rounds: int) -> Plan:
    """Each file gets other formats than its neighbour; with as many rounds as there are plans, all of them."""
    return plan(at + turn * 7) if rounds < len(PLANS) else PLANS[turn % len(PLANS)]


def _work(options: argparse.Namespace, part: int, results: "Queue[Result | None]") -> None:
    try:
        for result in run_all(jobs(options, part, options.jobs), options.keep):
            results.put(result)
    finally:
        results.put(None)


def _results(options: argparse.Namespace) -> Iterator[Result]:
    context = get_context("spawn")
    queue: Queue[Result | None] = context.Queue()
    workers = [context.Process(target=_work, args=(options, part, queue)) for part in range(options.jobs)]
    for worker in workers:
        worker.start()
    left = len(workers)
    while left:
        result = queue.get()
        if result is None:
            left -= 1
        else:
            yield result
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise SystemExit("fuzz.run: a worker failed; its error stands above")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(argv: list[str] | None = None) -> int:
    options = _options(argv)
    started, seen, found, codes = time.monotonic(), 0, [], Counter[int]()
    slowest, largest = Result("", (), 0, 0.0, 0, []), Result("", (), 0, 0.0, 0, [])
    for result in _results(options):
        seen += 1
        codes[result.code] += 1
        slowest, largest = max(slowest, result, key=_seconds), max(largest, result, key=_peak)
        if result.findings:
            found.append(result)
            _say(f"{result.name} [{' '.join(result.argv)}]: {'; '.join(result.findings)}")
    _table(found)
    seconds = time.monotonic() - started
    _say(f"{seen:,} runs in {seconds:,.0f} s ({seen / seconds:.1f} a second); exit codes {dict(sorted(codes.items()))}")
    _say(f"slowest {slowest.seconds:.1f} s ({slowest.name}); most memory {largest.peak / 1e6:.0f} MB ({largest.name})")
    _say(f"{len(found)} findings" + (f", kept in {options.keep}" if found else ""))
    return 1 if found or not seen else 0


def _seconds(result: Result) -> float:
    return result.seconds


def _peak(result: Result) -> int:
    return result.peak


def _table(found: list[Result]) -> None:
    """Findings that are alike, once, with how many there are."""
    alike = Counter(summary(finding) for result in found for finding in result.findings)
    for text, count in alike.most_common():
        _say(f"{count:6}  {text}")


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz.run", description=__doc__)
    parser.add_argument("--hostile", action="store_true", help="the hostile files")
    parser.add_argument("--only", default="", metavar="TEXT", help="those of them with this in their name")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="formats of each hostile file")
    parser.add_argument("--mutants", type=int, default=0, metavar="N", help="how many mutants of real models")
    parser.add_argument("--start", type=int, default=0, metavar="N", help="the number of the first mutant")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, default=_KEPT, metavar="FOLDER", help="where findings are kept")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
