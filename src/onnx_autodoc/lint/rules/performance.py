"""Rules on memory and memory traffic."""

import heapq
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import MAX_INT64, is_float, stored_bytes
from onnx_autodoc.lint.context import LintContext
from onnx_autodoc.lint.rule import Severity, Violation, describe_sizes, rule
from onnx_autodoc.ops import nbytes, operator_of
from onnx_autodoc.shapes import required_inputs
from onnx_autodoc.text import format_bytes, format_number, format_percent, format_short, pluralize


@rule(
    Severity.ERROR,
    """Memory or work of a run exceeds 64 bits.

Why it matters: runtimes count bytes in 64 bits, and no machine has 8 EiB of memory, so the model cannot run at these
sizes. A size of a damaged or malicious file is often the cause.

What to do: look for the size that is too large in the shapes of the inputs and in the constants that determine shapes
(Reshape, Expand, Tile, ConstantOfShape), and correct it. If you requested the size, request a smaller one.

The severity is warning if only the FLOPs or the bytes moved exceed 64 bits, which a loop may cause. The card gives
9,223,372,036,854,775,807 for such figures, as a lower bound.
""",
)
def impossible_size(context: LintContext) -> Iterator[Violation]:
    values, peak, total = context.facts.shapes.values, context.facts.memory.peak, context.facts.costs.total
    if peak is not None and peak.nbytes > MAX_INT64:
        sizes = {name: nbytes(known) for name, known in values.items()}
        tensors = [name for name, size in sizes.items() if isinstance(size, int) and size > MAX_INT64]
        message = f"activations peak at more than 2^63 - 1 bytes{describe_sizes(context)}"
        yield Violation(message, tensors or [peak.node], about="memory")
    work = {"FLOPs": total.flops, "bytes moved": total.read + total.written}
    exceeding = [name for name, number in work.items() if number > MAX_INT64]
    if exceeding:
        message = f"a run takes more than 2^63 - 1 {' and '.join(exceeding)}{describe_sizes(context)}"
        nodes = [name for macs, name, _ in total.most_expensive() if macs > MAX_INT64]
        yield Violation(message, nodes, severity=Severity.WARNING, about="work")


_MIN_PEAK_BYTES: Final = 64 << 20
_MIN_PEAK_RATIO: Final = 4  # to the weights


@rule(
    Severity.INFO,
    """Activations take several times the memory of the weights.

Why it matters: the size of the data, not of the file, determines whether the model fits. Smaller weights save almost
nothing, and twice the batch takes nearly twice the memory.

What to do: use smaller batches, smaller images or tiles of a large image, or convert activations to float16, which
halves them (onnxconverter_common.float16.convert_float_to_float16). If the assumed sizes are not yours, run again with
your own.

Reported if the peak is at least 64 MiB and at least four times the weights, under the convention of the card: nodes run
in file order, and a value is freed after its last reader. A runtime may need more for scratch memory, or less because
of fusion.
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
    """Embedding tables hold a large share of the parameters.

Why it matters: the disk and memory size of an embedding table grows with its vocabulary, while a run reads only a few
rows. Quantization of the matrix products does not change it, so it becomes the larger part of the remaining size.

What to do: quantize the table as well (quantize_dynamic of onnxruntime.quantization includes Gather by default; its
MatMulNBitsQuantizer does with op_types_to_quantize=("MatMul", "Gather")), store it in float16, or remove the rows of
tokens that never occur, together with these tokens.

Reported from 30% of the parameters and 1 MiB, for floating-point tables. A table that is also the weight of the last
layer counts.
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
    """The model is memory-bound: it computes little with each byte that it reads.

Why it matters: a device whose arithmetic is faster than its memory waits for data. Phones and small boards compute
about 10 floating-point operations in the time that one byte takes, large GPUs 15 to 300. A model below this ratio gains
nothing from more arithmetic units, and much from fewer bytes.

What to do: read fewer bytes or reuse them: weights in 8 or 4 bits (MatMulNBitsQuantizer in
onnxruntime.quantization.matmul_nbits_quantizer, or quantize_dynamic), float16 instead of float32, more sequences or
images in one batch.

Reported below 8 FLOPs per byte. Each weight and each input counts as read once, and tables that are only looked up do
not count: a runtime that reads more only lowers the ratio. Models of less than 64 MiB are not reported, because they
may stay in a device's cache, nor are models whose FLOPs are partly unknown or whose weights are selected by the data.
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
        f"memory-bound: {intensity} FLOPs per byte read ({sums}){describe_sizes(context)}",
        [name for name, _ in heaviest],
    )
