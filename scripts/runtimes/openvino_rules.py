"""OpenVINO: `python -m scripts.runtimes.openvino_rules DATE`, with the release's date. Needs the package openvino.

Its reader says of an operator that it has no rule for it; whatever else it says of a bare node is beside the point
here. Each node is asked about in a process of its own, since a malformed one can end the process.
"""

import os
import sys

import onnx
import openvino

from onnx_autodoc.ops import OPERATORS
from scripts.runtimes._models import OLD_ENOUGH, minimal_model, versions
from scripts.runtimes._table import DOMAINS, Ranges, spans, write

REFUSAL = "No conversion rule found for operations"
# sequences are taken where they are made and taken apart in one graph: such operators are asked about in company
COMPANY = (
    "z = Constant<value_int=0>() s = SplitToSequence(x) y = SequenceAt(s, z)",
    "s = SequenceConstruct(x, x) y = ConcatFromSequence<axis=0>(s)",
    "s = SequenceEmpty() t = SequenceInsert(s, x) y = ConcatFromSequence<axis=0>(t)",
    "s = SplitToSequence(x) n = SequenceLength(s) y = Cast<to=1>(n)",
    "s = SequenceConstruct(x, x) t = SequenceErase(s) y = ConcatFromSequence<axis=0>(t)",
    "o = Optional(x) y = OptionalGetElement(o)",
    "o = Optional(x) h = OptionalHasElement(o) y = Cast<to=1>(h)",
)
core = openvino.Core()


def refused(model: bytes) -> bool:
    try:
        core.read_model(model)
    except Exception as error:
        return REFUSAL in str(error)
    return False


def knows(domain: str, op: str, version: int) -> bool:
    """Return whether there is a rule. A process that crashed had one that failed on the minimal node."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os._exit(17 if refused(minimal_model(domain, op, version)) else 0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 17


def operators_of_models() -> set[str]:
    """Return the operators of the models that are read completely."""
    head = f'<ir_version: {OLD_ENOUGH}, opset_import: ["" : 18]> g (float[2, 4] x) => (float y)'
    models = [onnx.parser.parse_model(f"{head} {{ {nodes} }}") for nodes in COMPANY]
    read = [model for model in models if not refused(bytes(model.SerializeToString()))]
    return {node.op_type for model in read for node in model.graph.node}


def opens_functions() -> bool:
    head = f'<ir_version: {OLD_ENOUGH}, opset_import: ["" : 18, "own" : 1]> g (float[2] x) => (float[2] y)'
    function = '<domain: "own", opset_import: ["" : 18]> f (x) => (y) { y = Relu(x) }'
    return not refused(bytes(onnx.parser.parse_model(f"{head} {{ y = own.f(x) }} {function}").SerializeToString()))


def table() -> Ranges:
    found: Ranges = {}
    together = operators_of_models()
    extra = {(domain, op): [1] for domain, op in OPERATORS if domain in ("", "com.microsoft")}
    asked = extra | {key: sorted({1, *items}) for key, items in versions().items()}  # exporters write some too early
    for (domain, op), items in asked.items():
        supported = [(not domain and op in together) or knows(domain, op, at) for at in items]
        if any(supported):
            found.setdefault(domain, {})[op] = spans(items, supported)
    return found


def main(date: str) -> None:
    head = {
        "id": "openvino",
        "title": "OpenVINO",
        "version": openvino.__version__.partition("-")[0],
        "source": "one-node models, read by the openvino package's ONNX frontend",
        "date": date,
        "basis": "run",
        "complete": list(DOMAINS),
        "fallback": "the model does not load there; onnxruntime's OpenVINO provider leaves such nodes to the CPU",
        "whole": True,
        "functions": opens_functions(),
    }
    write(head, table())


if __name__ == "__main__":
    main(*sys.argv[1:])
