"""Tables that rows are looked up in hold much of the parameters.

Why it matters: an embedding table takes disk and memory by the size of its vocabulary, while a run reads a few rows of
it. Quantizing the matrix products leaves it as it is, and it becomes the larger part of what is left.

What to do: quantize the table too (quantize_dynamic of onnxruntime.quantization takes Gather by default; its
MatMulNBitsQuantizer does with op_types_to_quantize=("MatMul", "Gather")), keep it in float16, or drop the rows of
tokens that never come, along with their tokens.

Reported from 30 % of the parameters and 1 MiB on, for tables in floating point. A table that is the last layer's
weight too counts here.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.analysis.parameters import Weight
from onnx_autodoc.ir import is_float, stored_bytes
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.ops import kinds
from onnx_autodoc.text import memory, percent, plural

SEVERITY: Final = Severity.INFO
_SHARE: Final = 0.3  # of the parameters
_LEAST: Final = 1 << 20  # bytes
_SMALL: Final = 0.01  # of the parameters, up to which a table is not worth naming


def check(case: Case) -> Iterator[Found]:
    total, tables = case.facts.parameters.total, _tables(case)
    elements = sum(table.elements for table in tables)
    nbytes = sum(stored_bytes(table.dtype, table.elements) or 0 for table in tables)
    if nbytes >= _LEAST and elements >= _SHARE * total:
        types = " and ".join(dict.fromkeys(table.dtype for table in tables))
        holds = f"{'holds' if len(tables) == 1 else 'hold'} {percent(elements / total)} of the parameters"
        found = plural(len(tables), "embedding table")
        yield Found(f"{found} {holds}: {memory(nbytes)} in {types}", tuple(table.name for table in tables))


def _tables(case: Case) -> list[Weight]:
    """The largest first."""
    found = case.facts.parameters
    picked = [each for each in found.held if found.readers[each.place].op in kinds.PICKERS and is_float(each.dtype)]
    return sorted((each for each in picked if each.elements > _SMALL * found.total), key=lambda each: -each.elements)
