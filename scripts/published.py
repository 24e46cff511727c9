"""Published measurements with the workloads of their models, for the tests and `make typical`.

`tests/data/published/published.csv` has the measurements with their sources; `works.json` has, for each, the costs
that the tool counts on an ONNX graph of the model at the sizes of the measurement: its kernels as columns of numbers.
The graphs were exported with random weights from the architectures' public definitions; they are not stored; their
counts are compared with those that the sources state.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, structs

from onnx_autodoc.hardware import (
    NUMBER_FORMATS,
    DataVolume,
    KernelTable,
    LowerBound,
    NumberFormat,
    Workload,
    compute_lower_bound,
)
from onnx_autodoc.hardware.devices import Device, find_device
from onnx_autodoc.ops import WorkClass

FOLDER = Path(__file__).parent.parent / "tests" / "data" / "published"
LARGE_BATCH = 64  # assumed where a source states only that the batch is large


class Published(Struct, frozen=True, eq=False):
    """A measurement on one device. `parts`: the workloads that were run, with their number of runs."""

    id: str
    model: str
    device: Device
    number_format: NumberFormat
    runtime: str
    source: str
    notes: str
    phase: str
    seconds: float
    is_vague: bool  # the source does not state how it was quantized
    parts: tuple[tuple[Workload, float], ...]

    @property
    def lower_bounds(self) -> list[tuple[LowerBound, float]]:
        return [(compute_lower_bound(each, self.device, self.number_format), times) for each, times in self.parts]

    @property
    def bound(self) -> float | None:
        record = [(each.seconds, times) for each, times in self.lower_bounds]
        return sum(seconds * times for seconds, times in record if seconds is not None) or None


def read_published() -> Iterator[Published]:
    """Yield the measurements with known device, precision and time, and with a graph of the model."""
    works = json.loads((FOLDER / "works.json").read_text())
    with (FOLDER / "published.csv").open() as file:
        for row in csv.DictReader(file):
            record = works["rows"].get(row["id"])
            if record and row["device_key"]:
                yield _parse_row(row, record, works["graphs"])


def _parse_row(row: dict[str, str], record: dict[str, Any], graphs: dict[str, Any]) -> Published:
    device, device_count = find_device(row["device_key"]), int(row["device_count"] or 1)
    return Published(
        id=row["id"],
        model=row["model"],
        device=device,
        number_format=NUMBER_FORMATS[precision_of(row["precision"])],
        runtime=row["runtime"],
        source=row["source"],
        notes=row["notes"],
        phase=record["phase"],
        seconds=record["seconds"] * device_count,
        is_vague=row["precision"].startswith("quantized"),
        parts=tuple(
            (workload_of(graphs[name], batch, record["phase"]), times) for name, batch, times in record["parts"]
        ),
    )


def precision_of(text: str) -> str:
    """Return the precision of a row. 4-bit files of llama.cpp are int4, and so is unspecified quantization."""
    if text.startswith(("q4", "quantized")):
        return "int4"
    return "fp16" if text.startswith(("f16", "fp16")) else text.split()[0]


def workload_of(work: dict[str, Any], batch: int, phase: str) -> Workload:
    """Return the workload of a graph at a batch: its record is of batch 1, or of its static batch."""
    scale = batch / (work["batch"] or 1)
    floats, others = work["edges"]
    workload = Workload(
        kernels=_kernel_table(work["kernels"]).scaled(scale),
        native_format=NUMBER_FORMATS[work["own"]],
        macs=round(work["macs"] * scale),
        weights=work["weights"],
        parameters=work["held"],
        weight_bytes=work["held"] * 4,
        io_volume=DataVolume(round(floats * scale), round(others * scale)),
        peak_activation_bytes=None,
        activation_bytes=4,
        batch=batch,
        coverage=1.0,
        family=work["family"],
    )
    return structs.replace(workload, phase=phase) if phase in ("prefill", "decode") else workload


def _kernel_table(kernels: list[list[Any]]) -> KernelTable:
    """Expand the lines of a record, which join equal kernels with their count."""
    counts = [line[-1] for line in kernels]
    columns = [np.repeat(np.array([float(line[at]) for line in kernels]), counts) for at in (0, 2, 3, 4)]
    kinds = np.repeat(np.array([line[6] for line in kernels]), counts)
    launches = np.repeat(np.array([float(line[5]) for line in kernels]), counts)
    return KernelTable((), *columns, launches, kinds == WorkClass.CONVOLUTION)


def record_of(workload: Workload) -> dict[str, Any]:
    """Return the record that `workload_of` reads."""
    lines = Counter(
        (
            each.macs,
            each.other,
            sum(each.weights.values()),
            (each.read + each.written).floats,
            (each.read + each.written).other_bytes,
            each.times,
            str(each.kind),
        )
        for each in workload.kernels.rows
    )
    return {
        "macs": workload.macs,
        "weights": workload.weights,
        "held": workload.parameters,
        "edges": [workload.io_volume.floats, workload.io_volume.other_bytes],
        "batch": workload.batch,
        "family": workload.family,
        "own": workload.native_format.name,
        "kernels": [[*line, count] for line, count in lines.items()],
    }


@cache
def load_published() -> tuple[Published, ...]:
    return tuple(read_published())
