"""Published measurements and what their models ask of a device, as the tests and `make typical` use them.

`tests/data/published/published.csv` has the measurements with their sources; `works.json` has, for each, what our own
tool counts on an ONNX graph of the model at the sizes of the measurement: its kernels as columns of numbers. The graphs
were exported with random weights from the architectures' public definitions; they are not kept, their counts are held
against those that the sources print.
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
MANY = 64  # the batch that is taken where a source says only that there was a large one


class Published(Struct, frozen=True, eq=False):
    """A measurement on one device. `parts`: what was run, and how often."""

    id: str
    model: str
    device: Device
    number_format: NumberFormat
    runtime: str
    source: str
    notes: str
    phase: str
    seconds: float
    is_vague: bool  # nobody says how it was quantized
    parts: tuple[tuple[Workload, float], ...]

    @property
    def lower_bounds(self) -> list[tuple[LowerBound, float]]:
        return [(compute_lower_bound(each, self.device, self.number_format), times) for each, times in self.parts]

    @property
    def bound(self) -> float | None:
        found = [(each.seconds, times) for each, times in self.lower_bounds]
        return sum(seconds * times for seconds, times in found if seconds is not None) or None


def published() -> Iterator[Published]:
    """Those whose device, precision and time are stated, and whose model there is a graph of."""
    works = json.loads((FOLDER / "works.json").read_text())
    with (FOLDER / "published.csv").open() as file:
        for row in csv.DictReader(file):
            found = works["rows"].get(row["id"])
            if found and row["device_key"]:
                yield _published(row, found, works["graphs"])


def _published(row: dict[str, str], found: dict[str, Any], graphs: dict[str, Any]) -> Published:
    device, many = find_device(row["device_key"]), int(row["device_count"] or 1)
    return Published(
        id=row["id"],
        model=row["model"],
        device=device,
        number_format=NUMBER_FORMATS[precision_of(row["precision"])],
        runtime=row["runtime"],
        source=row["source"],
        notes=row["notes"],
        phase=found["phase"],
        seconds=found["seconds"] * many,
        is_vague=row["precision"].startswith("quantized"),
        parts=tuple((workload_of(graphs[name], batch, found["phase"]), times) for name, batch, times in found["parts"]),
    )


def precision_of(said: str) -> str:
    """As the source has it. 4-bit files of llama.cpp are int4; what is quantized nobody says how may be that, too."""
    if said.startswith(("q4", "quantized")):
        return "int4"
    return "fp16" if said.startswith(("f16", "fp16")) else said.split()[0]


def workload_of(work: dict[str, Any], batch: int, phase: str) -> Workload:
    """Return the workload of a graph at a batch: its record is of batch 1, or of its static batch."""
    by = batch / (work["batch"] or 1)
    floats, others = work["edges"]
    workload = Workload(
        kernels=_kernel_table(work["kernels"]).scaled(by),
        native_format=NUMBER_FORMATS[work["own"]],
        macs=round(work["macs"] * by),
        weights=work["weights"],
        parameters=work["held"],
        weight_bytes=work["held"] * 4,
        io_volume=DataVolume(round(floats * by), round(others * by)),
        peak_activation_bytes=None,
        activation_bytes=4,
        batch=batch,
        coverage=1.0,
        family=work["family"],
    )
    return structs.replace(workload, phase=phase) if phase in ("prefill", "decode") else workload


def _kernel_table(kernels: list[list[Any]]) -> KernelTable:
    """Equal kernels are one line with their count."""
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
def all_published() -> tuple[Published, ...]:
    return tuple(published())
