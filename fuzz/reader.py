"""Coverage-guided fuzzing of the reader with atheris: `python -m fuzz.reader --seconds 3600`.

New ways through the reader are merged into `fuzz/corpus/`, which the tests replay without atheris. Work goes on in a
folder of its own, so that an hour of it leaves a few hundred small files behind and not a million.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

_ROOM: Final = 400_000  # bytes that the corpus may take in the repository
_LONGEST: Final = 16_384  # bytes of one file
_SLOWEST: Final = 10  # seconds that one file may take
_AGAIN: Final = "FUZZ_READER"  # names a program that libFuzzer can start again: it merges in a process of its own


def target(arguments: list[str]) -> None:
    """Never returns: libFuzzer ends the process itself."""
    import atheris

    with atheris.instrument_imports(include=["onnx_autodoc.readers", "onnx_autodoc.ir"]):
        from fuzz._reading import once

    def test(data: bytes) -> None:
        once(data)

    atheris.Setup([os.environ[_AGAIN], *arguments], test)
    atheris.Fuzz()


def main() -> int:
    if "--target" in sys.argv:
        target(sys.argv[sys.argv.index("--target") + 1 :])
    parser = argparse.ArgumentParser(prog="fuzz.reader", description=__doc__)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the work")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    options = parser.parse_args()
    options.findings.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fuzz.reader.") as room:
        return _fuzzed(Path(room), options)


def _fuzzed(room: Path, options: argparse.Namespace) -> int:
    from fuzz._reading import CORPUS, seeds

    os.environ[_AGAIN] = str(_program(room / "again"))
    work, merged = room / "work", room / "merged"
    for folder in (work, merged, CORPUS):
        folder.mkdir(exist_ok=True)
    for name, data in seeds():
        (work / name).write_bytes(data)
    limits = [
        f"-max_len={_LONGEST}",
        f"-timeout={_SLOWEST}",
        "-rss_limit_mb=1024",
        f"-artifact_prefix={options.findings}/",
    ]
    running = [_started(limits, at, options.seconds, work, CORPUS) for at in range(options.jobs)]
    code = max([process.wait() for process in running])
    _run([*limits, "-merge=1", str(merged), str(CORPUS), str(work)])
    _kept(merged, CORPUS)
    return code


def _program(path: Path) -> Path:
    path.write_text(f'#!/bin/sh\nexec {shlex.join(_command([]))} "$@"\n')
    path.chmod(0o700)
    return path


def _started(limits: list[str], at: int, seconds: int, *folders: Path) -> "subprocess.Popen[bytes]":
    told = [f"-max_total_time={seconds}", f"-seed={at + 1}", "-print_final_stats=1", "-reload=30"]
    return subprocess.Popen(_command([*limits, *told, *map(str, folders)]))


def _run(arguments: list[str]) -> None:
    subprocess.run(_command(arguments), check=False, capture_output=True)


def _command(arguments: list[str]) -> list[str]:
    return [sys.executable, "-m", "fuzz.reader", "--target", *arguments]


def _kept(merged: Path, corpus: Path) -> None:
    """The smallest of what covers all, as much as there is room for; what was there before goes with its coverage."""
    room, files = _ROOM, sorted(merged.iterdir(), key=lambda path: (path.stat().st_size, path.name))
    if not files:
        return
    for path in corpus.iterdir():
        path.unlink()
    for path in files:
        room -= path.stat().st_size
        if room >= 0:
            (corpus / path.name).write_bytes(path.read_bytes())


if __name__ == "__main__":
    sys.exit(main())
