"""The file is written in a newer version of the ONNX operators than tools know.

Why it matters: onnxruntime refuses versions that were not released when it was built. Of a version that is not known
here, what an operator does may have changed, so that this card holds for the newest version known.

What to do: use the newest release of this tool and of the runtime, or export with a version that both know
(opset_version=17 of torch.onnx.export).
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ops import judged
from onnx_autodoc.rules._case import Case
from onnx_autodoc.rules._finding import Found, Severity
from onnx_autodoc.rules._runtimes import runtimes

_COMMON: Final = "onnxruntime-cpu"
SEVERITY: Final = Severity.WARNING


def check(case: Case) -> Iterator[Found]:
    version, runtime = case.model.opsets.get("", 0), runtimes()[_COMMON]
    if version > runtime.newest[""]:
        opens = f"{runtime.name} opens it up to {runtime.newest['']}"
        known = f", the newest known here is {judged.NEWEST_OPSET}" if version > judged.NEWEST_OPSET else ""
        yield Found(f"the file is written in opset {version} of ai.onnx; {opens}{known}")
