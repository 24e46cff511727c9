"""Sessions of onnxruntime with generated inputs, in the worker process. No custom operator library is ever loaded."""

import contextlib
import difflib
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from onnx_autodoc.card import Feed
from onnx_autodoc.runtime.model_loading import LoadedModel
from onnx_autodoc.runtime.protocol import (
    CPU,
    FLOAT8_TYPES,
    NUMPY_TYPES,
    PACKED_4BIT_TYPES,
    RunRequest,
    Stage,
    short_provider_name,
)

Array = np.ndarray[Any, np.dtype[Any]]
ReportStage = Callable[[Stage], None]

_LOG_FATAL_ONLY: Final = 4
_BFLOAT16: Final = 16  # TensorProto.DataType
_TYPES_WITHOUT_ARRAY: Final = re.compile(r"bfloat16|float8|float4|int4")


class RequestError(Exception):
    """The request is wrong; the message is for the user."""


class Session:
    """One onnxruntime session with its inputs."""

    def __init__(
        self,
        request: RunRequest,
        model: LoadedModel,
        report: ReportStage,
        *,
        optimized: bool,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        import onnxruntime as ort

        self.runtime: str = ort.__version__
        self.provider = find_provider(request.provider, ort.get_available_providers())
        options, levels = ort.SessionOptions(), ort.GraphOptimizationLevel
        options.log_severity_level = _LOG_FATAL_ONLY
        options.add_session_config_entry("session.load_model_format", "ONNX")  # whatever the file's name or first bytes
        options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
        if request.threads:
            options.intra_op_num_threads = request.threads
        for name, value in (settings or {}).items():
            setattr(options, name, value)
        report(Stage("loading the model"))
        threads_before, start = _count_threads(), time.perf_counter()
        self._model = model  # the session uses the arrays of its weights
        options.add_external_initializers(*_wrap_weights(model, ort.OrtValue))
        session = ort.InferenceSession(model.data, options, providers=list(dict.fromkeys((self.provider, CPU))))
        self.load_seconds = time.perf_counter() - start
        threads_after = _count_threads()
        started = threads_after - threads_before + 1 if threads_before and threads_after else None
        self.threads = request.threads or started
        report(Stage("generating inputs"))
        arrays = make_arrays(request.feeds, ort.OrtValue.ortvalue_from_numpy_with_onnx_type)
        # OrtValues only where numpy has no such type: wrapping values takes longer than running a tiny model.
        is_plain = all(isinstance(item, np.ndarray) for item in arrays.values())
        is_plain &= not any(_TYPES_WITHOUT_ARRAY.search(output.type) for output in session.get_outputs())
        if not is_plain:
            wrap = ort.OrtValue.ortvalue_from_numpy
            arrays = {name: wrap(item) if isinstance(item, np.ndarray) else item for name, item in arrays.items()}
        self._session, self._feeds = session, arrays
        self._run = session.run if is_plain else session.run_with_ort_values

    def run(self) -> Any:
        """Run the model and return its outputs."""
        return self._run(None, self._feeds)

    def end_profiling(self) -> Path:
        return Path(self._session.end_profiling())


def _wrap_weights(model: LoadedModel, ort_value: Any) -> tuple[list[str], list[object]]:
    """Return the names and the values of the weights, which are not copied."""
    values = (
        ort_value.ortvalue_from_numpy(array)
        if data_type is None
        else ort_value.ortvalue_from_numpy_with_onnx_type(array, data_type)
        for array, data_type in model.weights.values()
    )
    return list(model.weights), list(values)


def find_provider(name: str, available: list[str]) -> str:
    """Return the execution provider with this name, with or without its suffix, in any case."""
    short = {short_provider_name(provider): provider for provider in available}
    wanted = short_provider_name(name)
    if wanted in short:
        return short[wanted]
    near = difflib.get_close_matches(wanted, short, 3, 0.4)
    listed = ", ".join([short[key] for key in near] or available)
    kind = "similar" if near else "available"
    raise RequestError(f"--provider {name}: not available in this onnxruntime; {kind}: {listed}")


def _count_threads() -> int | None:
    with contextlib.suppress(OSError):
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208
    return None


def make_arrays(feeds: Iterable[Feed], wrap: Callable[[Array, int], object]) -> dict[str, object]:
    """Return the inputs by name, the same ones in every run.

    `wrap` makes a value from bits and a TensorProto data type, for types that numpy does not have.
    """
    rng = np.random.default_rng(0)
    return {feed.name: _make_input(feed, rng, wrap) for feed in feeds}


def _make_input(feed: Feed, rng: np.random.Generator, wrap: Callable[[Array, int], object]) -> object:
    if feed.dtype == "string":
        return np.full(feed.dims, str(feed.value), object)
    if feed.dtype in PACKED_4BIT_TYPES:
        return wrap(rng.integers(0, 256, feed.dims, np.uint8), PACKED_4BIT_TYPES[feed.dtype])
    numbers = _fill(feed, rng)
    if feed.dtype in NUMPY_TYPES:
        return np.ascontiguousarray(numbers.astype(feed.dtype)).reshape(feed.dims)
    singles = numbers.astype(np.float32).reshape(feed.dims)
    if feed.dtype == "bfloat16":
        upper = (singles.view(np.uint32) >> 16).astype(np.uint16)
        return wrap(np.ascontiguousarray(upper).reshape(feed.dims), _BFLOAT16)
    import ml_dtypes  # installed with onnx

    number, name = FLOAT8_TYPES[feed.dtype]
    return wrap(singles.astype(getattr(ml_dtypes, name)).view(np.uint8), number)


def _fill(feed: Feed, rng: np.random.Generator) -> Array:
    low, high = feed.low or 0, 1 if feed.high is None else feed.high
    if feed.fill == "normal":
        return np.asarray(rng.standard_normal(feed.dims, np.float32) * np.float32(high))
    if feed.fill == "uniform":
        return np.asarray(low + (high - low) * rng.random(feed.dims, np.float32))
    if feed.fill == "integers":
        return np.asarray(rng.integers(int(low), int(feed.high or 1), feed.dims))
    if feed.fill == "range":
        steps = np.arange(int(low), int(low) + (feed.dims[-1] if feed.dims else 1))
        return np.broadcast_to(steps if feed.dims else steps[0], feed.dims)
    return np.full(feed.dims, 0 if feed.value is None else feed.value)
