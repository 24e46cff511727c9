"""Data of the model are 64-bit integers.

Why it matters: most accelerators have no 64-bit integers. TensorRT before 10, CoreML, QNN and WebGPU turn them into 32
bits at the border, leave the nodes that read them to the CPU, or refuse the model.

What to do: for such an engine, export with 32-bit examples (input_ids.to(torch.int32): embeddings and masks take them),
or put a Cast to int32 behind ArgMax, TopK and NonZero. For a CPU or CUDA nothing is gained.

Inputs whose numbers are data are meant, and positions that nodes find in data; not the arithmetic of shapes, which runs
on the CPU everywhere, nor models of ai.onnx.ml, which run there as a whole.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import Node, dtype_name
from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.ops import judged, kinds
from onnx_autodoc.shapes import inputs_of
from onnx_autodoc.text import named, plural

SEVERITY: Final = Severity.INFO
_WIDE: Final = "int64"
_MOST: Final = 4  # inputs that are listed in the sentence
_FARTHEST: Final = 100  # values behind a node
_DATA: Final = frozenset(("tokens", "mask", "segment", "positions", "category", "features"))


def check(case: Case) -> Iterator[Found]:
    if _is_classic(case):
        return
    inputs = tuple(_inputs(case))
    nodes = tuple(spot.path for spot in case.of(*judged.POSITIONS) if _finds_positions(spot))
    told = [_inputs_told(inputs)] if inputs else []
    if nodes:
        told.append(f"{plural(len(nodes), 'node finds', 'nodes find')} int64 positions in the data")
    if told:
        yield Found("; ".join(told), inputs + nodes)


def _is_classic(case: Case) -> bool:
    """Trees and their kin run on a CPU, whatever their types are."""
    return any(domain == judged.CLASSIC for domain, _, _ in case.facts.operators)


def _inputs(case: Case) -> Iterator[str]:
    for value in inputs_of(case.model):
        wide = value.type is not None and value.type.dtype == _WIDE and value.type.dims
        if wide and case.structure.roles.get(value.name) in _DATA:
            yield value.name


def _inputs_told(inputs: tuple[str, ...]) -> str:
    listed = ", ".join(named(name, 40) for name in inputs[:_MOST]) + (" …" if len(inputs) > _MOST else "")
    return f"{plural(len(inputs), 'input is', 'inputs are')} int64: {listed}"


def _finds_positions(spot: Spot) -> bool:
    at = judged.POSITIONS[spot.node.op]
    name = spot.node.outputs[at] if at < len(spot.node.outputs) else ""
    return bool(name) and spot.scope.runs and _stays_wide(spot, name) and _reads_data(spot)


def _reads_data(spot: Spot) -> bool:
    """Whether an input of the graph lies behind a node, not only its size. What has much behind it hangs on data."""
    waiting, seen = [spot.node.inputs[0]], {spot.node.inputs[0]}
    while waiting and len(seen) < _FARTHEST:
        name = waiting.pop(0)
        made = spot.scope.maker(name)
        if made is None and spot.scope.constant(name) is None:
            return True
        if made is not None and made.node.op not in kinds.OF_SIZES:
            waiting += [given for given in made.node.inputs if given and given not in seen]
            seen.update(made.node.inputs)
    return len(seen) >= _FARTHEST


def _stays_wide(spot: Spot, name: str) -> bool:
    readers = spot.scope.readers(name)
    return name in spot.scope.leaving or any(not _narrows(reader.node) for reader in readers)


def _narrows(node: Node) -> bool:
    to = node.attributes.get("to")
    return node.op == judged.CAST and isinstance(to, int) and dtype_name(to) != _WIDE
