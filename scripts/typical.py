"""`make typical`: the published measurements as points for estimates, in src/onnx_autodoc/data/typical.json."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from onnx_autodoc.hardware.typical import Measurement, make_query
from scripts.published import Published, load_published

OUT = Path(__file__).parent.parent / "src" / "onnx_autodoc" / "data" / "typical.json"
# What a runtime's name has in it, and how it is called here; the first that fits.
RUNTIMES = {
    r"llama\.cpp|whisper\.cpp": "ggml",
    r"FasterTransformer": "fastertransformer",
    r"QNN": "qnn",
    r"TensorRT|Jet[Pp]ack|Jetson CUDA": "tensorrt",
    r"PyTorch": "pytorch",
    r"Hailo": "hailort",
    r"Edge TPU": "edgetpu",
    r"TensorFlow": "tensorflow",
    r"TFLite|ArmNN|NCNN|MNN|TVM": "mobile",
    r"OpenVINO": "openvino",
    r"ONNX Runtime": "onnxruntime",
}


def is_comparable(row: Published) -> bool:
    """Exclude rows that did less work than the model (padding removed) or whose quantization is not stated."""
    return "drop padding" not in row.notes and row.phase != "prefill+decode" and not row.is_vague


def points(rows: tuple[Published, ...]) -> Iterator[tuple[Published, Measurement]]:
    for row in rows:
        if is_comparable(row) and (point := point_of(row)) is not None:
            yield row, point


def point_of(row: Published) -> Measurement | None:
    (workload, _), (bound, _) = row.parts[0], row.lower_bounds[0]
    query = make_query(workload, row.device, row.number_format, bound)
    if query is None:
        return None
    bound_seconds = sum((each.roofline or 0.0) * times for each, times in row.lower_bounds)
    return Measurement(
        **{name: getattr(query, name) for name in ("device", "platform", "precision", "work", "family")},
        runtime=runtime_of(row.runtime),
        source=source_of(row.source),
        **{name: round(getattr(query, name), 4) for name in ("length", "batch", "intensity")},
        factor=round(float(np.log10(row.seconds / bound_seconds)), 4),
    )


def runtime_of(text: str) -> str:
    return next((name for pattern, name in RUNTIMES.items() if re.search(pattern, text)), "other")


def source_of(text: str) -> str:
    """Return the source of a row: the logs of one MLPerf system, or the models of one collection, are one source."""
    match = re.match(r"(mlcommons/\S+) closed/(\S+?)/results/([^/]+)/", text)
    if match:
        return f"{match[1]} {match[2]} {match[3]}"
    return re.sub(r"^(quic/ai-hub-models) .*", r"\1", text)


def format_points() -> str:
    lines = (msgspec.json.encode(point).decode() for _, point in points(load_published()))
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    OUT.write_text(format_points())
