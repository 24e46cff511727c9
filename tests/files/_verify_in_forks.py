"""Verify each model that standard input names, one a line: `python -m tests.files._verify_in_forks`.

The worker of a run is a fork instead of a new interpreter, which would import onnxruntime for every model. Of its jobs
only the first is done: all of them load the model in the same way. Prints the outcome of each model: "done", or the
error.
"""

import os
import sys
import tempfile
from collections.abc import Callable

import msgspec
import onnxruntime  # noqa: F401 (once, for all forks)

from onnx_autodoc.errors import AutodocError, BadInput
from onnx_autodoc.runtime import Options, Stage, verification
from onnx_autodoc.runtime.process import Deadline, describe_death, describe_failure
from onnx_autodoc.runtime.protocol import CPU, Failure, Message, Result, RunRequest
from onnx_autodoc.runtime.worker import run_confined
from onnx_autodoc.shapes import Request


def run_in_fork(request: RunRequest, _: Deadline, report: Callable[[Stage], None]) -> Result:
    if request.job != "shapes":
        raise BadInput(f"{request.path}: {request.job} is not measured")
    with tempfile.TemporaryFile() as file:
        pid = os.fork()
        if pid == 0:
            try:
                os.write(file.fileno(), msgspec.json.encode(run_confined(request, lambda _: None)))
            finally:
                os._exit(0)
        _, status = os.waitpid(pid, 0)
        if status:
            raise describe_death(request.path, os.waitstatus_to_exitcode(status), "running")
        result = msgspec.json.decode(os.pread(file.fileno(), 1 << 26, 0), type=Message)
    if isinstance(result, Failure):
        raise describe_failure(request.path, result)
    assert not isinstance(result, Stage)
    return result


def main() -> None:
    verification.run_worker = run_in_fork
    for line in sys.stdin:
        try:
            verification.verify(line.rstrip("\n"), Request(), Options(threads=1, runs=1, provider=CPU, force=True))
            print("done")
        except AutodocError as error:
            print(error)


if __name__ == "__main__":
    main()
