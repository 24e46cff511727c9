"""Coverage-guided fuzzing of the reader with atheris: `python -m fuzz.reader --seconds 3600`.

Files with new coverage are merged into `fuzz/corpus/`, which the tests replay without atheris. The fuzzer works in a
temporary folder, so that an hour of it adds a few hundred small files, not a million.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

_MAX_CORPUS_BYTES: Final = 400_000  # in the repository
_MAX_FILE_BYTES: Final = 16_384
_MAX_FILE_SECONDS: Final = 10
_TARGET_VARIABLE: Final = "FUZZ_READER"  # the program that libFuzzer starts for merging


def target(arguments: list[str]) -> None:
    """Run libFuzzer, which ends the process."""
    import atheris

    with atheris.instrument_imports(include=["onnx_autodoc.readers", "onnx_autodoc.ir"]):
        from fuzz._memory_reader import read_bytes

    def test(data: bytes) -> None:
        read_bytes(data)

    atheris.Setup([os.environ[_TARGET_VARIABLE], *arguments], test)
    atheris.Fuzz()


def main() -> int:
    if "--target" in sys.argv:
        target(sys.argv[sys.argv.index("--target") + 1 :])
    parser = argparse.ArgumentParser(prog="fuzz.reader", description=__doc__)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--jobs", type=int, default=1, help="parallel processes")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    options = parser.parse_args()
    options.findings.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fuzz.reader.") as folder:
        return _fuzz(Path(folder), options)


def _fuzz(folder: Path, options: argparse.Namespace) -> int:
    from fuzz._memory_reader import CORPUS, seeds

    os.environ[_TARGET_VARIABLE] = str(_write_launcher(folder / "again"))
    queue, merged = folder / "work", folder / "merged"
    for path in (queue, merged, CORPUS):
        path.mkdir(exist_ok=True)
    for name, data in seeds():
        (queue / name).write_bytes(data)
    limits = [
        f"-max_len={_MAX_FILE_BYTES}",
        f"-timeout={_MAX_FILE_SECONDS}",
        "-rss_limit_mb=1024",
        f"-artifact_prefix={options.findings}/",
    ]
    running = [_start(limits, at, options.seconds, queue, CORPUS) for at in range(options.jobs)]
    code = max([process.wait() for process in running])
    _run([*limits, "-merge=1", str(merged), str(CORPUS), str(queue)])
    _store_corpus(merged, CORPUS)
    return code


def _write_launcher(path: Path) -> Path:
    path.write_text(f'#!/bin/sh\nexec {shlex.join(_command([]))} "$@"\n')
    path.chmod(0o700)
    return path


def _start(limits: list[str], at: int, seconds: int, *folders: Path) -> "subprocess.Popen[bytes]":
    options = [f"-max_total_time={seconds}", f"-seed={at + 1}", "-print_final_stats=1", "-reload=30"]
    return subprocess.Popen(_command([*limits, *options, *map(str, folders)]))


def _run(arguments: list[str]) -> None:
    subprocess.run(_command(arguments), check=False, capture_output=True)


def _command(arguments: list[str]) -> list[str]:
    return [sys.executable, "-m", "fuzz.reader", "--target", *arguments]


def _store_corpus(merged: Path, corpus: Path) -> None:
    """Replace the corpus by the smallest files with full coverage, up to the size limit."""
    folder, files = _MAX_CORPUS_BYTES, sorted(merged.iterdir(), key=lambda path: (path.stat().st_size, path.name))
    if not files:
        return
    for path in corpus.iterdir():
        path.unlink()
    for path in files:
        folder -= path.stat().st_size
        if folder >= 0:
            (corpus / path.name).write_bytes(path.read_bytes())


if __name__ == "__main__":
    sys.exit(main())
