"""The nodes of a model one by one, with what each of them costs."""

from collections.abc import Iterator, Mapping

from onnx_autodoc.analysis import Facts, Row, Share
from onnx_autodoc.architecture import most_rows
from onnx_autodoc.card._types import NodeRow, OutputCell
from onnx_autodoc.limits import reached
from onnx_autodoc.ops import Cost, Dim
from onnx_autodoc.shapes import Step


def node_rows(facts: Facts, places: Mapping[int, str] | None = None) -> Iterator[NodeRow]:
    """Every node in file order, what is inside a node right after it, a function's nodes after each of its calls.

    `places` are the layers and blocks that nodes stand in, by row. The weights of a function's node are listed where it
    comes first, so that the rows sum to the total.
    """
    most = most_rows(facts)
    weights = dict(facts.parameters.nodes)
    for at, row in enumerate(facts.costs.rows()):
        if at >= most:
            said = f"{facts.model.path}: with functions listed at every call there are over {most:,} nodes"
            raise reached("rows", said)
        yield _row(row, weights.pop((row.owner, row.step.at), Share()), (places or {}).get(at))


def _row(row: Row, share: Share, block: str | None) -> NodeRow:
    node, cost = row.step.node, row.cost or Cost()
    flops = cost.flops if row.cost else None
    return NodeRow(
        scope=row.scope,
        name=node.name,
        op=node.op,
        domain=node.domain,
        outputs=_cells(row.step),
        params=share.elements,
        macs=_known(cost.macs if row.cost else None),
        flops=_known(flops),
        read_bytes=_known(cost.read),
        written_bytes=_known(cost.written),
        block=block,
        gap=row.gap or None,
    )


def _known(number: Dim | None) -> int | None:
    return number if type(number) is int else None


def _cells(step: Step) -> tuple[OutputCell, ...]:
    named = zip(step.node.outputs, step.outputs)
    return tuple(OutputCell(name, known.dtype, known.concrete) for name, known in named)
