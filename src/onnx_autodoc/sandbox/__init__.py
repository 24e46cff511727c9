"""Work on untrusted files in a worker process with limits on memory and time.

The command line does everything that depends on a file's content in a forked worker; its result, or the reason for its
failure, returns over a pipe. If the worker crashes in an optional step, a second one skips that step. Python callers
choose isolation themselves (`card(path, isolated=True)`); their worker is a new interpreter if the program has threads,
because forking is then unsafe. Failed optional steps are skipped in the caller's process too.
"""

from onnx_autodoc.sandbox.deadline import extend_deadline, extend_deadline_for_model, seconds_left
from onnx_autodoc.sandbox.interpreter import interpreter_command
from onnx_autodoc.sandbox.isolation import can_isolate, has_other_threads, run_isolated
from onnx_autodoc.sandbox.optional import internal_error, run_optional
from onnx_autodoc.sandbox.signals import defer_signals, raise_on_termination

__all__ = [
    "can_isolate",
    "defer_signals",
    "extend_deadline",
    "extend_deadline_for_model",
    "has_other_threads",
    "internal_error",
    "interpreter_command",
    "raise_on_termination",
    "run_isolated",
    "run_optional",
    "seconds_left",
]
