"""onnxruntime-web on WebGPU: `python -m scripts.runtimes.web_browser VERSION DATE PACKAGE`, the npm package unpacked.

The specification's one-node models are opened in a real browser with WebGPU alone, which fails where a node is left to
the CPU. An operator is taken at an opset if one of its cases is. Needs `make browser` (chromium, playwright-core), and
onnxruntime to know which cases open at all.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.runtimes._models import Sample, samples
from scripts.runtimes._table import SPECIFIED, Ranges, spans, write
from scripts.runtimes.onnxruntime_kernels import PROVIDERS, Definition, defined, newest, opens, supported_definitions

OLDEST = 7  # that onnxruntime promises to run
MOST = 9  # models of one definition, each of other types, attributes or outputs


def models(folder: Path) -> dict[Path, Definition]:
    """Write the models to test, each at the last opset of its operator's definition."""
    known = defined()
    last = {domain: newest(domain) for domain in ("", "ai.onnx.ml")}
    found: dict[Path, Definition] = {}
    seen: dict[Definition, set[tuple[object, ...]]] = {}
    for sample in samples():
        for at, until in _definition_ranges(known.get((sample.domain, sample.op), []), last.get(sample.domain, 0)):
            kinds = seen.setdefault((sample.domain, sample.op, at), set())
            if _form(sample) in kinds or len(kinds) == MOST or not opens(sample.at(until)):
                continue
            kinds.add(_form(sample))
            path = folder / f"{len(found)}.onnx"
            path.write_bytes(sample.at(until))
            found[path] = (sample.domain, sample.op, at)
    return found


def _form(sample: Sample) -> tuple[object, ...]:
    """Return what determines the kernel: types and the form of the node."""
    node, types = sample.model.graph.node[0], [value.type.tensor_type.elem_type for value in sample.model.graph.input]
    return (*types, len(node.output), *(item.SerializeToString() for item in node.attribute))


def _definition_ranges(versions: list[int], last: int) -> list[tuple[int, int]]:
    """Return the opset of each definition, and the last one before the next definition."""
    ends = [*(version - 1 for version in versions[1:]), last]
    return [(at, min(end, last)) for at, end in zip(versions, ends, strict=False) if at <= last and end >= OLDEST]


def placed(package: str) -> dict[Definition, bool]:
    """Return whether a model of each tested definition runs on WebGPU alone.

    What has no kernel even on the CPU is taken apart, and its parts are placed: that is no lack of this provider's.
    """
    whole = supported_definitions(PROVIDERS["cpu"], defined())
    found: dict[Definition, bool] = {}
    with tempfile.TemporaryDirectory() as folder:
        tried = models(Path(folder))
        command = ["node", str(Path(__file__).with_name("web_page.mjs")), package]
        answers = subprocess.check_output(command, input="\n".join(map(str, tried)), text=True)  # noqa: S603
    for line in answers.splitlines():
        path, _, answer = line.partition("\t")
        key = tried[Path(path)]
        found[key] = found.get(key, key not in whole) or answer == "yes"
    return found


def documented(package: str) -> Ranges:
    """Return the operators that the package documents for its other build: `Abs | ai.onnx(6-12,13+)` is [6]."""
    found: Ranges = {}
    text = Path(package, "docs/webgpu-operators.md").read_text(encoding="utf-8")
    for op, documented_ops in re.findall(r"^\| (\w+) \| ([^|]*) \|", text, re.M):
        for domain, opsets in re.findall(r"(ai\.onnx|com\.microsoft)\(([^)]*)\)", documented_ops):
            numbers = [int(item) for item in re.findall(r"\d+", opsets)]
            rows = found.setdefault("" if domain == "ai.onnx" else domain, {})
            rows[op] = [min(numbers)] if "+" in opsets else [min(numbers), max(numbers)]
    return found


def table(supported: dict[Definition, bool], documented_ops: Ranges) -> Ranges:
    """Merge both builds of the package: an operator that either supports is supported."""
    found: Ranges = {domain: dict(rows) for domain, rows in documented_ops.items()}
    for domain, op in sorted({key[:2] for key in supported}):
        versions = sorted(key[2] for key in supported if key[:2] == (domain, op))
        flags = [supported[domain, op, version] for version in versions]
        rows = found.setdefault(domain, {})
        if any(flags) and len(rows.get(op, [0, 0])) > 1:
            rows[op] = spans(versions, flags)
        if op in rows and flags[0]:
            rows[op] = [min(versions[0], rows[op][0]), *rows[op][1:]]
    return found


def main(version: str, date: str, package: str) -> None:
    head = {
        "id": "onnxruntime-web",
        "title": "onnxruntime-web's WebGPU provider",
        "version": version,
        "source": "sessions of the specification's one-node test models in Chromium, with the npm package "
        "onnxruntime-web on WebGPU alone, and the package's docs/webgpu-operators.md",
        "date": date,
        "basis": "run and document",
        "complete": list(SPECIFIED),
        "fallback": "onnxruntime-web runs such nodes on the CPU, in WebAssembly",
    }
    write(head, table(placed(package), documented(package)))


if __name__ == "__main__":
    main(*sys.argv[1:])
