"""Verification of a card: the model runs in four worker processes, for shapes, latency, operators and memory."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.analysis import Facts, measure
from onnx_autodoc.architecture import describe
from onnx_autodoc.card import Feed, Load, Measured, Sample, Timing, Verified
from onnx_autodoc.errors import AutodocError, BadInput
from onnx_autodoc.ir import Model, Value
from onnx_autodoc.ops import ValueInfo
from onnx_autodoc.readers import read_model
from onnx_autodoc.runtime.agreement import NodeFinder, compare_executions
from onnx_autodoc.runtime.machine import describe_machine
from onnx_autodoc.runtime.process import (
    Deadline,
    cleanup_on_alarm,
    report_os_errors,
    require_onnxruntime,
    run_worker,
    temporary_folder,
)
from onnx_autodoc.runtime.progress import ProgressBar
from onnx_autodoc.runtime.protocol import (
    CPU,
    FILLABLE_TYPES,
    BusyResult,
    Job,
    MemoryResult,
    OperatorsResult,
    Options,
    Result,
    RunRequest,
    ShapesResult,
    TimingResult,
    is_cpu_provider,
)
from onnx_autodoc.sandbox import extend_deadline, extend_deadline_for_model, raise_on_termination, seconds_left
from onnx_autodoc.shapes import Request, bind_and_infer, required_inputs
from onnx_autodoc.text import format_count, format_percent, sanitize

MAX_BACKGROUND_LOAD: Final = 0.1  # share of the machine that other processes may use during timing
_CLEANUP_SECONDS: Final = 30.0
_WORKERS: Final = 4
_MAX_TIME_SHARE: Final = 0.8  # of the time that is left for the whole command


def check_external_weights(model: Model) -> None:
    """Raise unless every external file is present, complete, and allowed.

    The reader of the model decides which files are allowed: below its folder, and behind links only if the user permits
    links (the layout of a download cache).
    """
    for file in model.external:
        name = sanitize(file.path, 120) or "''"
        if file.reason:
            raise BadInput(f"{model.path}: the weights file {name} {file.reason}")
        if file.nbytes is None:
            raise BadInput(f"{model.path}: the weights file {name} was not found; put it in the model's folder")
        if file.nbytes < file.required_bytes:
            sizes = f"{format_count(file.nbytes)} of {format_count(file.required_bytes)} bytes (truncated download?)"
            raise BadInput(f"{model.path}: the weights file {name} is incomplete: {sizes}")


def describe_access(accessible: Sequence[str]) -> tuple[str, ...]:
    """Return a note on what the system did not deny onnxruntime, if there is anything."""
    listed = " and ".join(accessible)
    return (f"onnxruntime ran with access to {listed}, which this system cannot deny",) if listed else ()


def make_feeds(facts: Facts, samples: Mapping[str, Sample]) -> tuple[Feed, ...]:
    """Return a feed for each required input, at the sizes of the card. Raises if an input cannot be generated."""
    types = facts.shapes.values
    return tuple(
        _make_feed(facts.model.path, value, types.get(value.name), samples.get(value.name))
        for value in required_inputs(facts.model)
    )


def _make_feed(path: str, value: Value, known: ValueInfo | None, sample: Sample | None) -> Feed:
    kind = value.type.kind if value.type else "tensor"
    dtype = (value.type.dtype if value.type else None) or (known.dtype if known else None)
    dims = known.concrete if known else None
    if kind != "tensor" or dtype not in FILLABLE_TYPES or dims is None:
        reason = _explain_unfillable(value.name, kind, dtype, known.shape if known else None)
        raise BadInput(f"{path}: no data can be generated for the input {sanitize(value.name, 80)}: {reason}")
    if sample is None:
        return Feed(value.name, dtype, dims, value="text" if dtype == "string" else 0)
    return Feed(value.name, dtype, dims, sample.fill, sample.low, sample.high, sample.value)


def _explain_unfillable(name: str, kind: str, dtype: str | None, shape: Sequence[object] | None) -> str:
    if kind != "tensor":
        return f"it is {'an' if kind[:1] in 'aeiou' else 'a'} {kind}, not a tensor"
    if dtype is None:
        return "its type is unknown"
    if dtype not in FILLABLE_TYPES:
        return f"its type is {dtype}, which onnxruntime does not accept as an input"
    if shape is None:
        return "its rank is unknown"
    dynamic = [axis for axis, size in enumerate(shape) if type(size) is not int]
    options = " ".join(f"--dim {sanitize(name, 80)}.{axis}=N" for axis in dynamic)
    return f"its size is unknown; set it with {options}"


def verify(path: str | os.PathLike[str], request: Request, options: Options) -> Verified:
    """Read and analyse a model, then verify it at the requested sizes."""
    require_onnxruntime()  # before anything that takes time
    model = read_model(path)
    extend_deadline_for_model(model.node_count)
    binding, shapes = bind_and_infer(model, request)
    facts = measure(model, binding, shapes)
    return verify_facts(facts, describe(facts).samples, options)


def verify_facts(facts: Facts, samples: Mapping[str, Sample], options: Options) -> Verified:
    """Compare an analysed model with a run. Only a failure of the shapes is an error; others cost their figure."""
    require_onnxruntime()
    seconds = seconds_left()
    if seconds is not None:
        options = replace(options, timeout=min(options.timeout, _MAX_TIME_SHARE * seconds))
    extend_deadline(options.timeout + _CLEANUP_SECONDS)  # the run has a deadline, and an error for it
    check_external_weights(facts.model)
    feeds, path = make_feeds(facts, samples), facts.model.path
    with (
        report_os_errors(path),
        raise_on_termination(),
        cleanup_on_alarm(),
        temporary_folder() as folder,
        ProgressBar(_WORKERS) as bar,
    ):
        jobs = _Jobs(facts.model, feeds, options, folder, bar)
        shapes = _run_shapes(jobs, facts)
        latency = _read_latency(jobs.attempt("time"), jobs.max_background_load)
        operators = jobs.attempt("operators") if latency.timing is not None else OperatorsResult()
        is_cpu = is_cpu_provider(options.provider)
        memory = jobs.attempt("memory", threads=1) if is_cpu else "measured on the CPU only"
    agreement = compare_executions(facts, shapes.executions, shapes.truncated)
    agreement = replace(agreement, notes=(*agreement.notes, *describe_access(shapes.accessible)))
    if isinstance(operators, str):
        note = f"the time of operators is unknown: {operators}"
        agreement, operators = replace(agreement, notes=(*agreement.notes, note)), OperatorsResult()
    assert isinstance(operators, OperatorsResult)
    by_node, attributed, fused = _sum_by_node(facts, operators)
    return Verified(
        agreement=agreement,
        timing=latency.timing,
        refused=latency.refused,
        memory=None if isinstance(memory, str) else _compare_memory(memory, facts),
        memory_refused=memory if isinstance(memory, str) else None,
        by_operator=operators.rows,
        by_node=by_node,
        attributed=attributed,
        fused=fused,
        runtime=shapes.runtime,
        provider=shapes.provider,
        threads=latency.threads,
        load=latency.load,
        machine=describe_machine(),
        feeds=feeds,
    )


def time_model(
    path: str | os.PathLike[str],
    feeds: Sequence[Feed],
    *,
    threads: int | None = None,
    runs: int | None = None,
    provider: str = CPU,
    timeout: float = 600,
    fingerprint: str = "",
) -> TimingResult:
    """Time a model with given inputs, also on a busy machine (see `Timing.load`)."""
    require_onnxruntime()
    request = RunRequest("time", os.fsencode(path), tuple(feeds), provider, threads, runs, fingerprint=fingerprint)
    with report_os_errors(request.path), raise_on_termination():
        result = run_worker(request, Deadline(timeout), lambda _: None)
    assert isinstance(result, TimingResult)
    return result


class _Jobs:
    """The workers of one verification: the same model and inputs, one deadline."""

    def __init__(self, model: Model, feeds: tuple[Feed, ...], options: Options, folder: str, bar: ProgressBar) -> None:
        self.max_background_load = None if options.force else MAX_BACKGROUND_LOAD
        sizes = options.provider, options.threads, options.runs, folder, self.max_background_load
        self._request = RunRequest("shapes", os.fsencode(model.path), feeds, *sizes, fingerprint=model.fingerprint)
        self._bar, self._deadline = bar, Deadline(options.timeout)

    def run(self, job: Job, threads: int | None = None) -> Result:
        self._bar.begin_step()
        request = replace(self._request, job=job, threads=threads or self._request.threads)
        try:
            return run_worker(request, self._deadline, self._bar.show)
        finally:
            for path in Path(request.folder).iterdir():
                path.unlink()  # a profile can be large

    def attempt(self, job: Job, threads: int | None = None) -> Result | str:
        """Return the result, or the reason for its absence: an optimized model may fail where the original does not."""
        try:
            return self.run(job, threads)
        except AutodocError as error:
            return str(error).removeprefix(f"{self._request.path}: ")


def _run_shapes(jobs: _Jobs, facts: Facts) -> ShapesResult:
    """If the model does not run and the card has a contradiction, raise an error with both."""
    try:
        result = jobs.run("shapes")
    except BadInput as error:
        expected = facts.shapes.contradictions
        text = (
            f"{error}; the card reports this contradiction: {sanitize(expected[0].sentence)}"
            if expected
            else str(error)
        )
        raise BadInput(text) from None
    assert isinstance(result, ShapesResult)
    return result


class _Latency(Struct, frozen=True):
    """A timing, or the reason for its absence."""

    timing: Timing | None = None
    refused: str | None = None
    load: Load | None = None
    threads: int | None = None


def _read_latency(result: Result | str, max_load: float | None) -> _Latency:
    """Discard a timing if the machine was busy."""
    if isinstance(result, str):
        return _Latency(refused=result)
    if isinstance(result, BusyResult):
        return _Latency(None, _busy_text(result.load), Load(result.load, None, result.steal), result.threads)
    assert isinstance(result, TimingResult)
    timing, load = result.timing, result.timing.load.worst
    if max_load is not None and load is not None and load > max_load:
        return _Latency(None, _busy_text(load), timing.load, timing.threads)
    return _Latency(timing, None, timing.load, timing.threads)


def _compare_memory(result: Result, facts: Facts) -> Measured:
    assert isinstance(result, MemoryResult)
    card_bytes = facts.memory.peak.nbytes if facts.memory.peak is not None else None
    ratio = result.peak_bytes / card_bytes if card_bytes and result.peak_bytes >= Measured.LEAST else None
    return Measured(result.peak_bytes, result.input_bytes, card_bytes, ratio, result.how)


def _busy_text(load: float) -> str:
    used = f"other processes use {format_percent(load)} of it"
    return f"the machine is busy: {used}; wait until it is idle, or measure anyway with verify --force"


def _sum_by_node(facts: Facts, operators: OperatorsResult) -> tuple[dict[str, float], float | None, float | None]:
    """Return seconds by node name, the share of kernel time in them, and the share in kernels of other operators."""
    finder, seconds_by_name = NodeFinder(facts.shapes.steps), dict[str, float]()
    fused_seconds = 0.0
    for path, seconds, fused in operators.nodes:
        node = finder.find(path)
        if node is not None:
            seconds_by_name[node.name] = seconds_by_name.get(node.name, 0.0) + seconds
            fused_seconds += seconds if fused else 0.0
    if not operators.seconds:
        return seconds_by_name, None, None
    return seconds_by_name, sum(seconds_by_name.values()) / operators.seconds, fused_seconds / operators.seconds
