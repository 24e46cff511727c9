"""The operators that each runtime supports, as tables (data/runtimes), and the nodes of a model that it does not.

A table is of one release. Its basis is `run` (the runtime was queried) or `document` (its documentation). An operator
that it does not list counts as unsupported only in the domains for which the table is `complete`.
"""

from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from onnx_autodoc.decoding import json_decoder
from onnx_autodoc.lint.context import NodeRef, OperatorUse
from onnx_autodoc.ops import SPECIFIED_DOMAINS, Trait, first_opset, has_trait

# One file each, in the order in which they are reported
RUNTIMES: Final = (
    "onnxruntime-cpu",
    "onnxruntime-cuda",
    "tensorrt",
    "openvino",
    "coreml",
    "qnn",
    "onnxruntime-mobile",
    "onnxruntime-web",
)
_FOLDER: Final = Path(__file__).parents[1] / "data" / "runtimes"


class Runtime(Struct, frozen=True, forbid_unknown_fields=True):
    """The operator table of one runtime.

    `operators`: domain, operator -> the first opset that is supported, and the last one if there is one.
    `whole`: the runtime reads the file itself, so it must support nodes on constants and sizes too, which onnxruntime
    folds before it assigns nodes to providers. `functions`: it inlines the functions of the file.
    """

    id: str
    title: str
    version: str
    source: str
    date: str
    basis: str
    complete: tuple[str, ...]
    fallback: str  # the consequence for unsupported nodes, as the end of a sentence
    operators: dict[str, dict[str, tuple[int, ...]]]
    notes: dict[str, dict[str, str]] = {}
    newest: dict[str, int] = {}  # domain -> the highest opset that it loads
    whole: bool = False
    functions: bool = True

    @property
    def name(self) -> str:
        return f"{self.title} {self.version}"

    def supports(self, domain: str, op: str, opset: int | None) -> bool | None:
        """Whether it supports an operator; None if the table has no entry that decides it."""
        span = self.operators.get(domain, {}).get(op)
        if span is None:
            is_listed = domain not in SPECIFIED_DOMAINS or first_opset(domain, op) is not None
            return False if domain in self.complete and is_listed else None
        return None if opset is None else span[0] <= opset <= (span[1] if len(span) > 1 else opset)


@cache
def runtimes() -> dict[str, Runtime]:
    """Return all tables by id; they are read at the first call."""
    decoder = json_decoder(Runtime)
    return {name: decoder.decode((_FOLDER / f"{name}.json").read_bytes()) for name in RUNTIMES}


def unsupported_nodes(runtime: Runtime, uses: list[OperatorUse]) -> dict[tuple[str, str], list[NodeRef]]:
    """Return the operators (domain, op type) that a runtime does not support, with their nodes."""
    nodes: dict[tuple[str, str], list[NodeRef]] = {}
    for use in uses:
        refs = use.refs if runtime.whole else use.on_data
        if use.is_local:
            is_unsupported = not runtime.functions
        elif not runtime.whole and has_trait(use, Trait.DROPPED_BY_ORT):
            is_unsupported = False
        else:
            is_unsupported = runtime.supports(use.domain, use.op, use.opset) is False
        if refs and is_unsupported:
            nodes.setdefault((use.domain, use.op), []).extend(refs)
    return nodes
