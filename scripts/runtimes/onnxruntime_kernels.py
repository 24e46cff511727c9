"""onnxruntime on the CPU and on CUDA: `python -m scripts.runtimes.onnxruntime_kernels cpu DATE` (or `cuda DATE`).

onnxruntime lists the kernels that are in its binary. What has none may still run, since the specification defines
some operators by others: those are tried, as sessions of one node. For `cuda`, install onnxruntime-gpu; without a
graphics card, run it with the libraries of `_stub_cuda.py` on LD_LIBRARY_PATH, which let the kernels be listed.
"""

import sys

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as state

from scripts.runtimes._models import minimal_model, samples
from scripts.runtimes._table import DOMAINS, Ranges, spans, write

OPEN_END = 2**31 - 1
PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
HEADS = {
    "cpu": {
        "id": "onnxruntime-cpu",
        "title": "onnxruntime",
        "fallback": "the model does not load, unless another provider supports them",
        "whole": True,
    },
    "cuda": {
        "id": "onnxruntime-cuda",
        "title": "onnxruntime's CUDA provider",
        "fallback": "onnxruntime runs such nodes on the CPU",
    },
}
Key = tuple[str, str]
Definition = tuple[str, str, int]


def kernels(provider: str) -> dict[Key, list[tuple[int, int]]]:
    found: dict[Key, list[tuple[int, int]]] = {}
    for kernel in state.get_all_opkernel_def():
        if kernel.provider == provider:
            found.setdefault((kernel.domain, kernel.op_name), []).append(kernel.version_range)
    return found


def defined() -> dict[Key, list[int]]:
    """Return the definitions known to onnxruntime: of the specification, its own, and old ones."""
    found: dict[Key, list[int]] = {}
    for schema in state.get_all_operator_schema():
        if schema.domain in DOMAINS:
            found.setdefault((schema.domain, schema.name), []).append(schema.since_version)
    return {key: sorted(set(items)) for key, items in found.items()}


def takes(version: int, ranges: list[tuple[int, int]]) -> bool:
    """Match as onnxruntime does: a kernel without an end applies to its own definition only."""
    return any(version == first or (last != OPEN_END and first <= version <= last) for first, last in ranges)


def opens(model: bytes) -> bool:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(model, options, providers=[PROVIDERS["cpu"]])
    except Exception:
        return False
    return True


def composed(missing: set[Definition]) -> set[Definition]:
    """Return the definitions without a kernel that run nevertheless, as functions of other operators."""
    found: set[Definition] = set()
    tried = {key[:2] for key in missing}
    for sample in samples():
        if (sample.domain, sample.op) in tried:
            keys = {key for key in missing - found if key[:2] == (sample.domain, sample.op)}
            found |= {key for key in keys if opens(sample.at(key[2]))}
    return found


def newest(domain: str) -> int:
    """Return the highest opset of a domain with which a model loads."""
    op = {"": "Relu", "ai.onnx.ml": "Binarizer"}[domain]
    return max(opset for opset in range(1, 40) if opens(minimal_model(domain, op, opset)))


def supported_definitions(provider: str, known: dict[Key, list[int]]) -> set[Definition]:
    own = kernels(provider)
    return {(*key, at) for key, items in known.items() for at in items if takes(at, own.get(key, []))}


def table(provider: str) -> Ranges:
    """Return the supported ranges. An operator is decomposed only if no provider has a kernel of it."""
    known = defined()
    held, on_cpu = supported_definitions(provider, known), supported_definitions(PROVIDERS["cpu"], known)
    held |= composed({(*key, at) for key, items in known.items() for at in items} - held - on_cpu)
    found: Ranges = {}
    for (domain, op), items in known.items():
        supported = [(domain, op, at) in held for at in items]
        if any(supported):
            found.setdefault(domain, {})[op] = spans(items, supported)
    return found


def main(which: str, date: str) -> None:
    source = "the kernels that the onnxruntime package lists, and sessions of one node for operators without one"
    head = {
        **HEADS[which],
        "version": onnxruntime.__version__,
        "source": source,
        "date": date,
        "basis": "run",
        "complete": list(DOMAINS),
        "newest": {domain: newest(domain) for domain in ("", "ai.onnx.ml")},
    }
    write(head, table(PROVIDERS[which]))


if __name__ == "__main__":
    main(*sys.argv[1:])
