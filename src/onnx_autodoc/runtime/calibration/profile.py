"""The profile of a machine: the results of calibration, stored in a file of the user."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

import msgspec
from msgspec import Struct

from onnx_autodoc.decoding import decode_json
from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.runtime.calibration.benchmarks import Benchmarks
from onnx_autodoc.runtime.calibration.fit import (
    USUAL_SECONDS,
    Prediction,
    TimedGraph,
    UnitTimes,
    cross_validate,
    fit_times,
    predict_kernels,
    predict_seconds,
)
from onnx_autodoc.runtime.calibration.graphs import NETWORKS
from onnx_autodoc.runtime.calibration.lowering import KernelWork
from onnx_autodoc.storage import read_config_bytes

VERSION: Final = 2  # of the file and of its kernel classes
_MAX_FILE_BYTES: Final = 1 << 20
_MAX_KERNEL_CLASSES: Final = 200
_MAX_RANGE_FACTOR: Final = 1000.0
_MAX_UNIT_SECONDS: Final = 10.0
_RANGE_SHARE: Final = 0.8  # of the cross-validated graphs are in the range


class KernelTimes(Struct, frozen=True, forbid_unknown_fields=True):
    """Seconds by quantity for one class of kernels, and how well they fit."""

    times: dict[str, float]
    runs: int  # graphs with such kernels
    error: float  # median of |predicted / measured - 1| over these graphs


class ErrorRange(Struct, frozen=True, forbid_unknown_fields=True):
    """Measured over predicted time of cross-validated graphs: the range that contains 80% of them."""

    low: float
    high: float
    median_error: float
    graphs: int


class Profile(Struct, frozen=True, forbid_unknown_fields=True, rename={"kernels": "paces", "cache_bytes": "cache"}):
    machine: str
    date: str
    runtime: str  # name and version
    threads: int
    cache_bytes: float
    bandwidth: float  # bytes per second, read and written
    kernels: dict[str, KernelTimes]
    spread: ErrorRange
    version: int = VERSION

    def unit_times(self) -> UnitTimes:
        return {(kind, name): time for kind, own in self.kernels.items() for name, time in own.times.items()}


def build_profile(
    benchmarks: Benchmarks, models: Sequence[TimedGraph], machine: str, date: str, threads: int
) -> Profile:
    """Fit the benchmarks and the user's models. The range is that of whole networks, each predicted from the others."""
    graphs = [*benchmarks.graphs, *models]
    times = fit_times(graphs)
    networks = [graph for graph in graphs if graph.name in NETWORKS] + list(models)
    return Profile(
        machine=machine,
        date=date,
        runtime=benchmarks.runtime,
        threads=threads,
        cache_bytes=benchmarks.cache_bytes,
        bandwidth=benchmarks.bandwidth,
        kernels=_group_by_kernel(times, graphs),
        spread=_measure_errors(graphs, networks),
    )


def _measure_errors(graphs: Sequence[TimedGraph], tested: Sequence[TimedGraph]) -> ErrorRange:
    ratios = sorted(1 / ratio for ratio in cross_validate(graphs, tested).values())
    errors = [abs(1 / ratio - 1) for ratio in ratios]
    cut = int(len(ratios) * (1 - _RANGE_SHARE) / 2)
    inner = ratios[cut : len(ratios) - cut]
    return ErrorRange(min(*inner, 1.0), max(*inner, 1.0), median(errors), len(ratios))


def _group_by_kernel(times: UnitTimes, graphs: Sequence[TimedGraph]) -> dict[str, KernelTimes]:
    kernels = {}
    for kind in sorted({kind for kind, _ in times}):
        own_times = {name: time for (key, name), time in sorted(times.items()) if key == kind}
        own_graphs = [graph for graph in graphs if any(key == kind for key, _ in graph.work)]
        errors = [abs(predict_seconds(graph.work, times) / graph.seconds - 1) for graph in own_graphs]
        kernels[kind] = KernelTimes(own_times, len(errors), median(errors))
    return kernels


def predict(kernels: Sequence[KernelWork], profile: Profile) -> Prediction:
    """Predict the time of a run on a calibrated machine."""
    error_range = profile.spread.low, profile.spread.high
    return predict_kernels(kernels, profile.unit_times(), profile.cache_bytes, error_range)


# -- the file


def profile_path(chosen: str | None = None) -> Path:
    """Return the chosen path, or that in the user's data folder."""
    if chosen:
        return Path(chosen)
    data_home = os.environ.get("XDG_DATA_HOME")
    if data_home:
        folder = Path(data_home)
    else:
        try:
            folder = Path.home() / ".local" / "share"
        except RuntimeError:  # no HOME, and the system does not know this user
            raise BadInput("the user's data folder is unknown: set HOME, or pass a file with --profile") from None
    return folder / "onnx-autodoc" / "cpu.json"


def check_profile_path(path: Path) -> None:
    """Raise if a profile cannot be written there, before minutes of work, or if the file is not a profile."""
    if path_exists(path) and not _is_profile(path):
        raise BadInput(f"{path}: exists and is not a machine profile; choose another file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror or error}") from None


def path_exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise BadInput(f"{path}: cannot be accessed: {error.strerror}") from None


def _is_profile(path: Path) -> bool:
    """Return whether it is a profile, of any version."""
    try:
        content = decode_json(_read(path), object)
    except (BadInput, LimitReached, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(content, dict) and content.keys() >= {"machine", "paces", "spread"}


def encode_profile(profile: Profile) -> bytes:
    return msgspec.json.format(msgspec.json.encode(profile, order="sorted"), indent=1) + b"\n"


def load_profile(path: Path) -> Profile:
    """Read a profile, which is untrusted, and check its values."""
    try:
        profile = decode_json(_read(path), Profile)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path}: invalid machine profile: {str(error)[:200]}") from None
    problem = _find_problem(profile)
    if problem:
        raise BadInput(f"{path}: invalid machine profile: {problem}")
    return profile


def _read(path: Path) -> bytes:
    return read_config_bytes(path, "a profile", _MAX_FILE_BYTES)


def _find_problem(profile: Profile) -> str:
    if profile.version != VERSION:
        return f"it has version {profile.version}, but this tool reads {VERSION}; calibrate again"
    if len(profile.kernels) > _MAX_KERNEL_CLASSES:
        return f"it has {len(profile.kernels):,} kernel classes; at most {_MAX_KERNEL_CLASSES:,} are allowed"
    for (kind, name), time in profile.unit_times().items():
        if name not in USUAL_SECONDS or not 0 <= time <= _MAX_UNIT_SECONDS:
            return f"the kernel class {kind[:40]!r} has an unknown quantity or an invalid time: {name[:40]!r}"
    spread = profile.spread
    is_range = 1 / _MAX_RANGE_FACTOR <= spread.low <= spread.high <= _MAX_RANGE_FACTOR
    if not is_range or spread.median_error < 0 or spread.graphs < 1:
        return "its range is invalid"
    if profile.cache_bytes < 1 or profile.bandwidth < 1 or profile.threads < 1:
        return "its cache size, bandwidth or number of threads is less than 1"
    return ""
