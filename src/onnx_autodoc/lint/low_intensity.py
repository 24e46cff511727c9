"""The model does so little with each byte it reads that memory, not arithmetic, sets its speed.

Why it matters: a device that can compute faster than its memory can bring numbers waits for them. Phones and small
boards compute about 10 floating-point operations in the time that one byte takes, large GPUs 15 to 300. A model below
that gains nothing from more arithmetic units, and much from fewer bytes.

What to do: bring fewer bytes or use them more often: weights in 8 or 4 bits (MatMulNBitsQuantizer in
onnxruntime.quantization.matmul_nbits_quantizer, or quantize_dynamic), float16 instead of float32, more sequences or
pictures in one batch.

Reported below 8 FLOPs for each byte, where each weight is counted as read once, tables that are only looked up not at
all, and each input once: a runtime that reads more only makes it worse. Only for models of 64 MiB at least, as smaller
ones may stay in a device's cache, and not where a part of the arithmetic is not known or the data pick the weights.
"""

import heapq
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._words import at_sizes
from onnx_autodoc.ops import kinds, nbytes
from onnx_autodoc.shapes import inputs_of
from onnx_autodoc.text import memory, short, three

SEVERITY: Final = Severity.INFO
_FLOPS: Final = 8  # for each byte
_LEAST: Final = 64 << 20  # bytes
_PICKING: Final = ("moe",)  # blocks that use some of their weights only
_NAMED: Final = 10  # nodes that read the most


def check(case: Case) -> Iterator[Found]:
    total, read = case.facts.costs.total, _read(case)
    picks = any(block.kind in _PICKING for block in case.structure.blocks)
    if total.missing or picks or read < _LEAST or not 0 < total.flops < _FLOPS * read:
        return
    each = three(total.flops / read)
    sums = f"{short(total.flops, 'FLOPs')} on {memory(read)} of weights and inputs"
    message = f"{each} FLOPs for each byte that is read ({sums}){at_sizes(case)}: memory bounds the speed"
    yield Found(message, _heaviest(case))


def _read(case: Case) -> int:
    """Bytes that a run reads at least."""
    values = case.facts.shapes.values
    given = (nbytes(values[value.name]) for value in inputs_of(case.model) if value.name in values)
    return sum(size for _, size in _used(case)) + sum(size for size in given if isinstance(size, int))


def _used(case: Case) -> Iterator[tuple[str, int]]:
    """Nodes that read weights whole, with how many bytes of them; what is inside branches and loops may not run."""
    found = case.facts.parameters
    for (owner, at), share in found.nodes.items():
        reader = found.readers[owner, at]
        if not owner and reader.op not in kinds.PICKERS:
            yield reader.name, share.nbytes


def _heaviest(case: Case) -> tuple[str, ...]:
    return tuple(name for name, _ in heapq.nlargest(_NAMED, _used(case), key=lambda item: item[1]))
