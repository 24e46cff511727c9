"""QNN on the neural processor (HTP): `python -m scripts.runtimes.qnn_placements DATE`. Needs onnxruntime-qnn.

Each case of the specification's tests is opened as a session, and onnxruntime says where its nodes were placed. An
operator is taken if it was in any of its cases, with its other inputs given at run time or as constants, or if the
library names it. No processor is needed: the package for x86 compiles for one.
"""

import os
import re
import sys
from pathlib import Path

import onnx
import onnxruntime
import onnxruntime_qnn

from scripts.runtimes._models import samples, versions
from scripts.runtimes._table import SPECIFIED, Ranges, write

NAME = "qnn"
# Written as exporters do, where the specification's cases are not; and what is built, but only for quantized numbers
# (github.com/onnxruntime/onnxruntime-qnn onnxruntime/core/providers/qnn/builder/op_builder_factory.cc).
USUAL = {
    "LayerNormalization": "g (float[1, 3, 2] x) => (float y) <float[2] s = {1, 1}> { y = LayerNormalization(x, s) }",
}
BUILT = ("Round",)


def placed(model: bytes) -> bool:
    """Return whether all nodes are placed on QNN."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == NAME]
    options.add_provider_for_devices(devices[:1], {"backend_path": onnxruntime_qnn.get_qnn_htp_path()})
    session = onnxruntime.InferenceSession(model, options)
    parts = session.get_provider_graph_assignment_info()
    return bool(parts) and all(part.ep_name == NAME for part in parts)


def is_placed_isolated(model: bytes) -> bool:
    """Do the same in a separate process, which the compiler may crash."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        onnxruntime.register_execution_provider_library(NAME, onnxruntime_qnn.get_library_path())
        try:
            os._exit(17 if placed(model) else 0)
        except Exception:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17


def named_operators() -> set[str]:
    """Return the operators whose names are in the library; they count as supported."""
    library = Path(onnxruntime_qnn.get_library_path()).read_bytes()
    return {op for domain, op in versions() if not domain and re.search(rb"\b" + op.encode() + rb"\b", library)}


def table() -> Ranges:
    """Return the operators placed at any opset, and those named in the library: tests may fail by sizes or types."""
    rows: dict[str, list[int]] = {op: [1] for op in (*named_operators(), *BUILT)}
    for op, text in USUAL.items():
        model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]> {text}')
        if is_placed_isolated(bytes(model.SerializeToString())):
            rows[op] = [1]
    for sample in samples():
        if not sample.domain and sample.op not in rows:
            models = [sample.at(opset) for opset in versions()[sample.domain, sample.op]]
            if any(map(is_placed_isolated, [*models, sample.fixed()])):
                rows[sample.op] = [1]
    return {"": rows}


def main(date: str) -> None:
    head = {
        "id": NAME,
        "title": "Qualcomm's QNN provider",
        "version": onnxruntime_qnn.__version__,
        "source": "where onnxruntime-qnn's HTP backend placed the specification's one-node test models, and the names "
        "of operators in its library",
        "date": date,
        "basis": "run and document",
        "complete": list(SPECIFIED),
        "fallback": "onnxruntime runs such nodes on the CPU",
    }
    write(head, table())


if __name__ == "__main__":
    main(*sys.argv[1:])
