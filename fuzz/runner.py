"""Run files through the command line, check each run, and store those with findings."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from fuzz._oracle import MAX_MEMORY_BYTES, MAX_WALL_SECONDS, Run, find_violations
from fuzz._plans import MODEL, POLICY, Plan
from fuzz.wire import Case

_ROOT: Final = Path(__file__).parent.parent
_MAIN: Final = "onnx_autodoc.cli:main"


class Result(Struct, frozen=True):
    name: str
    argv: tuple[str, ...]
    code: int
    seconds: float
    peak: int
    findings: list[str]
    error_text: str = ""


class Runner:
    """One server process and one folder. Not thread-safe."""

    def __init__(self) -> None:
        self._job: dict[str, Any] = {}
        self.configure()
        self._folder = Path(tempfile.mkdtemp(prefix="fuzz."))
        self._server = subprocess.Popen(
            [sys.executable, "-m", "fuzz._server"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def configure(
        self, main: str = _MAIN, seconds: float = MAX_WALL_SECONDS, memory: int = 2 * MAX_MEMORY_BYTES
    ) -> "Runner":
        """Set the command line and limits of the following runs."""
        self._job = {"main": main, "seconds": seconds, "memory": memory}
        return self

    def run(self, name: str, case: Case, plan: Plan, keep: Path | None = None) -> Result:
        """Run one file and check the result. Findings are stored in the folder `keep`."""
        folder = self._folder / "here"
        write_case(folder, case)
        before = _read_files(folder)
        answer = self._run_on_server(folder, plan)
        stdout, stderr = ((self._folder / stream).read_bytes() for stream in ("stdout", "stderr"))
        written = {path: data for path, data in _read_files(folder).items() if before.get(path) != data}
        run = Run(answer["code"], answer["busy"], answer["peak"], stdout, stderr, written, answer["why"])
        findings = find_violations(run, plan)
        shutil.rmtree(folder)
        result = Result(
            name, plan.argv, run.code, run.seconds, run.peak, findings, stderr.decode(errors="replace")[:500]
        )
        if findings and keep is not None:
            _store(keep, case, result)
        return result

    def _run_on_server(self, folder: Path, plan: Plan) -> Any:
        streams = {stream: str(self._folder / stream) for stream in ("stdout", "stderr")}
        job = {**self._job, **streams, "argv": plan.argv, "folder": str(folder)}
        assert self._server.stdin is not None and self._server.stdout is not None  # they are pipes
        self._server.stdin.write(json.dumps(job) + "\n")
        self._server.stdin.flush()
        answer = self._server.stdout.readline()
        if not answer:
            raise RuntimeError("the server process has ended; can the package be imported?")
        return json.loads(answer)

    def close(self) -> None:
        self._server.communicate()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def write_case(folder: Path, case: Case) -> None:
    """Write a model and its sibling files to a new folder."""
    folder.mkdir(parents=True)
    (folder / MODEL).write_bytes(case.data)
    (folder / "policy.toml").write_text(POLICY)
    for name, data in case.siblings.items():
        (folder / name).write_bytes(data)
    for name, target in case.links.items():
        (folder / name).symlink_to(target)


def _read_files(folder: Path) -> dict[str, bytes]:
    """Return the content of each file below a folder, without following links."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def _store(parent: Path, case: Case, result: Result) -> None:
    name = "".join(char if char.isalnum() else "-" for char in result.name)[:80]
    folder = parent / name
    shutil.rmtree(folder, ignore_errors=True)
    write_case(folder, case)
    summary = {"argv": result.argv, "code": result.code, "findings": result.findings, "error_text": result.error_text}
    (folder / "finding.json").write_text(json.dumps(summary, indent=1))


def run_all(cases: Iterable[tuple[str, Case, Plan]], keep: Path | None = None) -> Iterator[Result]:
    with Runner() as runner:
        for name, case, plan in cases:
            yield runner.run(name, case, plan, keep)
