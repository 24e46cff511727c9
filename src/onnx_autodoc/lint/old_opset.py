"""The file is written in an old version of the ONNX operators.

Why it matters: onnxruntime guarantees versions from 7 on and runs older ones where it still happens to have them. Tools
want newer ones still: quantized operators came with version 10, and onnxruntime's quantizer asks for 11.

What to do: export again with a newer version (opset_version=17 of torch.onnx.export, --opset 17 of tf2onnx), or convert
the file: python -m onnxruntime.tools.update_onnx_opset --opset 17 old.onnx new.onnx, then compare the outputs of both.

Below 7 it is a warning, from 7 to 10 it is only good to know. Models of other domains alone (ai.onnx.ml) are not meant.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.ops import judged

SEVERITY: Final = Severity.INFO


def check(case: Case) -> Iterator[Found]:
    version = case.model.opsets.get("") if case.model.opsets else 1
    if version is None or version >= judged.OPSET_OF_TOOLS or not _is_used(case):
        return
    if version < judged.OPSET_GUARANTEED:
        wanted = f"onnxruntime guarantees {judged.OPSET_GUARANTEED} and newer"
        yield Found(f"the file is written in opset {version} of ai.onnx; {wanted}", severity=Severity.WARNING)
    else:
        wanted = f"onnxruntime's quantizer asks for {judged.OPSET_OF_TOOLS} or newer"
        yield Found(f"the file is written in opset {version} of ai.onnx; {wanted}")


def _is_used(case: Case) -> bool:
    return any(not domain for domain, _, _ in case.facts.operators)
