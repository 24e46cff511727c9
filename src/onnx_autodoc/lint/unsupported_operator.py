"""A runtime does not take an operator of this model.

Why it matters: a runtime without a kernel or a conversion for an operator refuses the model, or leaves such nodes to
the CPU. Each of those is a seam: data cross between devices, and what could have been one fused graph falls into
pieces.

What to do: if you deploy there, run the model once on that runtime with verbose logging (log_severity_level = 0 in
onnxruntime's SessionOptions) to see which nodes are left out, then export at another opset, or write the operation
with others; if you do not deploy there, nothing.

The tables (data/runtimes) are of one release each: what onnxruntime, its CUDA provider and OpenVINO take was asked of
the packages themselves; what TensorRT, CoreML and NNAPI take is what their documents say, and of QNN and WebGPU it is
both together (confidence medium). A node that is in a table can still be refused for its types, attributes or shapes.
Nodes on constants and sizes alone are not held against a provider of onnxruntime, which computes them itself.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Confidence, Found, Severity
from onnx_autodoc.lint._runtimes import Runtime, lacking, runtimes
from onnx_autodoc.lint._uses import Key, Used
from onnx_autodoc.text import clean, plural, told

SEVERITY: Final = Severity.INFO
_MOST: Final = 4  # operators that are listed in the sentence
_EVERYWHERE: Final = "onnxruntime-cpu"  # what this one lacks keeps the model from running at all, for most people

_LOAD_IT: Final = (
    "Where onnxruntime has the operator at another opset, bring the file there (onnx.version_converter.convert_version "
    "or a new export). A file that was optimized for another provider opens with that one. What no provider has must "
    "be written with other operators, or come with a library (SessionOptions.register_custom_ops_library)."
)


def check(case: Case) -> Iterator[Found]:
    uses = case.uses
    paths = _Paths()
    for runtime in runtimes().values():
        if lacks := lacking(runtime, uses):
            yield Found(
                _sentence(runtime, lacks, {use.key: use for use in uses}),
                tuple(paths[spot] for spots in lacks.values() for spot in spots),
                do=_LOAD_IT if runtime.id == _EVERYWHERE else "",
                severity=Severity.WARNING if runtime.id == _EVERYWHERE else None,
                confidence=Confidence.HIGH if runtime.basis == "run" else Confidence.MEDIUM,
                about=runtime.id,
            )


class _Paths(dict[Spot, str]):
    """What to call each node, found once: several runtimes lack the same ones."""

    def __missing__(self, spot: Spot) -> str:
        self[spot] = spot.path
        return self[spot]


def _sentence(runtime: Runtime, lacks: dict[Key, list[Spot]], uses: dict[Key, Used]) -> str:
    rows = sorted(lacks.items(), key=lambda row: -len(row[1]))
    listed = ", ".join(f"{_name(runtime, uses[key])} ({plural(len(spots), 'node')})" for key, spots in rows[:_MOST])
    more = " …" if len(rows) > _MOST else ""
    functions = sum(uses[key].local for key in lacks)
    counts = ((functions, "local function"), (len(rows) - functions, "operator"))
    count = " and ".join(plural(number, word) for number, word in counts if number)
    return f"{runtime.name} does not take {count} of this model: {listed}{more}; {runtime.fallback}"


def _name(runtime: Runtime, use: Used) -> str:
    """With the opset where the operator is taken at others."""
    domain, op = use.key
    name = clean(told(f"{domain}.{op}" if domain else op, 60))
    return f"{name} of opset {use.opset}" if op in runtime.operators.get(domain, {}) else name
