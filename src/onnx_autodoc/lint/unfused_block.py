"""Attention, layer normalization or GELU is written out in small operators.

Why it matters: each small operator writes its answer to memory for the next one to read. Runtimes have one operator
for the whole, and use it where the file has it or where they recognize the pieces; attention they recognize only in
the forms that they know.

What to do: run onnxruntime's optimizer for transformers and see what it fused (python -m
onnxruntime.transformers.optimizer --input model.onnx --output fused.onnx --model_type bert, with the type that fits),
or export again at an opset that has the operator: 17 for LayerNormalization, 20 for Gelu, 23 for Attention. Layer
normalization and GELU onnxruntime fuses by itself when it loads a model, so there is nothing to do for them there.

Reported from two on, for models that are not quantized (fuse first, then quantize) and have no local functions.
"""

from collections.abc import Iterator, Set
from typing import Final

from onnx_autodoc.ir import label
from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.ops import judged, kinds
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.INFO
_LEAST: Final = 2
_WORDS: Final = {"attention": "attention", "layer-norm": "layer normalization", "gelu": "GELU"}


def check(case: Case) -> Iterator[Found]:
    if case.model.functions or case.facts.precision.scheme is not None:
        return
    found = {kind: count for kind in _WORDS if (count := _written_out(case, kind))}
    names = tuple(_nodes(case, found.keys())) if sum(found.values()) >= _LEAST else ()
    if names:
        words = [plural(count, _WORDS[kind]) for kind, count in found.items()]
        listed = " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]
        yield Found(f"{listed} are written out in small operators", names)


def _nodes(case: Case, found: Set[str]) -> Iterator[str]:
    """The small operators, as far as they stand in no larger block."""
    places = case.structure.places
    for row, (scope, step) in enumerate(case.facts.shapes.rows()):
        kind = places.get(row, "").rpartition("/")[2]
        if kind in found and not step.node.nested and not _is_fused(step.node.op, kind):
            name = label(step.node, step.at)
            yield f"{scope}/{name}" if scope else name


def _written_out(case: Case, kind: str) -> int:
    """The blocks of a kind that no operator is."""
    blocks = sum(block.count for block in case.structure.blocks if block.kind == kind)
    return max(0, blocks - sum(count for _, op, count in case.facts.operators if _is_fused(op, kind)))


def _is_fused(op: str, kind: str) -> bool:
    return kinds.ATTENTION in op if kind == "attention" else op in judged.FUSED[kind]
