"""The file is written in a version of the ONNX operators that is not known here.

Why it matters: what an operator does may have changed, so what this card says of its nodes holds for the newest version
known. onnxruntime refuses versions that were not released when it was built.

What to do: use the newest release of this tool and of the runtime, or export with a version that both know
(opset_version=17 of torch.onnx.export).
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ops import judged
from onnx_autodoc.rules._case import Case
from onnx_autodoc.rules._finding import Found, Severity

SEVERITY: Final = Severity.INFO


def check(case: Case) -> Iterator[Found]:
    version = case.model.opsets.get("", 0)
    if version > judged.NEWEST_OPSET:
        known = f"the newest known here is {judged.NEWEST_OPSET} ({judged.NEWEST_OPSET_DATE})"
        yield Found(f"the file is written in opset {version} of ai.onnx; {known}")
