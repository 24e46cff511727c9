"""Files through the command line, one after the other, each judged; what is found is kept."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from fuzz._judge import HANGS, MEMORY, Run, judged
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
    said: str = ""


class Runner:
    """One server and one folder; not for two threads."""

    def __init__(self) -> None:
        self._job: dict[str, Any] = {}
        self.using()
        self._room = Path(tempfile.mkdtemp(prefix="fuzz."))
        self._server = subprocess.Popen(
            [sys.executable, "-m", "fuzz._server"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def using(self, main: str = _MAIN, seconds: float = HANGS, memory: int = 2 * MEMORY) -> "Runner":
        """The same server, for another command line and other bounds from here on."""
        self._job = {"main": main, "seconds": seconds, "memory": memory}
        return self

    def run(self, name: str, case: Case, plan: Plan, keep: Path | None = None) -> Result:
        """One file, judged; with its findings kept in a folder, where one is named."""
        folder = self._room / "here"
        lay(folder, case)
        before = _content(folder)
        answer = self._asked(folder, plan)
        stdout, stderr = ((self._room / stream).read_bytes() for stream in ("stdout", "stderr"))
        written = {path: data for path, data in _content(folder).items() if before.get(path) != data}
        run = Run(answer["code"], answer["busy"], answer["peak"], stdout, stderr, written, answer["why"])
        findings = judged(run, plan)
        shutil.rmtree(folder)
        result = Result(
            name, plan.argv, run.code, run.seconds, run.peak, findings, stderr.decode(errors="replace")[:500]
        )
        if findings and keep is not None:
            _keep(keep, case, result)
        return result

    def _asked(self, folder: Path, plan: Plan) -> Any:
        streams = {stream: str(self._room / stream) for stream in ("stdout", "stderr")}
        job = {**self._job, **streams, "argv": plan.argv, "folder": str(folder)}
        assert self._server.stdin is not None and self._server.stdout is not None  # pipes, as asked for
        self._server.stdin.write(json.dumps(job) + "\n")
        self._server.stdin.flush()
        answer = self._server.stdout.readline()
        if not answer:
            raise RuntimeError("the server that runs the command line has ended; does the package import?")
        return json.loads(answer)

    def close(self) -> None:
        self._server.communicate()
        shutil.rmtree(self._room, ignore_errors=True)

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def lay(folder: Path, case: Case) -> None:
    """The model and what lies beside it, in a folder of its own."""
    folder.mkdir(parents=True)
    (folder / MODEL).write_bytes(case.data)
    (folder / "policy.toml").write_text(POLICY)
    for name, data in case.beside.items():
        (folder / name).write_bytes(data)
    for name, leads in case.links.items():
        (folder / name).symlink_to(leads)


def _content(folder: Path) -> dict[str, bytes]:
    """Each file in it, in folders too; links are not followed."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def _keep(where: Path, case: Case, result: Result) -> None:
    word = "".join(char if char.isalnum() else "-" for char in result.name)[:80]
    folder = where / word
    shutil.rmtree(folder, ignore_errors=True)
    lay(folder, case)
    told = {"argv": result.argv, "code": result.code, "findings": result.findings, "said": result.said}
    (folder / "finding.json").write_text(json.dumps(told, indent=1))


def run_all(cases: Iterable[tuple[str, Case, Plan]], keep: Path | None = None) -> Iterator[Result]:
    with Runner() as runner:
        for name, case, plan in cases:
            yield runner.run(name, case, plan, keep)
