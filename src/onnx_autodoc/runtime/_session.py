"""Sessions of onnxruntime, in the child process. No library of custom operators is ever loaded."""

import contextlib
import difflib
import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from onnx_autodoc.runtime._arrays import Array, arrays
from onnx_autodoc.runtime._messages import Stage, Task
from onnx_autodoc.runtime._renamed import Renamed
from onnx_autodoc.runtime._types import CPU

_SILENT: Final = 4  # only what is fatal is logged
_FORMAT: Final = "session.load_model_format"
_FOLDER: Final = "session.model_external_initializers_file_folder_path"
_NOTHING_SET: Final[Mapping[str, object]] = {}
_NO_ARRAY: Final = re.compile(r"bfloat16|float8|float4|int4")  # types of outputs that numpy does not have


class Wrong(Exception):
    """The request is wrong; the message is for the reader."""


class Runner:
    """One session with its inputs. `renamed` None: the file as it is."""

    def __init__(
        self,
        task: Task,
        say: Callable[[Stage], None],
        *,
        optimised: bool,
        renamed: Renamed | None = None,
        settings: Mapping[str, object] = _NOTHING_SET,
    ) -> None:
        import onnxruntime as ort

        self._ort = ort
        self.provider = provider_named(task.provider, ort.get_available_providers())
        options = self._options(task, optimised, settings)
        path = Path(task.path).absolute()  # links stay: weights lie beside the name that the user gave
        source: str | bytes = str(path) if renamed is None else renamed.data
        if renamed is not None:
            options.add_session_config_entry(_FOLDER, str(path.parent))
        say(Stage("loading the model"))
        before, start = _own_threads(), time.perf_counter()
        providers = list(dict.fromkeys((self.provider, CPU)))
        self.session = ort.InferenceSession(source, options, providers=providers)
        self.seconds = time.perf_counter() - start
        after = _own_threads()
        self.threads = task.threads or (after - before + 1 if before and after else None)
        say(Stage("making inputs"))
        self._feeds = self._values(arrays(task.feeds, self._wrap))

    def _options(self, task: Task, optimised: bool, settings: Mapping[str, object]) -> Any:
        levels = self._ort.GraphOptimizationLevel
        options = self._ort.SessionOptions()
        options.log_severity_level = _SILENT
        options.add_session_config_entry(_FORMAT, "ONNX")  # whatever it begins with or is called
        options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
        if task.threads:
            options.intra_op_num_threads = task.threads
        for name, value in settings.items():
            setattr(options, name, value)
        return options

    def _wrap(self, bits: Array, number: int) -> object:
        return self._ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, number)

    def _values(self, made: dict[str, object]) -> dict[str, object]:
        """As most people run a model, with arrays; with onnxruntime's own values where numpy has no such type.

        For a tiny model the wrapping of values would take longer than the run.
        """
        taken = all(hasattr(item, "astype") for item in made.values())
        self._plain = taken and not any(_NO_ARRAY.search(output.type) for output in self.session.get_outputs())
        if self._plain:
            return made
        from_numpy = self._ort.OrtValue.ortvalue_from_numpy
        return {name: from_numpy(item) if hasattr(item, "astype") else item for name, item in made.items()}

    def run(self) -> None:
        if self._plain:
            self.session.run(None, self._feeds)
        else:
            self.session.run_with_ort_values(None, self._feeds)

    def profile(self) -> Path:
        return Path(self.session.end_profiling())


def provider_named(name: str, available: list[str]) -> str:
    """One that this onnxruntime has, by its full name or its beginning."""
    for known in available:
        if name.lower() in (known.lower(), known.lower().removesuffix("executionprovider")):
            return known
    short = {known.lower().removesuffix("executionprovider"): known for known in available}
    near = difflib.get_close_matches(name.lower().removesuffix("executionprovider"), short, 3, 0.4)
    listed = ", ".join([short[each] for each in near] or available)
    raise Wrong(f"--provider {name}: this onnxruntime does not have it; {'near' if near else 'it has'}: {listed}")


def _own_threads() -> int | None:
    with contextlib.suppress(OSError):
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208
    return None
