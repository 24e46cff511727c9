"""An operator was never released: it is an experiment of ONNX, or a leftover of its first days.

Why it matters: the specification does not define it, so that each runtime that takes it may mean something else by
it, and none has to keep it. onnxruntime knows a few of the old ones up to opset 9 and none of the previews.

What to do: export again with a current exporter, which writes released operators; for an operator that PyTorch's old
exporter wrote as ATen, use torch.onnx.export with dynamo=True.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._runtimes import runtimes
from onnx_autodoc.lint._uses import Used
from onnx_autodoc.ops import specified
from onnx_autodoc.text import named, plural

SEVERITY: Final = Severity.NOTE
_JUDGE: Final = "onnxruntime-cpu"
_MOST: Final = 4  # operators that are listed in the sentence


def check(case: Case) -> Iterator[Found]:
    found = [use for use in case.uses if not use.local and is_experimental(*use.key)]
    if found:
        nodes = tuple(spot.path for use in found for spot in (*use.spots, *use.aside))
        listed = ", ".join(named(".".join(filter(None, use.key)), 40) for use in found[:_MOST])
        more = " …" if len(found) > _MOST else ""
        refused = [use for use in found if not _runs(use)]
        which = "them" if len(refused) == len(found) else "all of them"
        yield Found(
            f"{plural(len(nodes), 'node')} {_are(nodes)} of operators that were never released: {listed}{more}"
            f"{f'; onnxruntime does not load {which}' if refused else ''}",
            nodes,
            severity=Severity.WARNING if refused else None,
        )


def is_experimental(domain: str, op: str) -> bool:
    return (not domain and op in specified.EXPERIMENTAL) or domain.startswith(specified.PREVIEW)


def _runs(use: Used) -> bool:
    return runtimes()[_JUDGE].takes(*use.key, use.opset) is True


def _are(nodes: tuple[str, ...]) -> str:
    return "is" if len(nodes) == 1 else "are"
