"""Rules on memory and memory traffic."""

import heapq
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import is_float, stored_bytes
from onnx_autodoc.lint.context import LintContext
from onnx_autodoc.lint.rule import Severity, Violation, describe_sizes, rule
from onnx_autodoc.ops import nbytes, operator_of
from onnx_autodoc.shapes import required_inputs
from onnx_autodoc.text import format_bytes, format_number, format_percent, format_short, pluralize

_MIN_PEAK_BYTES: Final = 64 << 20
_MIN_PEAK_RATIO: Final = 4  # to the weights


@rule(
    Severity.INFO,
    """The values of a run take several times the memory of the weights.

Why it matters: what decides here whether the model fits is the size of the data, not of the file: smaller weights save
next to nothing, and twice the batch takes nearly twice the memory.

What to do: run smaller batches, smaller pictures or a large one in tiles, or convert the values to float16, which
halves them (onnxconverter_common.float16.convert_float_to_float16). If the sizes that were assumed are not yours, ask
again with your own.

Reported where the peak is 64 MiB at least and four times the weights, under the convention of the card: nodes run in
file order, and a value is freed after its last reader. A runtime may need more for its own scratch memory, or less by
fusing.
""",
)
def large_activations(context: LintContext) -> Iterator[Violation]:
    peak, weights = context.facts.memory.peak, context.facts.parameters.nbytes
    if peak is not None and weights and peak.nbytes >= max(_MIN_PEAK_BYTES, _MIN_PEAK_RATIO * weights):
        bound = "at least " if context.facts.memory.unknown else ""
        ratio = f"{format_number(peak.nbytes / weights)} times the {format_bytes(weights)} of weights"
        size = f"{bound}{format_bytes(peak.nbytes)}"
        yield Violation(f"activations peak at {size}, {ratio}{describe_sizes(context)}", [peak.node])


_MIN_EMBEDDING_SHARE: Final = 0.3  # of the parameters
_MIN_EMBEDDING_BYTES: Final = 1 << 20
_MIN_TABLE_SHARE: Final = 0.01  # of the parameters


@rule(
    Severity.INFO,
    """Tables that rows are looked up in hold much of the parameters.

Why it matters: an embedding table takes disk and memory by the size of its vocabulary, while a run reads a few rows of
it. Quantizing the matrix products leaves it as it is, and it becomes the larger part of what is left.

What to do: quantize the table too (quantize_dynamic of onnxruntime.quantization takes Gather by default; its
MatMulNBitsQuantizer does with op_types_to_quantize=("MatMul", "Gather")), keep it in float16, or drop the rows of
tokens that never come, along with their tokens.

Reported from 30% of the parameters and 1 MiB on, for tables in floating point. A table that is the last layer's
weight too counts here.
""",
)
def large_embedding(context: LintContext) -> Iterator[Violation]:
    parameters = context.facts.parameters
    tables = [
        weight
        for weight in parameters.held
        if is_float(weight.dtype)
        and operator_of(parameters.readers[weight.place]).index_input is not None
        and weight.elements > _MIN_TABLE_SHARE * parameters.total
    ]
    tables.sort(key=lambda table: -table.elements)
    elements = sum(table.elements for table in tables)
    nbytes = sum(stored_bytes(table.dtype, table.elements) or 0 for table in tables)
    if nbytes >= _MIN_EMBEDDING_BYTES and elements >= _MIN_EMBEDDING_SHARE * parameters.total:
        dtypes = " and ".join(dict.fromkeys(table.dtype for table in tables))
        hold = pluralize(len(tables), "embedding table holds", "embedding tables hold")
        share = f"{format_percent(elements / parameters.total)} of the parameters"
        yield Violation(f"{hold} {share}: {format_bytes(nbytes)} in {dtypes}", [table.name for table in tables])


_MIN_FLOPS_PER_BYTE: Final = 8
_MIN_READ_BYTES: Final = 64 << 20
_SPARSE_BLOCKS: Final = ("moe",)  # use only some of their weights
_MAX_NODES: Final = 10


@rule(
    Severity.INFO,
    """The model does so little with each byte it reads that memory, not arithmetic, sets its speed.

Why it matters: a device that can compute faster than its memory can bring numbers waits for them. Phones and small
boards compute about 10 floating-point operations in the time that one byte takes, large GPUs 15 to 300. A model below
that gains nothing from more arithmetic units, and much from fewer bytes.

What to do: bring fewer bytes or use them more often: weights in 8 or 4 bits (MatMulNBitsQuantizer in
onnxruntime.quantization.matmul_nbits_quantizer, or quantize_dynamic), float16 instead of float32, more sequences or
pictures in one batch.

Reported below 8 FLOPs for each byte, where each weight is counted as read once, tables that are only looked up not at
all, and each input once: a runtime that reads more only makes it worse. Only for models of 64 MiB at least, as smaller
ones may stay in a device's cache, and not where a part of the arithmetic is unknown or the data pick the weights.
""",
)
def low_intensity(context: LintContext) -> Iterator[Violation]:
    total, parameters, values = context.facts.costs.total, context.facts.parameters, context.facts.shapes.values
    weights = [  # that are read whole; nodes of subgraphs may not run and are left out
        (parameters.readers[owner, at].name, share.nbytes)
        for (owner, at), share in parameters.nodes.items()
        if not owner and operator_of(parameters.readers[owner, at]).index_input is None
    ]
    inputs = [nbytes(values[item.name]) for item in required_inputs(context.model) if item.name in values]
    read = sum(size for _, size in weights) + sum(size for size in inputs if isinstance(size, int))
    is_sparse = any(block.kind in _SPARSE_BLOCKS for block in context.structure.blocks)
    if total.missing or is_sparse or read < _MIN_READ_BYTES or not 0 < total.flops < _MIN_FLOPS_PER_BYTE * read:
        return
    intensity = format_number(total.flops / read)
    sums = f"{format_short(total.flops, 'FLOPs')} on {format_bytes(read)} of weights and inputs"
    heaviest = heapq.nlargest(_MAX_NODES, weights, key=lambda item: item[1])
    yield Violation(
        f"{intensity} FLOPs for each byte that is read ({sums}){describe_sizes(context)}: memory bounds the speed",
        [name for name, _ in heaviest],
    )
