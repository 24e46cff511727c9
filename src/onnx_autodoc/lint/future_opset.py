"""The file is written in a newer version of the ONNX operators than tools know.

Why it matters: onnxruntime refuses versions that were not released when it was built. Of a version that is not known
here, what an operator does may have changed, so that this card holds for the newest version known.

What to do: use the newest release of this tool and of the runtime, or export with a version that both know
(opset_version=17 of torch.onnx.export).
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._runtimes import runtimes
from onnx_autodoc.ops import judged, specified

_COMMON: Final = "onnxruntime-cpu"
SEVERITY: Final = Severity.WARNING


def check(case: Case) -> Iterator[Found]:
    runtime = runtimes()[_COMMON]
    for domain, newest in runtime.newest.items():
        version = case.model.opsets.get(domain, 0)
        if version > newest:
            name, known = domain or "ai.onnx", judged.NEWEST_OPSET if not domain else specified.newest(domain)
            here = f", the newest known here is {known}" if version > known else ""
            text = f"the file is written in opset {version} of {name}; {runtime.name} opens it up to {newest}{here}"
            yield Found(text, about=domain or None)
